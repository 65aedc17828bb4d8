"""The path of a value in sentences, each about one access or several alike, with the access to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

import numpy as np
from msgspec import Struct

from ...kernels.scenarios.suggestions import joined_words
from ..analysis.requests import Requests
from ..model.finding import block_text, coordinates_text, count_noun, element_text, line_text, value_text
from ..model.trace import Buffer, Op, Trace
from .reference import Difference
from .value_path import Causes, Element, Fault, Reach, Reading, ValuePath

FEW = 6  # accesses of one line that are described one by one
MOST_FAULTS = 8  # kinds of faults that are described
FAULTS: tuple[Fault, ...] = ("unwritten", "stale", "foreign", "leftover", "unordered")  # the surest first
MOST_LINES = 40  # of a path
Namer = Callable[[Buffer], str]


class Sentence(Struct, frozen=True):
    """One sentence about a path."""

    text: str
    row: int = -1  # the access to look at; -1 for none
    moment: int = -1  # of that access
    fault: Fault = ""
    depth: int = 0  # distance from the element, in writes


class PathWriter:
    """Writes the sentences of paths of one trace."""

    def __init__(
        self, causes: Causes, requests: Requests, name_of: Namer = lambda buffer: buffer.name
    ) -> None:
        self._causes, self._requests, self._name_of = causes, requests, name_of
        self._trace = causes.trace

    def moment(self, row: int) -> int:
        """Return the moment of an access."""
        return int(self._requests.moment[self._requests.request[row]])

    def element(self, element: Element) -> str:
        """Name an element: C[3, 5]; tile[3] of block 2."""
        trace = self._trace
        text = self._named(element.buffer, element.index)
        if element.thread >= 0:
            return f"{text} of thread {coordinates_text(element.thread, trace.block_dim)}"
        if element.block >= 0 and len(trace.blocks) > 1:
            return f"{text} of {block_text(trace, element.block)}"
        return text

    def path(self, path: ValuePath, later: int | None = None) -> list[Sentence]:
        """Describe a path: the write that left the value, what fed it, the faults on the way, and its ends.

        later: the row of the first write after the moment of the value, None without one.
        """
        name = self.element(path.element)
        if path.last < 0 and later is not None:
            holds = {"input": ", so it holds its input", "unwritten": ", so it has no content"}
            first = f"{name}: not written yet{holds.get(path.source, '')}."
            return [
                self._sentence(
                    f"{first} {_capital(self._thread(later))} writes it on {self._where(later)}.", later
                )
            ]
        if path.last < 0:
            held = {
                "input": "the launch did not write it: it holds its input",
                "unwritten": "nothing wrote it: it has no content",
                "not kept": "the trace keeps only a part of the accesses, and none that wrote it",
            }
            return [Sentence(f"{name}: {held.get(path.source, '')}.")]
        return [*self._faults(path), *self._steps(path), *self._ends(path)]

    def _faults(self, path: ValuePath) -> list[Sentence]:
        """Describe the first fault of each kind and line, and count the others."""
        alike: dict[tuple[Fault, int, int], list[Reading]] = {}
        for reading in path.faults():
            other = int(self._trace.site[reading.conflict]) if reading.conflict >= 0 else -1
            alike.setdefault((reading.fault, int(self._trace.site[reading.row]), other), []).append(reading)
        groups = sorted(alike.values(), key=lambda group: (FAULTS.index(group[0].fault), group[0].row))
        sentences: list[Sentence] = []
        for group in groups[:MOST_FAULTS]:
            sentences.append(self._fault(group[0]))
            if len(group) > 1:
                rest = count_noun(len(group) - 1, "more read")
                text = f"{rest} on the path {'is' if len(group) == 2 else 'are'} like this one."
                sentences.append(self._sentence(text, group[1].row, fault=group[1].fault, depth=1))
        return sentences

    def difference(self, difference: Difference, reference: str, *, is_wrong: bool) -> list[Sentence]:
        """Describe the first write that differs from a reference, such as "the other trace".

        is_wrong: whether the reference is right; otherwise either of the two may be.
        """
        row = difference.row
        differs = "goes wrong here" if is_wrong else "differs from here on"
        place = f"{self._access(row)} {differs}: {self._thread(row)}"
        wrong = f"{place} wrote {self._value(row)} on {self._where(row)}"
        if difference.expected is None:
            return [self._sentence(f"{wrong}; {reference} makes no such write.", row)]
        expected = _number(difference.expected, self._buffer(row))
        sentences = [self._sentence(f"{wrong}; {reference} has {expected}.", row)]
        for read, value in difference.reads[:FEW]:
            got = f"It read {self._access(read)} = {self._value(read)} on {self._where(read)}"
            other = "another element" if value is None else _number(value, self._buffer(read))
            sentences.append(self._sentence(f"{got}; {reference} read {other}.", read, depth=1))
        return sentences

    def reach(self, reach: Reach) -> list[Sentence]:
        """Describe everything that a value reaches: the loads, the threads that each served, and the results."""
        name = self.element(reach.element)
        if not reach.reads:
            return [Sentence(f"No thread reads {name} after that.")]
        sentences = []
        for site, rows in self._by_site(reach.reads):
            sentences.append(self._sentence(self._reads_text(site, rows), rows[0]))
            fed = sorted({write for row in rows for write in reach.reads[row]})
            sentences += [
                self._sentence(self._fed_text(reach, written, group), group[0], depth=1)
                for written, group in self._by_site(fed)
            ]
        results = sorted({row for row in reach.writes if self._buffer(row).space == "global"})
        elements = {(int(self._trace.buffer[row]), int(self._trace.index[row])) for row in results}
        counts = [
            f"{count_noun(sum(b == buffer for b, _ in elements), 'element')} of {self._label(buffer)}"
            for buffer in sorted({buffer for buffer, _ in elements})
        ]
        if counts:
            sentences.append(self._sentence(f"It reaches {joined_words(counts, 'and')}.", results[0]))
        if not (reach.is_exact and reach.is_complete):
            sentences.append(Sentence("Some threads could not be followed, so it may reach more."))
        return sentences

    def _fed_text(self, reach: Reach, site: int, rows: Sequence[int]) -> str:
        uses = {use for row in rows for use in reach.writes.get(row, ())}
        threads = len(np.unique(self._trace.thread_in_grid(np.array(sorted(uses), np.int64))))
        written = self._elements_text(rows)
        served = f", which serves {count_noun(threads, 'thread')}" if threads else ""
        return f"{_capital(line_text(self._trace, site))} writes it on to {written}{served}."

    def _reads_text(self, site: int, rows: Sequence[int]) -> str:
        threads = len(np.unique(self._trace.thread_in_grid(np.array(rows, np.int64))))
        line = _capital(line_text(self._trace, site))
        reads = f"{count_noun(len(rows), 'read')} by {count_noun(threads, 'thread')}"
        return f"{line} reads {self._elements_text(rows)}: {reads}."

    def _steps(self, path: ValuePath) -> list[Sentence]:
        """Describe the writes of a path, line by line, the nearest to the element first."""
        sentences: list[Sentence] = []
        distances = path.distances()
        for site, rows in self._by_site(path.writes)[::-1]:
            newest_first, number = rows[::-1], min(distances.get(row, 0) for row in rows)
            last = path.last if path.last in rows else -1
            if len(rows) <= FEW:
                for row in newest_first:
                    sentences += self._write(path, row, number)
            else:
                sentences.append(
                    self._sentence(self._writes_text(path, site, rows), newest_first[0], depth=number)
                )
                sentences += self._sources(path, rows, number)
            if last >= 0 and len(rows) > FEW:
                sentences = [*self._write(path, last, 0)[:1], *sentences]
        if len(sentences) > MOST_LINES:
            rest = len(sentences) - MOST_LINES
            sentences = [
                *sentences[:MOST_LINES],
                Sentence(f"{count_noun(rest, 'more sentence')} on the path."),
            ]
        return sentences

    def _write(self, path: ValuePath, row: int, depth: int) -> list[Sentence]:
        """Describe one write and the reads that fed it."""
        verb = "updated" if self._trace.op[row] >= Op.ATOMIC else "wrote"
        first = f"{_capital(self._thread(row))} {verb} {self._access(row)} = {self._value(row)} on {self._where(row)}"
        feeds = path.writes[row]
        note = "" if feeds.reads or feeds.outside else ", from constants and indices only"
        if feeds.exchanges:
            givers = sorted({giver for giver, _ in feeds.exchanges})
            note += f", with values from {count_noun(len(givers), 'lane')} of its warp"
        sentences = [self._sentence(f"{first}{note}.", row, depth=depth)]
        if feeds.reason:
            text = f"Its reads are those that may have fed it, since {feeds.reason}."
            sentences.append(self._sentence(text, row, depth=depth))
        for number in feeds.outside[:FEW]:
            element = self._trace.outside.text[number]
            sentences.append(self._sentence(f"It read {element}, outside its array.", row, depth=depth))
        return sentences + self._sources(path, [row], depth)

    def _sources(self, path: ValuePath, rows: Sequence[int], depth: int) -> list[Sentence]:
        """Describe the reads that fed writes: one by one if they are few, else line by line."""
        sentences = []
        reads = sorted({read for row in rows for read in path.writes[row].reads})
        chosen = sorted({read for row in rows for read in path.writes[row].index_reads} - set(reads))
        for site, group in self._by_site(reads):
            if len(group) <= FEW:
                sentences += [self._read(path.readings[row], depth) for row in group if row in path.readings]
            else:
                sentences.append(
                    self._sentence(self._reads_of_text(path, site, group), group[0], depth=depth)
                )
        for _, group in self._by_site(chosen):
            text = f"The element is chosen by {self._elements_text(group)} on {self._where(group[0])}."
            sentences.append(self._sentence(text, group[0], depth=depth))
        return sentences

    def _read(self, reading: Reading, depth: int) -> Sentence:
        row = reading.row
        if self._trace.op[row] >= Op.ATOMIC:
            first = f"It found {self._access(row)}"
        else:
            first = f"It read {self._access(row)} = {self._value(row)} on {self._where(row)}"
        return self._sentence(f"{first}, {self._source(reading)}.", row, depth=depth, fault=reading.fault)

    def _source(self, reading: Reading) -> str:
        if reading.writer >= 0:
            return f"written by {self._thread(reading.writer)} on {self._where(reading.writer)}"
        held = {"input": "an input", "unwritten": "which nothing had written"}
        return held.get(reading.source, "whose write is not kept")

    def _reads_of_text(self, path: ValuePath, site: int, rows: Sequence[int]) -> str:
        readings = [path.readings[row] for row in rows if row in path.readings]
        sites = sorted({int(self._trace.site[r.writer]) for r in readings if r.writer >= 0})
        parts = [f"written on {_lines_text(self._trace, sites)}"] if sites else []
        inputs = sum(reading.source == "input" for reading in readings)
        parts += [f"{count_noun(inputs, 'input')}"] if inputs else []
        unwritten = sum(reading.source == "unwritten" for reading in readings)
        parts += [f"{count_noun(unwritten, 'read')} of unwritten memory"] if unwritten else []
        origin = f": {joined_words(parts, 'and')}" if parts else ""
        reads = f"{count_noun(len(rows), 'read')} of {self._elements_text(rows)}"
        return f"It comes from {reads} on {line_text(self._trace, site)}{origin}."

    def _writes_text(self, path: ValuePath, site: int, rows: Sequence[int]) -> str:
        threads = len(np.unique(self._trace.thread_in_grid(np.array(rows, np.int64))))
        moments = [self.moment(row) for row in (rows[0], rows[-1])]
        between = (
            f"moments {moments[0]:,} to {moments[1]:,}"
            if moments[0] != moments[1]
            else f"moment {moments[0]:,}"
        )
        return (
            f"{_capital(line_text(self._trace, site))} wrote {self._elements_text(rows)}: "
            f"{count_noun(len(rows), 'write')} by {count_noun(threads, 'thread')}, {between}."
        )

    def _fault(self, reading: Reading) -> Sentence:
        row, conflict = reading.row, reading.conflict
        read = f"{_capital(self._thread(row))} read {self._access(row)} = {self._value(row)} on {self._where(row)}"
        other = (
            f"{self._thread(conflict)} wrote it on {self._where(conflict)}{self._order_note(reading)}"
            if conflict >= 0
            else ""
        )
        text = {
            "foreign": f"{read}: {other}, and nothing orders the two accesses.",
            "stale": f"{read} before {other}: it got an older value, and nothing makes it wait.",
            "unordered": f"{read}, and later {other}: nothing orders the two accesses.",
            "leftover": f"{read}, left from {self._where(reading.writer)}: that line has filled others again, not it.",
            "unwritten": f"{read}, which nothing had written{f'; later {other}' if other else ''}.",
        }[reading.fault or "unwritten"]
        return self._sentence(text, row, fault=reading.fault)

    def _order_note(self, reading: Reading) -> str:
        """State the order of the launch where the moments of two accesses show another one."""
        is_first = reading.conflict < reading.row
        moments = self.moment(reading.conflict), self.moment(reading.row)
        if is_first and moments[0] >= moments[1]:
            return " (in the launch it ran first)"
        return " (in the launch it ran later)" if not is_first and moments[0] <= moments[1] else ""

    def _ends(self, path: ValuePath) -> list[Sentence]:
        """Describe where a path ends."""
        inputs = [reading.row for _, reading in sorted(path.readings.items()) if reading.source == "input"]
        elements = {(int(self._trace.buffer[row]), int(self._trace.index[row])) for row in inputs}
        counts = [
            f"{count_noun(sum(b == buffer for b, _ in elements), 'element')} of {self._label(buffer)}"
            for buffer in sorted({buffer for buffer, _ in elements})
        ]
        sentences = []
        if counts:
            sentences.append(
                self._sentence(f"The path ends at inputs: {joined_words(counts, 'and')}.", inputs[0])
            )
        elif all(not feeds.reads for feeds in path.writes.values()):
            sentences.append(Sentence("The path ends at constants."))
        if not path.is_complete:
            sentences.append(Sentence("The path is longer than what is shown."))
        return sentences

    def _by_site(self, rows: Iterable[int]) -> list[tuple[int, list[int]]]:
        """Group rows by their site, in the order of each site's last row."""
        ordered = sorted(rows, key=lambda row: (int(self._trace.site[row]), row))
        groups = [
            (site, list(group)) for site, group in groupby(ordered, key=lambda r: int(self._trace.site[r]))
        ]
        return sorted(groups, key=lambda pair: pair[1][-1])

    def _elements_text(self, rows: Sequence[int]) -> str:
        """Name the elements of accesses: tile[3], or 16 elements of tile, tile[0] to tile[15]."""
        keys = sorted({(int(self._trace.buffer[row]), int(self._trace.index[row])) for row in rows})
        if len(keys) <= 2:
            return joined_words([self._named(*key) for key in keys], "and")
        names = list(dict.fromkeys(self._label(buffer) for buffer, _ in keys))
        span = f" ({self._named(*keys[0])} to {self._named(*keys[-1])})" if len(names) == 1 else ""
        return f"{count_noun(len(keys), 'element')} of {joined_words(names, 'and')}{span}"

    def _named(self, buffer: int, index: int) -> str:
        described = self._trace.buffers[buffer]
        return self._name_of(described) + element_text(described, index).removeprefix(described.name)

    def _label(self, buffer: int) -> str:
        return self._name_of(self._trace.buffers[buffer])

    def _access(self, row: int) -> str:
        return self._named(int(self._trace.buffer[row]), int(self._trace.index[row]))

    def _buffer(self, row: int) -> Buffer:
        return self._trace.buffers[int(self._trace.buffer[row])]

    def _value(self, row: int) -> str:
        return value_text(self._trace, row) or "a record"

    def _thread(self, row: int) -> str:
        trace = self._trace
        thread = f"thread {coordinates_text(int(trace.thread[row]), trace.block_dim)}"
        return f"{thread} of {block_text(trace, int(trace.block[row]))}" if len(trace.blocks) > 1 else thread

    def _where(self, row: int) -> str:
        return f"{line_text(self._trace, int(self._trace.site[row]))} at moment {self.moment(row):,}"

    def _sentence(self, text: str, row: int, *, depth: int = 0, fault: Fault = "") -> Sentence:
        return Sentence(text, row, self.moment(row), fault, depth)


def _lines_text(trace: Trace, sites: Sequence[int]) -> str:
    return joined_words(list(dict.fromkeys(line_text(trace, site) for site in sites)), "and")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _number(value: np.generic, buffer: Buffer) -> str:
    if np.dtype(buffer.dtype).kind == "c":
        return f"{complex(value):.4g}"
    number = float(np.real(value))
    return (
        str(int(number)) if np.dtype(buffer.dtype).kind in "iub" and np.isfinite(number) else f"{number:.4g}"
    )
