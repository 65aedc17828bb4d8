"""Explain which lines of a kernel make a counter differ from an expected value."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from pathlib import Path

from ..tracer.analysis.counters import totals_by_line
from ..tracer.analysis.requests import requests_of
from ..tracer.model.counter_names import SUMS, sum_of
from ..tracer.model.trace import Trace

Lines = dict[tuple[str, int], int]  # an amount for each file and line


def difference_text(trace: Trace, counters: Mapping[str, int], differing: Mapping[str, int]) -> str:
    """Describe counters that differ from expected values, each with the lines that it comes from.

    differing: the expected values.
    """
    facts = {name: f"is {counters[name]:,}, not {expected:,}" for name, expected in differing.items()}
    return _text(trace, facts)


def rise_text(trace: Trace, counters: Mapping[str, int], earlier: Mapping[str, int]) -> str:
    """Describe counters that are larger than earlier, each with the lines that it comes from."""
    facts = {
        name: f"rose from {old:,} to {counters[name]:,} (+{counters[name] - old:,})"
        for name, old in earlier.items()
    }
    return _text(trace, facts)


def _text(trace: Trace, facts: Mapping[str, str]) -> str:
    parts = []
    for name, fact in facts.items():
        amounts = _amounts(trace, name)
        ending = "; the lines of the stored accesses:" if trace.is_part else ":" if amounts else "."
        parts.append(f"{name} of {trace.kernel} {fact}{ending}")
        parts += _line_texts(amounts)
    return "\n".join(parts)


def _amounts(trace: Trace, name: str) -> Lines:
    """Return the part of a counter that each line adds, without those that add nothing."""
    by_line = totals_by_line(trace, requests_of(trace))
    amounts = {
        line: sum_of(counters, name) if name in SUMS else counters.get(name, 0)
        for line, counters in by_line.items()
    }
    return {line: amount for line, amount in amounts.items() if amount}


def _line_texts(amounts: Lines) -> list[str]:
    """Print the lines, those with the largest amounts first."""
    ordered = sorted(amounts.items(), key=lambda item: (-item[1], item[0]))
    return [
        f"  {amount:,} in {Path(file).name}:{line}: {linecache.getline(file, line).strip()}"
        for (file, line), amount in ordered
    ]
