"""Films of the window, drawn without a screen: frames of `snapshot`, of the requested length, written atomically."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys

import pytest
from PIL import Image
from PySide6.QtGui import QImage

from patience import PATIENCE, until
from tilescope.app.cli.main import main
from tilescope.app.cli.pictures.snapshot import snapshot
from tilescope.app.films import video_file
from tilescope.app.widgets.widget_picture import PictureError
from tilescope.tracer.storage.atomic_write import TEMPORARY
from windows import PAIR

TINY = "matmul-tiled:m=4,k=4,n=4,tile=2"
SIZE = "640x400"
TEN_SECONDS = ("--speed", "1", "--fps", "10", "--hold", "0")
probe = pytest.mark.skipif(shutil.which("ffprobe") is None, reason="ffprobe says what is in a video")


def render(*words):
    """Render in this process, and return the exit status."""
    return main(["render", *map(str, words)])


def looked_into(path):
    """Return ffprobe's description of the only stream of a file, with counted frames."""
    command = [
        "ffprobe",
        "-v",
        "error",
        "-count_frames",
        "-show_streams",
        "-show_format",
        "-of",
        "json",
        str(path),
    ]
    streams = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    (stream,) = streams["streams"]
    return {
        **stream,
        "seconds": float(streams["format"]["duration"]),
        "format": streams["format"]["format_name"],
    }


def test_the_frames_are_those_of_snapshot_at_the_same_moments(tmp_path):
    out, options = tmp_path / "film", ("--size", "800x600", "--theme", "dark")
    assert render(PAIR[1], "-o", out, "--from", "20", "--to", "24", "--fps", "16", *options) == 0
    assert len(list(out.iterdir())) == 2 * 4 + 16
    for moment in (20, 24):
        snapshot(PAIR[1:], tmp_path / "one.png", moment=moment, theme="dark", size=(800, 600))
        ours = QImage(str(out / f"frame-{2 * (moment - 20) + 1:05}.png")).convertToFormat(
            QImage.Format.Format_RGB32
        )
        assert ours == QImage(str(tmp_path / "one.png")).convertToFormat(QImage.Format.Format_RGB32)
    between = [QImage(str(out / f"frame-{i:05}.png")) for i in (1, 2, 3)]
    assert between[1] not in (between[0], between[2])  # what moves is drawn on its way


def test_backwards_shows_the_same_frames(tmp_path):
    look = ("--size", SIZE, "--speed", "4", "--fps", "8", "--hold", "0")
    assert render(TINY, "-o", tmp_path / "there", "--from", "10", "--to", "13", *look) == 0
    assert render(TINY, "-o", tmp_path / "back", "--from", "13", "--to", "10", *look) == 0
    there, back = (sorted((tmp_path / name).iterdir()) for name in ("there", "back"))
    assert [a.read_bytes() for a in there] == [b.read_bytes() for b in reversed(back)]
    assert len({a.read_bytes() for a in there}) > 3


def test_the_same_command_makes_the_same_file(tmp_path):
    for name in ("a.gif", "b.gif"):
        assert render(TINY, "-o", tmp_path / name, "--to", "3", "--size", SIZE, "--fps", "10") == 0
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


@probe
@pytest.mark.parametrize(("suffix", "form"), [(".mp4", "mp4"), (".webm", "webm")])
def test_size_length_and_frames_of_a_video(tmp_path, suffix, form):
    pytest.importorskip("av")
    path = tmp_path / f"a{suffix}"
    assert render(TINY, "-o", path, "--from", "2", "--to", "4", "--size", "641x399", *TEN_SECONDS) == 0
    film = looked_into(path)
    assert form in film["format"]
    assert (film["width"], film["height"], int(film["nb_read_frames"])) == (642, 400, 21)
    assert film["seconds"] == pytest.approx(2.1) and film["pix_fmt"] == "yuv420p"
    assert film["r_frame_rate"] == "10/1"


@probe
def test_size_and_length_of_a_gif_whose_delays_are_hundredths(tmp_path, capsys):
    path = tmp_path / "a.gif"
    assert (
        render(TINY, "-o", path, "--from", "2", "--to", "4", "--size", SIZE, "--speed", "1", "--fps", "30")
        == 0
    )
    assert "33.33 frames a second instead of 30" in capsys.readouterr().err
    film = looked_into(path)
    assert (film["width"], film["height"]) == (640, 400)
    assert film["seconds"] == pytest.approx(3.0, abs=0.04)  # two moments, and a second at the end


def test_the_length_is_printed_before_and_the_name_after(tmp_path, capsys):
    assert render(TINY, "-o", tmp_path / "a.gif", "--to", "2", "--size", SIZE, "--speed", "2") == 0
    output = capsys.readouterr()
    assert output.out == f"{tmp_path / 'a.gif'}\n"
    assert "2.0 s, 40 frames of 640 x 400 pixels, about" in output.err


def test_only_the_memory_pictures_and_phases(tmp_path):
    look = ("--size", SIZE, "--fps", "2", "--hold", "0")
    places = ("--from", "phase 1", "--to", "end of phase 1")
    assert render(TINY, "-o", tmp_path / "whole", *places, *look) == 0
    assert render(TINY, "-o", tmp_path / "part", *places, *look, "--part", "memory") == 0
    complete, part = (QImage(str(tmp_path / name / "frame-00001.png")) for name in ("whole", "part"))
    assert complete.size() == part.size() and complete != part
    snapshot([TINY], tmp_path / "at.png", moment=first_moment_of_phase(1), size=(640, 400))
    assert QImage(str(tmp_path / "at.png")).convertToFormat(complete.format()) == complete


def first_moment_of_phase(phase):
    from tilescope.app.cli.counters import trace_sessions
    from tilescope.app.model.phase_steps import phase_span

    (session,) = trace_sessions([TINY])
    return phase_span(session, 0, phase)[0] + 1


def test_steps_of_a_lecture_stay_as_long_as_one_reads(tmp_path, capsys):
    folder = tmp_path / "steps"
    words = (
        "tiling",
        "-o",
        folder,
        "--from",
        "3",
        "--to",
        "4",
        "--captions",
        "--size",
        "800x450",
        "--fps",
        "1",
    )
    assert render(*words) == 0
    frames = sorted(folder.iterdir())
    assert f"{len(frames)} frames" in capsys.readouterr().err
    different = [path.read_bytes() for path in frames]
    assert len(set(different)) > 8  # a question, its answer, and ten seconds of a kernel at work
    assert different[0] == different[1] != different[-1] == different[-2]


def test_a_step_plays_after_the_answer_to_its_question(tmp_path):
    look = ("--captions", "--size", "800x450", "--fps", "2", "--hold", "0", "--from", "2", "--to", "2")
    assert render("first", "-o", tmp_path / "asked", *look) == 0
    frames = [path.read_bytes() for path in sorted((tmp_path / "asked").iterdir())]
    assert len(set(frames[:7])) == 1  # three seconds to think, and a frame
    assert len(set(frames[7:])) > 4  # four accesses, from the first moment on


def test_a_step_without_its_caption_asks_nothing(tmp_path):
    look = ("--size", "640x360", "--fps", "1", "--hold", "1", "--from", "3", "--to", "3")
    assert render("tiling", "-o", tmp_path / "plain", *look) == 0
    assert [path.name for path in (tmp_path / "plain").iterdir()] == ["frame-00001.png"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((TINY, "-o", "a.avi"), "must end with .mp4"),
        ((TINY, "-o", "gone/a.gif"), "there is no folder"),
        ((TINY, "-o", "."), "Choose a new or an empty folder"),
        ((TINY, "-o", "a.gif", "--from", "soon"), "is not a place in time"),
        ((TINY, "-o", "a.gif", "--to", "phase 99"), "There is no phase 99"),
        ((TINY, "-o", "a.gif", "--fps", "0"), "whole number from 1 on"),
        ((TINY, "-o", "a.mp4", "--fps", "999"), "--fps must be 120 at most"),
        ((TINY, "-o", "a.gif", "--speed", "0"), "is not a speed; write moments a second"),
        (
            (TINY, "-o", "a.gif", "--playhead", "3"),
            "--playhead can't be used here: it applies to a single picture",
        ),
        (
            ("tiling", "-o", "a.gif", "--colour", "reads"),
            "--colour can't be used here: its steps decide",
        ),
        ((TINY, "-o", "a.gif", "--hold", "-1"), "must be a number from 0 to 600"),
        (
            (TINY, "-o", "a.mp4", "--size", "8192x400", "--scale", "2"),
            "at most 8,192 pixels a side, not 16,384",
        ),
        (
            (TINY, "-o", "frames", "--size", "8192x8192", "--scale", "4"),
            "A frame has at most 67,108,864 pixels",
        ),
        (("matmul-tild", "-o", "a.gif"), "did you mean matmul-tiled"),
        (("none.npz", "-o", "a.gif"), "there is no file none.npz"),
        (("none.md", "-o", "a.gif"), "There is no file none.md"),
        (("tiling", "-o", "a.gif", "--from", "77"), "are steps from 1 to 16"),
        (("tiling", "-o", "a.gif", "--from", "3", "--to", "2"), "swap --from and --to"),
    ],
)
def test_what_cannot_be_recorded_is_a_sentence(tmp_path, monkeypatch, capsys, words, sentence):
    (tmp_path / "mine.txt").write_text("mine")
    monkeypatch.chdir(tmp_path)
    assert render(*words) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert sentence in error and "Traceback" not in error
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_hour_by_mistake_is_refused(tmp_path, capsys):
    path = tmp_path / "a.gif"
    assert render(TINY, "-o", path, "--speed", "0.1", "--hold", "600", "--fps", "2", "--size", SIZE) == 2
    error = capsys.readouterr().err
    assert " min " in error and "about" in error and "--long" in error
    assert not path.exists()


def test_a_folder_that_may_not_be_written_is_a_sentence(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert render(TINY, "-o", tmp_path / "a.gif") == 2
    assert f"the folder {tmp_path} is read-only" in capsys.readouterr().err


def test_without_pyav_a_sentence_names_the_package_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    assert render(TINY, "-o", tmp_path / "a.mp4") == 2
    assert "install the extra video (pip install av)" in capsys.readouterr().err
    with pytest.raises(PictureError):
        video_file.check_video(".webm")


def started(*words, **options):
    """Start the command in a new process."""
    command = [sys.executable, "-m", "tilescope", "render", *map(str, words)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **options)


def test_a_full_disk_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.gif"
    path.write_bytes(b"old")
    limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))}
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}  # Python 3.11 would leave half a file of it
    process = started(TINY, "-o", path, "--size", "1280x800", env=environment, **limit)
    error = process.communicate()[1]
    assert process.returncode == 2, error
    assert error.splitlines()[-1] == f"tilescope: {path} could not be written: File too large."
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_ctrl_c_in_the_midst_leaves_the_old_file_and_no_half_one(tmp_path):
    path = tmp_path / "a.gif"
    path.write_bytes(b"old")
    slow = ("--speed", "0.2", "--fps", "20", "--size", "1280x800")
    process = started(TINY, "-o", path, *slow, start_new_session=True)
    until(lambda: list(tmp_path.glob(TEMPORARY)) or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 130, error
    assert error.count("\n") == 1, error  # what was to come, and no traceback
    assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == b"old"


def test_a_trace_file_is_recorded(tmp_path):
    from tilescope.app.cli.counters import trace_sessions
    from tilescope.tracer.storage.trace_file import save

    (session,) = trace_sessions([TINY])
    save(session.trace, tmp_path / "mine.npz")
    assert render(tmp_path / "mine.npz", "-o", tmp_path / "a.webp", "--to", "2", "--size", SIZE) == 0
    with Image.open(tmp_path / "a.webp") as file:
        assert file.size == (640, 400) and file.n_frames > 3


@pytest.mark.parametrize(
    "option",
    [("--fps", "30"), ("--captions",), ("--part", "memory"), ("--colour", "reads"), ("--edit", "left:1=x")],
)
def test_what_only_films_have_is_refused_for_a_replay(tmp_path, capsys, option):
    assert render(TINY, "-o", tmp_path / "a.html", *option) == 2
    assert f"{option[0]} is for films" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
