"""The options of a setup as texts to type and show: schedule, seed, resident blocks, blocks to run."""

from __future__ import annotations

from typing import Literal

from ...kernels.scenarios.catalogue import find, settle
from ...tracer.model.integers import parse_integer
from ...tracer.model.launch import Schedule
from ...tracer.model.plan import kernel_source, line_words, schedule_words
from .bookmark import Setup

LOCKSTEP_BY_ACCESSES = "all/0"  # the order in which no thread leaves lockstep, with a moment for each access
LONGEST_ORDER = 24  # characters of an explicit order's parts in a summary
Resident = int | Literal["all"] | None


def option_texts(setup: Setup) -> dict[str, str]:
    """Map the names of a setup's option fields to their texts."""
    return {
        "schedule": schedule_words(setup.schedule),
        "seed": str(setup.schedule.seed),
        "resident": "auto" if setup.resident is None else str(setup.resident),
        "blocks": blocks_text(setup.blocks),
    }


def options_summary(setup: Setup) -> str:
    """Summarise the options of a setup: "lockstep, 2 blocks" or "order t3x2, 2 blocks"."""
    return ", ".join(filter(None, (schedule_summary(setup.schedule), blocks_summary(setup))))


def schedule_summary(schedule: Schedule) -> str:
    """Name a schedule in a few characters: "lockstep", or "order t3x2" for an explicit order."""
    if schedule.kind != "order":
        return schedule.kind
    parts = schedule.order_text.rpartition(":")[2]
    if parts == LOCKSTEP_BY_ACCESSES:
        return "lockstep by accesses"
    return f"order {parts if len(parts) <= LONGEST_ORDER else parts[: LONGEST_ORDER - 1] + '…'}"


def blocks_summary(setup: Setup) -> str:
    """Summarise the blocks to run: "2 blocks", "" for all."""
    count = 0 if setup.blocks is None else len(setup.blocks)
    return f"{count:,} block{'s' * (count != 1)}" if count else ""


def parse_seed(text: str) -> int:
    """Parse a seed; raises ValueError with one sentence."""
    number = parse_integer(text)
    if number is None or number >= 2**31:
        raise ValueError(f"The seed must be a whole number from 0 on, not {text!r}.")
    return number


def parse_resident(text: str) -> Resident:
    """Parse the number of resident blocks; raises ValueError with one sentence."""
    text = text.strip().lower()
    if text in ("", "auto"):
        return None
    if text == "all":
        return "all"
    number = parse_integer(text)
    if number and number < 2**31:
        return number
    raise ValueError(f"Resident blocks must be auto, all or a whole number from 1 on, not {text!r}.")


def parse_blocks(text: str) -> tuple[int, ...] | None:
    """Parse linear block numbers as in "0 3 5-8", or None for all; raises ValueError with one sentence."""
    words = text.replace(",", " ").split()
    if not words or words == ["all"]:
        return None
    blocks: list[int] = []
    for word in words:
        first, dash, last = word.partition("-")
        low, high = parse_integer(first), parse_integer(last if dash else first)
        if low is None or high is None or high - low > 65535:
            raise ValueError(f"Blocks must be all, or numbers and ranges as in 0 3 5-8, not {text!r}.")
        blocks.extend(range(low, high + 1))
    return tuple(sorted(set(blocks)))


def blocks_text(blocks: tuple[int, ...] | None) -> str:
    """Format block numbers as `parse_blocks` reads them."""
    return "all" if blocks is None else " ".join(map(str, blocks))


def spec_of(setup: Setup) -> str:
    """Build the command-line word that names a setup: "matmul-tiled:tile=16,schedule=random,seed=3".

    It holds what differs from the defaults of the scenario or the trace file, but no edited text of the kernel's file.
    Raises CatalogueError for an unknown scenario or value.
    """
    name, options = (setup.file, _file_options(setup)) if setup.file else _scenario_options(setup)
    pairs = ",".join(f"{key}={value}" for key, value in options.items())
    return f"{name}:{pairs}" if pairs else name


def _scenario_options(setup: Setup) -> tuple[str, dict[str, object]]:
    scenario = find(setup.scenario)
    settled = settle(scenario, setup.values)
    options: dict[str, object] = {
        p.name: settled[p.name] for p in scenario.parameters if settled[p.name] != p.default
    }
    options |= _schedule_options(setup)
    options |= {"engine": setup.engine} if setup.engine != "compiled" else {}
    options |= {"keep": setup.keep} if setup.keep != "some" else {}
    if setup.without:
        text = setup.source or kernel_source(scenario.kernel)[1]
        options |= {"without": line_words(text, scenario.kernel, setup.without)}
    return scenario.name, options


def _file_options(setup: Setup) -> dict[str, object]:
    """Return all options of a trace file's launch that runs again, so that none is taken from the file."""
    if not (setup.rerun or setup.is_edited):
        return {}
    options = {"schedule": schedule_words(setup.schedule)} | _schedule_options(setup)
    return options | ({"without": "+".join(map(str, setup.without))} if setup.without else {})


def _schedule_options(setup: Setup) -> dict[str, object]:
    options: dict[str, object] = {}
    options |= {"schedule": schedule_words(setup.schedule)} if setup.schedule.kind != "lockstep" else {}
    options |= {"seed": setup.schedule.seed} if setup.schedule.seed else {}
    options |= {"resident": setup.resident} if setup.resident is not None else {}
    options |= {"blocks": "+".join(map(str, setup.blocks))} if setup.blocks is not None else {}
    return options
