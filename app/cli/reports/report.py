"""What `tilescope check` reports, as plain data that every format prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ....tracer.model.notebook_cells import cell_of
from ....tracer.model.rules import CONFIDENCES

FindingData = dict[str, Any]  # a finding as plain data
TracedData = dict[str, Any]  # what a run traced, and what it did not: see `traced_data`
ADVICE = CONFIDENCES[-1]
MOST_NAMED = 4  # kernels that were never launched


class Report(NamedTuple):
    """The findings of a run, and what the run covers."""

    program: str  # as the user named it
    findings: list[FindingData]  # worst first
    suppressed: list[FindingData]  # by a comment or the baseline; their key `suppression` has the reason
    traced: TracedData
    is_complete: bool  # whether the program ran to its end
    not_selected: dict[str, int]  # the number of findings that are not reported, by code
    has_baseline: bool = False
    launches: list[dict[str, Any]] | None = None  # the counters of each launch, if asked for
    programs: Sequence[
        dict[str, Any]
    ] = ()  # of a run over several: `program`, `complete` and `launches` of each

    @property
    def empty_text(self) -> str:
        """The sentence for a report without findings, "" if nothing was checked."""
        if not self.traced["launches"]:
            return ""
        return "no findings" if self.is_complete else "no findings before it ended"


def traced_data(
    launches: int = 0, kernel_names: Sequence[str] = (), blocks: int = 0, of_blocks: int = 0, schedule: str = "",
    not_traced: Sequence[str] = (), never_launched: Sequence[dict[str, Any]] = (),
) -> TracedData:  # fmt: skip
    """Describe what a run traced.

    kernel_names: of the launched ones, each with its file. blocks: examined ones, of `of_blocks` in the grids of all
    launches. not_traced: one text for each reason. never_launched: kernels in the same files, with `kernel`, `file` and
    `line`.
    """
    return {
        "launches": launches, "kernels": len(kernel_names), "kernel_names": list(kernel_names), "blocks": blocks,
        "of_blocks": of_blocks, "schedule": schedule, "not_traced": list(not_traced),
        "never_launched": list(never_launched),
    }  # fmt: skip


def merged_traced(parts: Sequence[TracedData]) -> TracedData:
    """Add up what several programs of one project traced."""
    names = list(dict.fromkeys(name for part in parts for name in part["kernel_names"]))
    skipped = {kernel_name(k["kernel"], k["file"]): k for part in parts for k in part["never_launched"]}
    return traced_data(
        sum(part["launches"] for part in parts),
        names,
        sum(part["blocks"] for part in parts),
        sum(part["of_blocks"] for part in parts),
        next((part["schedule"] for part in parts if part["schedule"]), ""),
        list(dict.fromkeys(text for part in parts for text in part["not_traced"])),
        [kernel for name, kernel in skipped.items() if name not in names],
    )


def kernel_name(kernel: str, file: str) -> str:
    """Name a kernel with its file, so that kernels of two files differ."""
    return f"{file}:{kernel}"


def traced_text(traced: TracedData) -> str:
    """Describe in one sentence what was traced: 3 launches of 2 kernels traced: 64 of 4,096 blocks, lockstep."""
    from ....tracer.model.finding import count_noun  # NumPy must not be imported before the program does

    blocks, of_blocks = traced["blocks"], traced["of_blocks"]
    part = f"{blocks:,} of {count_noun(of_blocks, 'block')}" if blocks != of_blocks else ""
    everything = "1 block" if of_blocks == 1 else f"all {of_blocks:,} blocks"
    launches = f"{count_noun(traced['launches'], 'launch')} of {count_noun(traced['kernels'], 'kernel')}"
    return f"{launches} traced: {part or everything}, {traced['schedule']}."


def not_traced_text(traced: TracedData) -> str:
    """Describe in one sentence what was not traced, "" if everything was."""
    texts = [*traced["not_traced"]]
    if skipped := traced["never_launched"]:
        names = [f"{kernel['kernel']} ({kernel['file']}:{kernel['line']})" for kernel in skipped[:MOST_NAMED]]
        more = [f"{len(skipped) - MOST_NAMED:,} more"] if len(skipped) > MOST_NAMED else []
        texts.append(f"{', '.join([*names, *more])}, of which no launch ran")
    return f"not traced: {'; '.join(texts)}." if texts else ""


def suppressed_text(report: Report) -> str:
    """Count the suppressed findings in one sentence, "" if there are none."""
    from ....tracer.model.finding import count_noun  # NumPy must not be imported before the program does

    counts = [
        f"{sum(f['suppression']['by'] == by for f in report.suppressed):,} by {name}"
        for by, name in (("comment", "comments"), ("baseline", "the baseline"), ("marker", "markers"))
        if any(f["suppression"]["by"] == by for f in report.suppressed)
    ]
    if not counts:
        return ""
    return f"{count_noun(len(report.suppressed), 'finding')} suppressed: {', '.join(counts)}."


def not_selected_text(report: Report) -> str:
    """Count the findings of rules or files that were not selected in one sentence, "" if there are none."""
    from ....tracer.model.finding import count_noun  # NumPy must not be imported before the program does

    if not report.not_selected:
        return ""
    codes = ", ".join(f"{number:,} of {code}" for code, number in sorted(report.not_selected.items()))
    return f"{count_noun(sum(report.not_selected.values()), 'finding')} not selected: {codes}."


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
