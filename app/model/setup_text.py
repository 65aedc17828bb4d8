"""The options of a setup as texts that can be typed and shown: schedule, seed, resident blocks, blocks to run."""

from __future__ import annotations

from typing import Literal

from ...kernels.scenarios.catalogue import find, settle
from ...tracer.model.plan import kernel_source, line_words
from ...tracer.model.whole_numbers import whole_number_of
from .bookmark import Setup

Resident = int | Literal["all"] | None


def option_texts(setup: Setup) -> dict[str, str]:
    """Return what the fields of a setup's options say, by their names."""
    return {
        "schedule": setup.schedule.kind,
        "seed": str(setup.schedule.seed),
        "resident": "auto" if setup.resident is None else str(setup.resident),
        "blocks": blocks_text(setup.blocks),
    }


def options_summary(setup: Setup) -> str:
    """Return the options of a setup in a few words: "lockstep, 2 blocks"."""
    count = 0 if setup.blocks is None else len(setup.blocks)
    return setup.schedule.kind + (f", {count:,} block{'s' * (count != 1)}" if count else "")


def parse_seed(text: str) -> int:
    """Return a seed; raises ValueError with one sentence."""
    number = whole_number_of(text)
    if number is None or number >= 2**31:
        raise ValueError(f"The seed must be a whole number from 0 on, not {text!r}.")
    return number


def parse_resident(text: str) -> Resident:
    """Return the blocks that run at once; raises ValueError with one sentence."""
    text = text.strip().lower()
    if text in ("", "auto"):
        return None
    if text == "all":
        return "all"
    number = whole_number_of(text)
    if number and number < 2**31:
        return number
    raise ValueError(f"Resident blocks must be auto, all or a whole number from 1 on, not {text!r}.")


def parse_blocks(text: str) -> tuple[int, ...] | None:
    """Return the linear block numbers of "0 3 5-8", or None for all; raises ValueError with one sentence."""
    words = text.replace(",", " ").split()
    if not words or words == ["all"]:
        return None
    blocks: list[int] = []
    for word in words:
        first, dash, last = word.partition("-")
        low, high = whole_number_of(first), whole_number_of(last if dash else first)
        if low is None or high is None or high - low > 65535:
            raise ValueError(f"Blocks must be all, or numbers and ranges as in 0 3 5-8, not {text!r}.")
        blocks.extend(range(low, high + 1))
    return tuple(sorted(set(blocks)))


def blocks_text(blocks: tuple[int, ...] | None) -> str:
    """Return the text that `parse_blocks` reads."""
    return "all" if blocks is None else " ".join(map(str, blocks))


def spec_of(setup: Setup) -> str:
    """Return the command-line word that names a setup: "matmul-tiled:tile=16,schedule=random,seed=3".

    It says what differs from what the scenario or the trace file has by itself, but for a text of its kernel's file
    that was written anew. Raises CatalogueError for an unknown scenario or value.
    """
    name, said = (setup.file, _file_options(setup)) if setup.file else _scenario_options(setup)
    pairs = ",".join(f"{key}={value}" for key, value in said.items())
    return f"{name}:{pairs}" if pairs else name


def _scenario_options(setup: Setup) -> tuple[str, dict[str, object]]:
    scenario = find(setup.scenario)
    settled = settle(scenario, setup.values)
    said: dict[str, object] = {
        p.name: settled[p.name] for p in scenario.parameters if settled[p.name] != p.default
    }
    said |= _schedule_options(setup)
    said |= {"engine": setup.engine} if setup.engine != "compiled" else {}
    said |= {"keep": setup.keep} if setup.keep != "some" else {}
    if setup.without:
        text = setup.source or kernel_source(scenario.kernel)[1]
        said |= {"without": line_words(text, scenario.kernel, setup.without)}
    return scenario.name, said


def _file_options(setup: Setup) -> dict[str, object]:
    """Return the options of a launch of a trace file that is run anew: all, so that nothing is the file's."""
    if not (setup.rerun or setup.is_edited):
        return {}
    said = {"schedule": setup.schedule.kind} | _schedule_options(setup)
    return said | ({"without": "+".join(map(str, setup.without))} if setup.without else {})


def _schedule_options(setup: Setup) -> dict[str, object]:
    said: dict[str, object] = {}
    said |= {"schedule": setup.schedule.kind} if setup.schedule.kind != "lockstep" else {}
    said |= {"seed": setup.schedule.seed} if setup.schedule.seed else {}
    said |= {"resident": setup.resident} if setup.resident is not None else {}
    said |= {"blocks": "+".join(map(str, setup.blocks))} if setup.blocks is not None else {}
    return said
