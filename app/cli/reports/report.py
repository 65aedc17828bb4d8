"""What `tilescope check` reports, as plain data that every format prints."""

from __future__ import annotations

from typing import Any, NamedTuple

from ....tracer.model.finding import count_noun
from ....tracer.model.notebook_cells import cell_of
from ....tracer.model.rules import CONFIDENCES

FindingData = dict[str, Any]  # a finding as plain data
TracedData = dict[str, Any]  # what a run traced, and what it did not: see `traced_data`
ADVICE = CONFIDENCES[-1]


class Report(NamedTuple):
    """The findings of a run, and what the run covers."""

    program: str  # as the user named it
    findings: list[FindingData]  # worst first
    suppressed: list[FindingData]  # by a comment or the baseline; their key `suppression` has the reason
    traced: TracedData
    is_complete: bool  # whether the program ran to its end
    has_baseline: bool = False
    launches: list[dict[str, Any]] | None = None  # the counters of each launch, if asked for

    @property
    def empty_text(self) -> str:
        """The sentence for a report without findings, "" if nothing was checked."""
        if not self.traced["launches"]:
            return ""
        return "no findings" if self.is_complete else "no findings before it ended"


def traced_data(
    launches: int = 0, kernels: int = 0, blocks: int = 0, of_blocks: int = 0, schedule: str = "",
    not_traced: list[str] | None = None,
) -> TracedData:  # fmt: skip
    """Describe what a run traced.

    blocks: examined ones, of `of_blocks` in the grids of all launches. not_traced: one text for each reason.
    """
    return {
        "launches": launches, "kernels": kernels, "blocks": blocks, "of_blocks": of_blocks, "schedule": schedule,
        "not_traced": not_traced or [],
    }  # fmt: skip


def traced_text(traced: TracedData) -> str:
    """Describe in one sentence what was traced: 3 launches of 2 kernels traced: 64 of 4,096 blocks, lockstep."""
    blocks, of_blocks = traced["blocks"], traced["of_blocks"]
    part = f"{blocks:,} of {count_noun(of_blocks, 'block')}" if blocks != of_blocks else ""
    everything = "1 block" if of_blocks == 1 else f"all {of_blocks:,} blocks"
    launches = f"{count_noun(traced['launches'], 'launch')} of {count_noun(traced['kernels'], 'kernel')}"
    return f"{launches} traced: {part or everything}, {traced['schedule']}."


def not_traced_text(traced: TracedData) -> str:
    """Describe in one sentence what was not traced, "" if everything was."""
    return f"not traced: {'; '.join(traced['not_traced'])}." if traced["not_traced"] else ""


def suppressed_text(report: Report) -> str:
    """Count the suppressed findings in one sentence, "" if there are none."""
    counts = [
        f"{sum(f['suppression']['by'] == by for f in report.suppressed):,} by {name}"
        for by, name in (("comment", "comments"), ("baseline", "the baseline"))
        if any(f["suppression"]["by"] == by for f in report.suppressed)
    ]
    if not counts:
        return ""
    return f"{count_noun(len(report.suppressed), 'finding')} suppressed: {', '.join(counts)}."


def with_advice_once(findings: list[FindingData]) -> list[FindingData]:
    """Merge the advice of one rule about one kernel into its first finding, which lists the other lines."""
    merged: dict[tuple[str, ...], FindingData] = {}
    for number, finding in enumerate(findings):
        is_advice = finding.get("confidence") == ADVICE and finding.get("kernel")
        key = (finding["rule"], finding["kernel"]) if is_advice else (str(number),)
        if key in merged:
            merged[key]["more"] = [*merged[key]["more"], finding["line"]]
        else:
            merged[key] = finding | {"more": []}
    return list(merged.values())


def file_and_cell(file: str) -> tuple[str, int | None]:
    """Split the file of a finding into a path and the cell of a notebook (from 1), None for another file."""
    cell = cell_of(file)
    return cell if cell else (file, None)


def split_cells(finding: FindingData) -> FindingData:
    """Replace a notebook's cell by separate entries "file" and "cell" (from 1)."""
    places = [place | _file_and_cell(place["file"]) for place in finding["places"]]
    accesses = [access | _file_and_cell(access["file"]) for access in finding.get("accesses", [])]
    return finding | _file_and_cell(finding["file"]) | {"places": places, "accesses": accesses}


def _file_and_cell(file: str) -> dict[str, str | int]:
    path, cell = file_and_cell(file)
    return {"file": path} if cell is None else {"file": path, "cell": cell}


def lines_text(lines: list[int]) -> str:
    """Name lines: line 4; lines 4, 7 and 9."""
    numbers = [f"{line}" for line in sorted(set(lines))]
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    return f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"
