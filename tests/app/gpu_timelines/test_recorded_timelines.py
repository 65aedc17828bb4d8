"""Recorded timelines are read once, in a thread or at once, and files that can't be read are left out."""

import pytest

from gpu_charts import small_timeline
from sessions import application
from tilescope.app.gpu_timelines.recorded_timelines import RecordedTimelines
from tilescope.tracer.hardware.recorded_timelines import own_folder
from tilescope.tracer.hardware.timeline_file import save
from windows import wait_until


@pytest.fixture
def own(monkeypatch, tmp_path):
    """Keep a timeline, and a file that is none, in the user's folder."""
    monkeypatch.setenv("TILESCOPE_HOME", str(tmp_path))
    own_folder().mkdir(parents=True)
    save(small_timeline(), own_folder() / "matmul-tiled.npz")
    (own_folder() / "damaged.npz").write_bytes(b"PK\x03\x04 and no more")
    application()
    return own_folder()


def timelines_of_test_gpu(timelines):
    return [timeline for timeline in timelines if timeline.head.device.name == "NVIDIA Test"]


def test_they_are_read_in_a_thread_once(own):
    notices = []
    recorded = RecordedTimelines(None, lambda: notices.append(recorded.timelines))
    recorded.want()
    recorded.want()
    assert recorded.timelines is None
    wait_until(lambda: notices)
    recorded.close()
    assert len(notices) == 1
    (kept,) = timelines_of_test_gpu(notices[0])
    assert kept.head == small_timeline().head
    assert (kept.segments.end == small_timeline().segments.end).all()
    recorded.want()
    assert len(notices) == 1


def test_a_hidden_picture_gets_findings_at_once(own):
    recorded = RecordedTimelines()
    recorded.waits = False
    recorded.want()
    assert len(timelines_of_test_gpu(recorded.timelines)) == 1
