"""A launch as a Perfetto trace, for ui.perfetto.dev. It needs the messages of the perfetto package.

Format: https://perfetto.dev/docs/reference/synthetic-track-event. Perfetto needs a clock and a launch has none: moment
m begins at m microseconds. The top track, the slice of the launch and its arguments state that this is not
measured time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.requests import REQUEST_KINDS, Requests, requests_of
from ..model.finding import block_text
from ..model.trace import Trace
from .access_table import ExportError, about, file_names
from .perfetto_events import (
    BEGIN,
    COUNT,
    FIRST_BLOCK,
    LAUNCH,
    SECTORS,
    WAVEFRONTS,
    SliceKind,
    counters_of_moments,
    slices_of,
    sort_events,
    tracks_each,
)

MOMENT = 1000  # nanoseconds that represent a moment
CLOCK = "modelled order, not measured time: 1 µs is 1 moment"
MOST_ACCESSES = 32_000_000  # more take gigabytes of memory
MOST_SLICES = 2_000_000  # more take minutes to write, and gigabytes in Perfetto
SEQUENCE = 1
PACKETS = 4096  # written at once
MISSING = "Perfetto traces need the package perfetto, which is not installed: pip install perfetto."
TOO_MANY = (
    "{:,} {} are more than Perfetto shows well ({:,}); trace some blocks, as with matmul-tiled:blocks=0+1."
)
WAIT = "waits at a barrier"
OMITTED = ("format", "version", "sites", "buffers", "launch")  # of the data about a launch, on its slice
ARGUMENTS = ("moment", "phase", "site", "line", "buffer", "lanes", "sectors", "wavefronts")


def need_perfetto() -> Any:
    """Return the messages of Perfetto's traces; raises ExportError if they are not installed."""
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError as error:
        raise ExportError(MISSING) from error
    return perfetto_trace_pb2


def write_perfetto(
    trace: Trace, file: IO[bytes], progress: Callable[[int, int], None], part: str = ""
) -> None:
    """Write a track for each block and warp, slices for phases, requests and waits, and counters of sectors.

    part: a sentence about what is missing of the launch, "" if nothing is. Raises ExportError for a trace that is
    too large, and OSError.
    """
    if len(trace) > MOST_ACCESSES:
        raise ExportError(TOO_MANY.format(len(trace), "accesses", MOST_ACCESSES))
    requests = requests_of(trace)
    slices = slices_of(trace, requests)
    count = sum(len(some.track) for some in slices)
    if count > MOST_SLICES:
        raise ExportError(TOO_MANY.format(count, "requests, waits and phases", MOST_SLICES))
    events = sort_events(slices, counters_of_moments(trace, requests))
    writer = _Packets(need_perfetto(), trace, requests, part)
    packets, written = writer.all([part.kind for part in slices], events), 0
    while batch := list(islice(packets, PACKETS)):
        file.write(writer.messages.Trace(packet=batch).SerializeToString())
        written += len(batch)
        progress(min(len(trace), len(trace) * written // len(events)), len(trace))


def _numbers(words: Iterable[str]) -> dict[str, int]:
    """Number the distinct words, from 1."""
    return {word: number for number, word in enumerate(dict.fromkeys(words), 1)}


class _Packets:
    """Builds the packets of a trace. The first packet has the frequent texts, and the others refer to their numbers."""

    def __init__(self, messages: Any, trace: Trace, requests: Requests, part: str) -> None:
        self.messages, self._trace, self._requests, self._part = messages, trace, requests, part
        self._buffers = [buffer.name for buffer in trace.buffers]
        files = file_names([site.file for site in trace.sites])
        self._sites = [
            f"{file}:{site.line}:{site.column} {site.function}"
            for file, site in zip(files, trace.sites, strict=True)
        ]
        kinds = [f"{kind} {name}" for kind in REQUEST_KINDS for name in self._buffers]
        self._names = _numbers([WAIT, "shuffle", "vote", "match", *kinds])
        self._texts = _numbers([*self._buffers, *self._sites])
        self._arguments = _numbers(ARGUMENTS)
        self._categories = _numbers(("launch", "phase", "request", "exchange", "wait"))
        self._begin = {"launch": self._launch, "phase": self._phase, "request": self._request,
                       "exchange": self._exchange, "wait": self._wait}  # fmt: skip

    def all(self, kinds: Sequence[SliceKind], events: NDArray[np.int64]) -> Iterator[Any]:
        """Yield every packet, in the order of moments."""
        yield self._interned()
        for descriptor in self._tracks():
            yield self.messages.TracePacket(trusted_packet_sequence_id=SEQUENCE, track_descriptor=descriptor)
        new_event = self.messages.TrackEvent
        for low in range(0, len(events), PACKETS):
            for moment, event_type, number, track, row in events[low : low + PACKETS].tolist():
                if event_type == BEGIN:
                    track_event = self._begin[kinds[number]](row)
                    track_event.type, track_event.category_iids[:] = (
                        new_event.TYPE_SLICE_BEGIN,
                        [self._categories[kinds[number]]],
                    )
                else:
                    track_event = (
                        new_event(type=new_event.TYPE_COUNTER, counter_value=row)
                        if event_type == COUNT
                        else new_event(type=new_event.TYPE_SLICE_END)
                    )
                track_event.track_uuid = track
                yield self.messages.TracePacket(
                    timestamp=moment * MOMENT, trusted_packet_sequence_id=SEQUENCE, track_event=track_event,
                    sequence_flags=self.messages.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE,
                )  # fmt: skip

    def _interned(self) -> Any:
        """Return the packet with the texts that the others refer to by number."""
        packet = self.messages.TracePacket(trusted_packet_sequence_id=SEQUENCE, first_packet_on_sequence=True)
        packet.sequence_flags = packet.SEQ_INCREMENTAL_STATE_CLEARED
        data = packet.interned_data
        for table, words in ((data.event_names, self._names), (data.event_categories, self._categories),
                             (data.debug_annotation_names, self._arguments)):  # fmt: skip
            for word, number in words.items():
                table.add(iid=number, name=word)
        for word, number in self._texts.items():
            data.debug_annotation_string_values.add(iid=number, str=word.encode())
        for number, site in enumerate(self._trace.sites, 1):
            location = {"file_name": site.file, "function_name": site.function, "line_number": site.line}
            data.source_locations.add(iid=number, **location)
        return packet

    def _tracks(self) -> Iterator[Any]:
        """Yield the track descriptors: the launch, below it its counters and blocks, and below these their warps."""
        trace, ordered = self._trace, self.messages.TrackDescriptor.EXPLICIT

        def track(uuid: int, parent: int, name: str, **more: Any) -> Any:
            return self.messages.TrackDescriptor(
                uuid=uuid,
                parent_uuid=parent,
                name=name,
                sibling_order_rank=uuid,
                child_ordering=ordered,
                **more,
            )

        yield track(LAUNCH, 0, f"{trace.kernel} ({CLOCK})")
        for uuid, unit, space in ((SECTORS, "sectors", "global"), (WAVEFRONTS, "wavefronts", "shared")):
            yield track(uuid, LAUNCH, f"{unit} of {space} memory per moment", counter={"unit_name": unit})
        for index, block in enumerate(trace.blocks.tolist()):
            block_uuid = FIRST_BLOCK + index * tracks_each(trace)
            yield track(block_uuid, LAUNCH, block_text(trace, block))
            yield track(
                block_uuid + 1,
                block_uuid,
                "sectors of global memory per moment",
                counter={"unit_name": "sectors"},
            )
            for warp in range(trace.warps):
                yield track(block_uuid + 2 + warp, block_uuid, f"warp {warp}")

    def _launch(self, row: int) -> Any:
        trace = self._trace
        properties = about(trace, self._part) | {"clock": CLOCK, "moments": self._requests.end}
        arguments = [{"name": name, "string_value": format_value(value)} for name, value in properties.items()
                     if name not in OMITTED and value not in (None, "")]  # fmt: skip
        part = ", a part of it" if properties["part"] else ""
        return self.messages.TrackEvent(name=f"{trace.kernel}{part}: {CLOCK}", debug_annotations=arguments)

    def _phase(self, phase: int) -> Any:
        return self.messages.TrackEvent(name=f"phase {phase}")

    def _request(self, row: int) -> Any:
        requests = self._requests
        buffer = self._buffers[requests.buffer[row]]
        cost = {"sectors": requests.sectors[row], "wavefronts": requests.wavefronts[row]}
        numbers = {"moment": requests.moment[row], "phase": requests.phase[row], "lanes": requests.lanes[row]}
        event = self._event(f"{REQUEST_KINDS[requests.kind[row]]} {buffer}", int(requests.site[row]))
        self._add_text(event, "buffer", buffer)
        return self._add_numbers(event, numbers | {name: number for name, number in cost.items() if number})

    def _exchange(self, row: int) -> Any:
        exchanges = self._requests.exchanges
        event = self._event(exchanges.kind(row), int(exchanges.site[row]))
        numbers = {
            "moment": exchanges.moment[row],
            "phase": exchanges.phase[row],
            "lanes": len(exchanges.lanes(row)[0]),
        }
        for name, number in numbers.items():
            event.debug_annotations.add(name_iid=self._arguments[name], uint_value=int(number))
        return event

    def _wait(self, site: int) -> Any:
        return self._event(WAIT, site)

    def _event(self, name: str, site: int) -> Any:
        """Return an event with its name and source location."""
        event = self.messages.TrackEvent(name_iid=self._names[name], source_location_iid=site + 1)
        self._add_text(event, "site", self._sites[site])
        event.debug_annotations.add(name_iid=self._arguments["line"], uint_value=self._trace.sites[site].line)
        return event

    def _add_numbers(self, event: Any, numbers: Mapping[str, Any]) -> Any:
        for name, number in numbers.items():
            event.debug_annotations.add(name_iid=self._arguments[name], uint_value=int(number))
        return event

    def _add_text(self, event: Any, name: str, text: str) -> None:
        event.debug_annotations.add(name_iid=self._arguments[name], string_value_iid=self._texts[text])


def format_value(value: Any) -> str:
    """Format plain data as one line."""
    return value if isinstance(value, str) else json.dumps(value)
