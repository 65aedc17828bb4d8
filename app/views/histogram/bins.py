"""The data of the histogram view at a moment: bars, current additions, descriptions. No Qt."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from ....tracer.analysis.atomic_additions import Additions
from ....tracer.analysis.histogram_launch import HistogramLaunch
from ....tracer.model.array_types import Ints, Mask
from ....tracer.model.trace import WARP, Op, is_poison
from ...model.session import Selection, Session
from ..common.descriptions import warp_caption
from ..common.wording import block_text, buffer_text, count_text, join_with_and, plural

NAMED = 3  # bins that a sentence names; it counts the others


class CurrentAdditions(NamedTuple):
    """The additions of threads at a moment, as columns."""

    bin: Ints  # (n,), the target bin of each
    lane: Ints  # (n,), 0 to 31
    block: Ints  # (n,), linear number
    thread: Ints  # (n,), linear number in its block
    own: Mask  # (n,), whether the selected warp makes it
    chosen: Mask  # (n,), whether the selected thread makes it
    together: Ints  # (n,), lanes of its request that add to the same bin


def select_additions(adding: CurrentAdditions, chosen: Mask) -> CurrentAdditions:
    """Select some of the additions."""
    columns = [np.asarray(column)[chosen] for column in adding]
    return CurrentAdditions._make(columns)


class BinArray(NamedTuple):
    """One array of bins at a moment."""

    title: str  # its name and memory
    values: Ints  # (bins,), the count in each, -1 for an unwritten bin
    before: Ints  # (bins,), the same without the current additions: at most `values`
    top: int  # the largest count of its scale
    most: Ints  # (bins,), the most lanes of one request that added to the bin
    adding: CurrentAdditions  # the current additions


class HistogramViewData(Struct, frozen=True, eq=False, dict=True):
    """The histogram of a session; derived data are computed once."""

    session: Session
    counting: HistogramLaunch

    @cached_property
    def largest_contention(self) -> int:
        """The most lanes of one request that ever add to the same bin."""
        parts = [self.counting.result, self.counting.private]
        return max(int(part.contending.max(initial=1)) for part in parts if part is not None)

    def bars(self, moment: int, selection: Selection) -> list[BinArray]:
        """Collect the arrays from top to bottom: the block's private one if it exists, then the result."""
        parts = [self.counting.private, self.counting.result]
        return [self._bar_array(part, moment, selection) for part in parts if part is not None]

    def _bar_array(self, additions: Additions, moment: int, selection: Selection) -> BinArray:
        buffer = self.session.trace.buffers[additions.buffer]
        is_shared = buffer.space == "shared"
        first = selection.block * additions.size if is_shared else 0
        memory = (
            f"shared memory of {block_text(self.session.trace, selection.block)}"
            if is_shared
            else "global memory"
        )
        adding = self._collect_additions(additions, additions.during(moment), selection)
        if is_shared:
            adding = select_additions(adding, adding.block == selection.block)
        values = self._read_counts(additions, moment, selection)
        is_growing = np.isin(np.arange(additions.size), adding.bin)
        earlier = np.minimum(values, self._read_counts(additions, max(moment - 1, 0), selection))
        before = np.where(is_growing, earlier, values)
        most = additions.contention.most_lanes(moment, first, first + additions.size)
        title = f"{buffer_text(buffer)}, {memory}"
        return BinArray(title, values, before, self._scale_top(additions), most, adding)

    def _read_counts(self, additions: Additions, moment: int, selection: Selection) -> Ints:
        """Read the count in each bin at a moment; -1 for an unwritten bin."""
        content = self.session.memory.settled(additions.buffer, moment, selection.block)
        return np.where(is_poison(content), -1, content.astype(np.int64))

    def _scale_top(self, additions: Additions) -> int:
        top = int(self.session.memory.value_range(additions.buffer)[1])
        expected = self.counting.expected
        if additions is self.counting.result and expected is not None:
            top = max(top, int(expected.max(initial=0)))
        return max(top, 1)

    def _collect_additions(
        self, additions: Additions, part: slice | Ints, selection: Selection
    ) -> CurrentAdditions:
        trace, rows = self.session.trace, additions.row[part]
        block, thread = trace.block[rows].astype(np.int64), trace.thread[rows].astype(np.int64)
        own = (block == selection.block) & (thread // WARP == selection.thread // WARP)
        chosen = own & (thread == selection.thread)
        bin_index = additions.cell[part] % additions.size
        return CurrentAdditions(
            bin_index, thread % WARP, block, thread, own, chosen, additions.contending[part]
        )

    def incoming_additions(self, moment: int, selection: Selection) -> CurrentAdditions:
        """Find the additions whose samples are loaded at this moment."""
        additions, (sample, index) = self.counting.of_samples, self._loads_and_additions
        rows = self.session.memory.accesses_at(moment)
        nearest = np.minimum(np.searchsorted(sample, rows), max(len(sample) - 1, 0))
        incoming = index[nearest[sample[nearest] == rows]] if len(sample) else index
        adding = self._collect_additions(additions, incoming, selection)
        if self.counting.private is None:
            return adding
        return select_additions(adding, adding.block == selection.block)

    @cached_property
    def _loads_and_additions(self) -> tuple[Ints, Ints]:
        """The loads of samples from global memory (ascending rows), and the additions that use them."""
        additions, trace = self.counting.of_samples, self.session.trace
        chosen = np.flatnonzero(additions.sample >= 0)
        spaces = np.array([b.space == "global" for b in trace.buffers])
        chosen = chosen[spaces[trace.buffer[additions.sample[chosen]]]]
        order = np.argsort(additions.sample[chosen], kind="stable")
        return additions.sample[chosen][order], chosen[order]

    def caption(self, moment: int, selection: Selection) -> str:
        """Describe the activity of the selected warp at a moment."""
        for bars in self.bars(moment, selection):
            own = select_additions(bars.adding, bars.adding.own)
            if len(own.bin):
                return self._adding_text(bars, own)
        coming = self.incoming_additions(moment, selection)
        own = select_additions(coming, coming.own)
        if len(own.bin):
            return f"loads {plural(len(own.bin), 'sample')}, on their way to {self._bins_text(own)}"
        return warp_caption(self.session, moment, selection)

    def _adding_text(self, bars: BinArray, own: CurrentAdditions) -> str:
        """Describe the lanes' additions to an array of bins: samples, or the counts of their block."""
        if self.counting.private is not None and bars.title.endswith("global memory"):
            return f"adds the counts of {self._bins_text(own)} of its block to global memory"
        return f"adds {plural(len(own.bin), 'sample')} to {self._bins_text(own)}{_contention_text(own)}"

    def _bins_text(self, own: CurrentAdditions) -> str:
        return plural(len(np.unique(own.bin)), "bin")

    def progress(self, moment: int) -> str:
        """Describe the progress at a moment: samples counted, samples outside all bins, and additions lost."""
        samples, result = self.samples, self.counting.result
        counted = (
            f"{count_text(self.counting.of_samples.upto(moment))} of {count_text(samples)} samples counted"
        )
        outside = samples - len(self.counting.of_samples)
        if outside:
            counted += f" ({count_text(outside)} {self._outside_reason})"
        if self.counting.private is not None:
            counted += f", {count_text(result.upto(moment))} additions to global memory"
        lost = result.lost(moment)
        return counted + (f", {count_text(lost)} of them lost" if lost else "")

    @property
    def samples(self) -> int:
        """The number of samples."""
        return len(self.counting.of_samples) if self._sample_loads is None else len(self._sample_loads)

    @cached_property
    def _sample_loads(self) -> Ints | None:
        """The loads of all samples (rows of the trace), counted or not; None if they cannot be identified."""
        additions, trace = self.counting.of_samples, self.session.trace
        if not len(additions) or (additions.sample < 0).any() or trace.is_part:
            return None
        buffers = np.unique(trace.buffer[additions.sample])
        loads = np.flatnonzero((trace.buffer == buffers[0]) & (trace.op == Op.LOAD))
        reads_once = len(np.unique(trace.index[loads])) == len(loads)
        return (
            loads
            if len(buffers) == 1 and reads_once and len(np.unique(additions.sample)) == len(additions)
            else None
        )

    @cached_property
    def _outside_reason(self) -> str:
        """The reason why samples are in no bin, as far as it is known."""
        trace, edges = self.session.trace, self.counting.edges
        if edges is None or self._sample_loads is None or trace.value is None:
            return "in no bin"
        values = trace.value[self._sample_loads].real
        outside = np.count_nonzero(~((values >= edges[0]) & (values < edges[1])))
        low, high = (f"{edge:g}".replace("-", "\u2212") for edge in edges)
        return (
            f"outside {low} to {high}"
            if outside == self.samples - len(self.counting.of_samples)
            else "in no bin"
        )

    def contention(self, moment: int) -> str:
        """Describe the largest contention up to a moment: the most lanes of one request in the same bin."""
        records = self.counting.of_samples.contention
        done = int(np.searchsorted(records.moment, moment, side="right"))
        lanes = records.lanes[:done]
        if not len(lanes) or lanes.max() < 2:
            return "no two lanes of a request have met in a bin" if done else ""
        bins = records.cell[:done][lanes == lanes.max()] % self.counting.bins
        return f"at most {plural(int(lanes.max()), 'lane')} of a request met, in {bins_text(np.unique(bins))}"

    def verdict(self, moment: int) -> tuple[str, bool]:
        """Compare the final counts with NumPy's in words ("" before the end); also return whether they are right."""
        expected = self.counting.expected
        if expected is None or moment < self.session.end:
            return "", True
        wrong = self.differing()
        if not len(wrong):
            return f"equals np.histogram in all {count_text(self.counting.bins)} bins", True
        return f"differs from NumPy in {bins_text(wrong)}", False

    def differing(self) -> Ints:
        """List the bins whose final counts differ from NumPy's."""
        expected = self.counting.expected
        final = self.session.memory.settled(self.counting.result.buffer, self.session.end)
        return np.flatnonzero(final != expected) if expected is not None else np.empty(0, np.int64)

    def span_text(self, bin_index: int) -> str:
        """Describe the range of a bin's samples; "" if it is unknown."""
        if self.counting.edges is None:
            return ""
        low, high = self.counting.edges
        width = (high - low) / self.counting.bins
        return f"{low + bin_index * width:.4g} to {low + (bin_index + 1) * width:.4g}"

    def bin_text(self, part: int, bin_index: int, moment: int, selection: Selection) -> str:
        """Describe a bin of the array number `part`, one fact per line."""
        bars = self.bars(moment, selection)[part]
        span, value = self.span_text(bin_index), int(bars.values[bin_index])
        lines = [f"bin {bin_index}{f', samples from {span}' if span else ''}"]
        lines.append(
            f"{bars.title}: {'not written yet' if value < 0 else count_text(value)}"
            + self._expected_text(part, bin_index)
        )
        if bars.most[bin_index]:
            lines.append(f"at most {plural(int(bars.most[bin_index]), 'lane')} of one request met here")
        return "\n".join([*lines, *self._lanes_text(bars.adding, bin_index)])

    def _expected_text(self, part: int, bin_index: int) -> str:
        expected, is_result = self.counting.expected, part == (self.counting.private is not None)
        return (
            f"; NumPy: {count_text(int(expected[bin_index]))}" if expected is not None and is_result else ""
        )

    def _lanes_text(self, adding: CurrentAdditions, bin_index: int) -> list[str]:
        """List the lanes that add to a bin now, one line per warp, with the selected warp first."""
        additions = np.flatnonzero(adding.bin == bin_index)
        warps = sorted(
            {(not adding.own[i], adding.block[i], adding.thread[i] // WARP) for i in additions.tolist()}
        )
        lines = []
        for _, block, warp in warps[:NAMED]:
            of_warp = additions[
                (adding.block[additions] == block) & (adding.thread[additions] // WARP == warp)
            ]
            lanes = join_with_and([str(lane) for lane in sorted(adding.lane[of_warp].tolist())])
            noun = "lane" if len(of_warp) == 1 else "lanes"
            name = block_text(self.session.trace, int(block))
            lines.append(f"now {noun} {lanes} of warp {warp} in {name}")
        return lines


def _contention_text(own: CurrentAdditions) -> str:
    most = int(own.together.max())
    if most < 2:
        return ", each to another"
    return f"; {most} meet in {bins_text(np.unique(own.bin[own.together == most]))}"


def bins_text(bins: Ints) -> str:
    """List bins by their numbers, at most the first few: bins 3, 7, 12 and 5 more."""
    named = [str(number) for number in bins[:NAMED].tolist()]
    more = [f"{count_text(len(bins) - NAMED)} more"] if len(bins) > NAMED else []
    return f"{'bin' if len(bins) == 1 else 'bins'} {join_with_and([*named, *more])}"
