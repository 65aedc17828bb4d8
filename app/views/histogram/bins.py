"""What the histogram view shows of a launch that counts, at a moment: bars, additions under way, words. No Qt."""

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
from ..common.wording import block_text, buffer_text, count_text, listed, plural

NAMED = 3  # bins that a sentence names before it counts the others


class CurrentAdditions(NamedTuple):
    """What threads are adding at a moment, a column each."""

    bin: Ints  # (n,), the bin that each adds to
    lane: Ints  # (n,), 0 to 31
    block: Ints  # (n,), linear number
    thread: Ints  # (n,), linear number in its block
    own: Mask  # (n,), whether it is of the selected warp
    chosen: Mask  # (n,), whether it is the selected thread
    together: Ints  # (n,), lanes of its request that add to the same bin


def chosen_of(adding: CurrentAdditions, chosen: Mask) -> CurrentAdditions:
    """Return some of the threads that are adding."""
    columns = [np.asarray(column)[chosen] for column in adding]
    return CurrentAdditions._make(columns)


class BinArray(NamedTuple):
    """One array of bins at a moment."""

    title: str  # its name and whose memory it is in
    values: Ints  # (bins,), what each holds, -1 where nothing was written
    before: Ints  # (bins,), the same without what is added now: at most `values`
    top: int  # the count at which its scale ends
    most: Ints  # (bins,), the most lanes of one request that have met there
    adding: CurrentAdditions  # what is added now


class HistogramViewData(Struct, frozen=True, eq=False, dict=True):
    """A session that counts, as the histogram view draws it; what is derived is computed once."""

    session: Session
    counting: HistogramLaunch

    @cached_property
    def warmest(self) -> int:
        """Return the most lanes of one request that ever meet in a bin."""
        parts = [self.counting.result, self.counting.private]
        return max(int(part.contending.max(initial=1)) for part in parts if part is not None)

    def bars(self, moment: int, selection: Selection) -> list[BinArray]:
        """Return the arrays from top to bottom: the block's own if there is one, then the result."""
        parts = [self.counting.private, self.counting.result]
        return [self._bars(part, moment, selection) for part in parts if part is not None]

    def _bars(self, additions: Additions, moment: int, selection: Selection) -> BinArray:
        buffer = self.session.trace.buffers[additions.buffer]
        apart = buffer.space == "shared"
        low = selection.block * additions.size if apart else 0
        where = (
            f"shared memory of {block_text(self.session.trace, selection.block)}"
            if apart
            else "global memory"
        )
        adding = self._adding(additions, additions.at(moment), selection)
        if apart:
            adding = chosen_of(adding, adding.block == selection.block)
        values = self._counts(additions, moment, selection)
        is_growing = np.isin(np.arange(additions.size), adding.bin)
        earlier = np.minimum(values, self._counts(additions, max(moment - 1, 0), selection))
        before = np.where(is_growing, earlier, values)
        most = additions.contention.most_lanes(moment, low, low + additions.size)
        title = f"{buffer_text(buffer)}, {where}"
        return BinArray(title, values, before, self._top(additions), most, adding)

    def _counts(self, additions: Additions, moment: int, selection: Selection) -> Ints:
        """Return what each bin holds at a moment, -1 where nothing was written."""
        content = self.session.memory.settled(additions.buffer, moment, selection.block)
        return np.where(is_poison(content), -1, content.astype(np.int64))

    def _top(self, additions: Additions) -> int:
        top = int(self.session.memory.value_range(additions.buffer)[1])
        expected = self.counting.expected
        if additions is self.counting.result and expected is not None:
            top = max(top, int(expected.max(initial=0)))
        return max(top, 1)

    def _adding(self, additions: Additions, part: slice | Ints, selection: Selection) -> CurrentAdditions:
        trace, rows = self.session.trace, additions.row[part]
        block, thread = trace.block[rows].astype(np.int64), trace.thread[rows].astype(np.int64)
        own = (block == selection.block) & (thread // WARP == selection.thread // WARP)
        chosen = own & (thread == selection.thread)
        place = additions.cell[part] % additions.size
        return CurrentAdditions(place, thread % WARP, block, thread, own, chosen, additions.contending[part])

    def coming(self, moment: int, selection: Selection) -> CurrentAdditions:
        """Return the additions whose samples are loaded at this moment."""
        additions, (sample, place) = self.counting.of_samples, self._by_sample
        rows = self.session.memory.accesses_at(moment)
        found = np.minimum(np.searchsorted(sample, rows), max(len(sample) - 1, 0))
        wanted = place[found[sample[found] == rows]] if len(sample) else place
        adding = self._adding(additions, wanted, selection)
        if self.counting.private is None:
            return adding
        return chosen_of(adding, adding.block == selection.block)

    @cached_property
    def _by_sample(self) -> tuple[Ints, Ints]:
        """Return the loads from global memory that additions follow, ascending, and these additions."""
        additions, trace = self.counting.of_samples, self.session.trace
        chosen = np.flatnonzero(additions.sample >= 0)
        spaces = np.array([b.space == "global" for b in trace.buffers])
        chosen = chosen[spaces[trace.buffer[additions.sample[chosen]]]]
        order = np.argsort(additions.sample[chosen], kind="stable")
        return additions.sample[chosen][order], chosen[order]

    def caption(self, moment: int, selection: Selection) -> str:
        """Return what the selected warp does at a moment."""
        for bars in self.bars(moment, selection):
            own = chosen_of(bars.adding, bars.adding.own)
            if len(own.bin):
                return self._adding_text(bars, own)
        coming = self.coming(moment, selection)
        own = chosen_of(coming, coming.own)
        if len(own.bin):
            return f"loads {plural(len(own.bin), 'sample')}, on their way to {self._bins_text(own)}"
        return warp_caption(self.session, moment, selection)

    def _adding_text(self, bars: BinArray, own: CurrentAdditions) -> str:
        """Return what lanes add to an array of bins: samples, or the counts of their block."""
        if self.counting.private is not None and bars.title.endswith("global memory"):
            return f"adds the counts of {self._bins_text(own)} of its block to global memory"
        return f"adds {plural(len(own.bin), 'sample')} to {self._bins_text(own)}{_meeting_text(own)}"

    def _bins_text(self, own: CurrentAdditions) -> str:
        return plural(len(np.unique(own.bin)), "bin")

    def progress(self, moment: int) -> str:
        """Return how many samples are counted by a moment, how many never will be, and how many were lost."""
        samples, result = self.samples, self.counting.result
        counted = (
            f"{count_text(self.counting.of_samples.upto(moment))} of {count_text(samples)} samples counted"
        )
        outside = samples - len(self.counting.of_samples)
        if outside:
            counted += f" ({count_text(outside)} {self._why_outside})"
        if self.counting.private is not None:
            counted += f", {count_text(result.upto(moment))} additions to global memory"
        lost = result.lost(moment)
        return counted + (f", {count_text(lost)} of them lost" if lost else "")

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return len(self.counting.of_samples) if self._loads is None else len(self._loads)

    @cached_property
    def _loads(self) -> Ints | None:
        """The loads of samples (rows of the trace), counted or not; None where it is not clear which these are."""
        first, trace = self.counting.of_samples, self.session.trace
        if not len(first) or (first.sample < 0).any() or trace.is_part:
            return None
        buffers = np.unique(trace.buffer[first.sample])
        loads = np.flatnonzero((trace.buffer == buffers[0]) & (trace.op == Op.LOAD))
        once = len(np.unique(trace.index[loads])) == len(loads)
        return loads if len(buffers) == 1 and once and len(np.unique(first.sample)) == len(first) else None

    @cached_property
    def _why_outside(self) -> str:
        """Why samples are in no bin, as far as it is known."""
        trace, edges = self.session.trace, self.counting.edges
        if edges is None or self._loads is None or trace.value is None:
            return "in no bin"
        values = trace.value[self._loads].real
        beyond = np.count_nonzero(~((values >= edges[0]) & (values < edges[1])))
        low, high = (f"{edge:g}".replace("-", "\u2212") for edge in edges)
        return (
            f"outside {low} to {high}"
            if beyond == self.samples - len(self.counting.of_samples)
            else "in no bin"
        )

    def contention(self, moment: int) -> str:
        """Return where most lanes of one request met by a moment, in words."""
        records = self.counting.of_samples.contention
        done = int(np.searchsorted(records.moment, moment, side="right"))
        lanes = records.lanes[:done]
        if not len(lanes) or lanes.max() < 2:
            return "no two lanes of a request have met in a bin" if done else ""
        where = records.cell[:done][lanes == lanes.max()] % self.counting.bins
        return (
            f"at most {plural(int(lanes.max()), 'lane')} of a request met, in {bins_text(np.unique(where))}"
        )

    def verdict(self, moment: int) -> tuple[str, bool]:
        """Return how the final counts compare with NumPy's, "" before the end, and whether that is well."""
        expected = self.counting.expected
        if expected is None or moment < self.session.end:
            return "", True
        wrong = self.differing()
        if not len(wrong):
            return f"equals np.histogram in all {count_text(self.counting.bins)} bins", True
        return f"differs from NumPy in {bins_text(wrong)}", False

    def differing(self) -> Ints:
        """Return the bins whose final counts are not NumPy's."""
        expected = self.counting.expected
        final = self.session.memory.settled(self.counting.result.buffer, self.session.end)
        return np.flatnonzero(final != expected) if expected is not None else np.empty(0, np.int64)

    def span_text(self, place: int) -> str:
        """Return from where to where the samples of a bin lie, "" where that is not known."""
        if self.counting.edges is None:
            return ""
        low, high = self.counting.edges
        width = (high - low) / self.counting.bins
        return f"{low + place * width:.4g} to {low + (place + 1) * width:.4g}"

    def bin_text(self, part: int, place: int, moment: int, selection: Selection) -> str:
        """Return what is known of a bin of the array number `part`, a line each."""
        bars = self.bars(moment, selection)[part]
        span, value = self.span_text(place), int(bars.values[place])
        lines = [f"bin {place}{f', samples from {span}' if span else ''}"]
        lines.append(
            f"{bars.title}: {'not written yet' if value < 0 else count_text(value)}"
            + self._expected_text(part, place)
        )
        if bars.most[place]:
            lines.append(f"at most {plural(int(bars.most[place]), 'lane')} of one request met here")
        return "\n".join([*lines, *self._lanes_text(bars.adding, place)])

    def _expected_text(self, part: int, place: int) -> str:
        expected, last = self.counting.expected, part == (self.counting.private is not None)
        return f"; NumPy: {count_text(int(expected[place]))}" if expected is not None and last else ""

    def _lanes_text(self, adding: CurrentAdditions, place: int) -> list[str]:
        """Return who adds to a bin now, a line for each warp, the selected one first."""
        mine = np.flatnonzero(adding.bin == place)
        warps = sorted(
            {(not adding.own[i], adding.block[i], adding.thread[i] // WARP) for i in mine.tolist()}
        )
        lines = []
        for _, block, warp in warps[:NAMED]:
            same = mine[(adding.block[mine] == block) & (adding.thread[mine] // WARP == warp)]
            lanes = listed([str(lane) for lane in sorted(adding.lane[same].tolist())])
            noun = "lane" if len(same) == 1 else "lanes"
            name = block_text(self.session.trace, int(block))
            lines.append(f"now {noun} {lanes} of warp {warp} in {name}")
        return lines


def _meeting_text(own: CurrentAdditions) -> str:
    most = int(own.together.max())
    if most < 2:
        return ", each to another"
    return f"; {most} meet in {bins_text(np.unique(own.bin[own.together == most]))}"


def bins_text(places: Ints) -> str:
    """Return bins by their numbers, the first few of many: bins 3, 7, 12 and 5 more."""
    named = [str(place) for place in places[:NAMED].tolist()]
    more = [f"{count_text(len(places) - NAMED)} more"] if len(places) > NAMED else []
    return f"{'bin' if len(places) == 1 else 'bins'} {listed([*named, *more])}"
