"""Perfetto traces, read with Perfetto's own messages: slices that end, tracks with parents, time that grows."""

import io
import random
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from odd_traces import ignore_progress, random_trace
from sessions import matmul, uneven_session
from tilescope.app.views.common.activity import block_activity
from tilescope.app.views.timeline.image import WAIT as WAITS
from tilescope.app.views.timeline.image import activity_codes
from tilescope.tracer.analysis.requests import REQUEST_KINDS, requests_of
from tilescope.tracer.exports import perfetto_file
from tilescope.tracer.exports.access_table import ExportError
from tilescope.tracer.exports.perfetto_events import waits_of
from tilescope.tracer.exports.perfetto_file import MOMENT, write_perfetto

messages = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
NAMES = ("matmul-tiled", "matmul-naive-row-on-x", "sum-interleaved", "count-atomic", "vector-increment")


@pytest.fixture(scope="module", params=[*NAMES, "uneven"])
def session(request, tmp_path_factory):
    if request.param == "uneven":
        return uneven_session(tmp_path_factory.mktemp("uneven"))
    small = {"m": 16, "k": 16, "n": 16, "tile": 4} if request.param.startswith("matmul") else {}
    return matmul(request.param, **small)


def packets(trace, part=""):
    """Return the packets of a trace as they are read back, and the texts that they name by numbers."""
    file = io.BytesIO()
    write_perfetto(trace, file, ignore_progress, part)
    return list(messages.Trace.FromString(file.getvalue()).packet)


class Read:
    """A trace as a reader sees it: tracks, slices with names and arguments, and counters."""

    def __init__(self, trace, part=""):
        self.packets = packets(trace, part)
        data = self.packets[0].interned_data
        self.names = {n.iid: n.name for n in data.event_names}
        self.categories = {n.iid: n.name for n in data.event_categories}
        self.arguments = {n.iid: n.name for n in data.debug_annotation_names}
        self.texts = {n.iid: n.str.decode() for n in data.debug_annotation_string_values}
        self.places = {n.iid: n for n in data.source_locations}
        self.tracks = {
            p.track_descriptor.uuid: p.track_descriptor
            for p in self.packets
            if p.HasField("track_descriptor")
        }
        self.events = [(p.timestamp, p.track_event) for p in self.packets if p.HasField("track_event")]

    def path(self, uuid):
        """Return the names of a track's parents and its own."""
        track = self.tracks[uuid]
        return (*(self.path(track.parent_uuid) if track.parent_uuid else ()), track.name)

    def value(self, argument):
        kind = argument.WhichOneof("value")
        return (
            self.texts[argument.string_value_iid] if kind == "string_value_iid" else getattr(argument, kind)
        )

    def arguments_of(self, event):
        """Return the arguments of an event by name."""
        return {self.arguments.get(a.name_iid, a.name): self.value(a) for a in event.debug_annotations}

    def slices(self, category):
        """Return (track, begin, end, name, event) of each slice of a category; raises where one does not end."""
        results, open_ = [], defaultdict(list)
        for time, event in self.events:
            if event.type == event.TYPE_SLICE_BEGIN:
                open_[event.track_uuid].append((time, event))
            elif event.type == event.TYPE_SLICE_END:
                begin, started = open_[event.track_uuid].pop()
                name = self.names[started.name_iid] if started.name_iid else started.name
                if self.categories[started.category_iids[0]] == category:
                    results.append((started.track_uuid, begin, time, name, started))
        assert not any(open_.values()), "slices that never end"
        return results


def test_a_trace_keeps_the_rules_of_the_format(session):
    read = Read(session.trace)
    first = read.packets[0]
    assert first.sequence_flags & first.SEQ_INCREMENTAL_STATE_CLEARED
    assert len({p.trusted_packet_sequence_id for p in read.packets}) == 1 and first.trusted_packet_sequence_id
    roots = [t for t in read.tracks.values() if not t.parent_uuid]
    assert len(roots) == 1 and all(
        t.parent_uuid in read.tracks for t in read.tracks.values() if t is not roots[0]
    )
    described, open_, time = set(), Counter(), 0
    for packet in read.packets[1:]:
        if packet.HasField("track_descriptor"):
            described.add(packet.track_descriptor.uuid)
            continue
        event = packet.track_event
        assert packet.sequence_flags & packet.SEQ_NEEDS_INCREMENTAL_STATE
        assert event.track_uuid in described, "a track is described before it is used"
        assert packet.timestamp >= time, "time grows"
        time = packet.timestamp
        counts = read.tracks[event.track_uuid].HasField("counter")
        assert counts == (event.type == event.TYPE_COUNTER)
        open_[event.track_uuid] += {event.TYPE_SLICE_BEGIN: 1, event.TYPE_SLICE_END: -1}.get(event.type, 0)
        assert 0 <= open_[event.track_uuid] <= 1, "slices of a track follow each other"
    assert not any(open_.values())


def test_every_request_is_a_slice_of_its_warp_with_its_site_as_arguments(session):
    trace, requests, read = session.trace, session.requests, Read(session.trace)
    results = read.slices("request")
    assert len(results) == len(requests)
    place = {uuid: read.path(uuid) for uuid in read.tracks}
    blocks = {place[uuid][1] for uuid, *_ in results}
    assert len(blocks) == len(np.unique(requests.block))
    got = sorted((begin // MOMENT, int(place[uuid][2].split()[1]), name, *site_place(read, event))
                 for uuid, begin, _, name, event in results)  # fmt: skip
    expected = sorted(
        (int(requests.moment[r]), int(requests.warp[r]),
         f"{REQUEST_KINDS[requests.kind[r]]} {trace.buffers[requests.buffer[r]].name}",
         trace.sites[requests.site[r]].line, int(requests.lanes[r]), int(requests.sectors[r]),
         int(requests.wavefronts[r]), trace.sites[requests.site[r]].file)
        for r in range(len(requests))
    )  # fmt: skip
    assert got == expected
    assert all(end - begin == MOMENT for _, begin, end, _, _ in results)


def site_place(read, event):
    output, place = read.arguments_of(event), read.places[event.source_location_iid]
    assert output["line"] == place.line_number and f":{output['line']}:" in output["site"]
    return (
        output["line"],
        output["lanes"],
        output.get("sectors", 0),
        output.get("wavefronts", 0),
        place.file_name,
    )


def test_waits_are_those_of_the_timeline(session):
    trace, waits = session.trace, waits_of(session.trace, session.requests)
    total = 0
    for place, block in enumerate(trace.blocks.tolist()):
        activity = block_activity(session, block)
        drawn = np.zeros((trace.warps, activity.span[1] + 2), bool)
        for row in np.flatnonzero(waits.block == place):
            drawn[waits.warp[row], waits.first[row] : waits.last[row] + 1] = True
        shown = activity_codes(session, activity) == WAITS
        first, last = activity.span
        assert np.array_equal(drawn[:, first : last + 1], shown)
        total += shown.sum()
    read = Read(trace)
    assert sum(end - begin for _, begin, end, _, _ in read.slices("wait")) == total * MOMENT


def test_counters_add_up_to_those_of_the_launch(session):
    read, requests = Read(session.trace), session.requests
    areas, last = Counter(), {}
    for time, event in read.events:
        if event.type == event.TYPE_COUNTER:
            before, value = last.get(event.track_uuid, (0, 0))
            areas[event.track_uuid] += value * (time - before) // MOMENT
            last[event.track_uuid] = time, event.counter_value
    assert all(value == 0 for _, value in last.values())
    names = {uuid: read.path(uuid) for uuid in read.tracks}
    sums = Counter()
    for uuid, area in areas.items():
        sums[len(names[uuid]), read.tracks[uuid].counter.unit_name] += area
    assert sums[2, "sectors"] == sums[3, "sectors"] == requests.sectors.sum()
    assert sums[2, "wavefronts"] == requests.wavefronts.sum()


def test_phases_are_slices_of_their_block(session):
    read, requests = Read(session.trace), session.requests
    spans = zip(requests.span_start.flat, requests.span_end.flat, strict=True)
    expected = sorted((int(begin) + 1, int(end) + 1) for begin, end in spans if begin < end)
    assert (
        sorted((begin // MOMENT, end // MOMENT) for _, begin, end, _, _ in read.slices("phase")) == expected
    )


def test_moments_are_not_labelled_as_measured_time(session):
    part = "A part of the launch: 1 of 3 blocks ran."
    read = Read(session.trace, part)
    output = "modelled order, not measured time: 1 µs is 1 moment"
    assert output in next(t.name for t in read.tracks.values() if not t.parent_uuid)
    ((_, begin, end, name, event),) = read.slices("launch")
    assert output in name and "a part of it" in name
    assert (begin, end) == (MOMENT, (session.end + 1) * MOMENT)
    messages = read.arguments_of(event)
    assert (
        messages["clock"] == output
        and messages["notice"] == part
        and messages["schedule"] == session.trace.schedule
    )
    assert messages["part"] == "true"


def test_shuffles_and_votes_are_slices_too(tmp_path: Path):
    from launching import Array, trace

    source = """
    @cuda.jit
    def kernel(a, out):
        i = cuda.threadIdx.x
        out[i] = cuda.shfl_down_sync(0xffffffff, a[i], 1)
        if cuda.any_sync(0xffffffff, i > 3):
            cuda.syncthreads()
    """
    launch_trace = trace(tmp_path, source, (Array((64,), fill="arange"), Array((64,))), block=(64, 1, 1))
    names = Counter(name for _, _, _, name, _ in Read(launch_trace).slices("exchange"))
    assert names == {"shuffle": 2, "vote": 2}


def test_a_launch_too_large_is_refused_in_a_sentence_before_anything_is_written(monkeypatch):
    trace = matmul("vector-increment").trace
    for limit, label in (("MOST_ACCESSES", "accesses"), ("MOST_SLICES", "requests, waits and phases")):
        with monkeypatch.context() as patched:
            patched.setattr(perfetto_file, limit, 3)
            file = io.BytesIO()
            with pytest.raises(
                ExportError, match=rf"{label} are more than Perfetto shows well \(3\); trace some blocks"
            ):
                write_perfetto(trace, file, ignore_progress)
            assert not file.getvalue()


def test_random_launches_keep_their_slices_apart():
    seed = random.randrange(1 << 30)
    print("seed", seed)
    for number in range(10):
        trace = random_trace(seed + number)
        trace = replace(trace, grid=(4, 1, 1))
        assert len(Read(trace).slices("request")) == len(requests_of(trace))
