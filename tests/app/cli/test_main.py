"""The command line, as a user types it: a process, its output and its exit status."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from folders import ROOT
from patience import PATIENCE, wait_for_child
from tilescope import __version__
from tilescope.app.cli.commands import SUBCOMMANDS
from tilescope.app.cli.main import main
from tilescope.app.lectures.model.library import lecture_name, shipped_lectures
from tilescope.kernels.scenarios.catalogue import names
from tilescope.tracer.model.plan import launch_of, parse_spec
from tilescope.tracer.run.worker_client import Worker
from tilescope.tracer.storage.trace_file import save

TILESCOPE = [sys.executable, "-P", "-m", "tilescope"]
SMALL = "matmul-tiled:m=12,k=12,n=12,tile=8"


def tilescope(*arguments, **options):
    """Run the command and return the finished process."""
    return subprocess.run(
        [*TILESCOPE, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False, **options
    )


def refusal(capsys, *arguments):
    """Run a command that must be refused; return its sentence."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"tilescope: [^\n]+[.?]\n", err), err
    return err


def loaded_by(arguments):
    """List the modules that a process has imported after a command line."""
    code = (
        "import json, sys, tilescope.app.cli.main as cli\n"
        f"try: cli.main({arguments!r})\n"
        "except SystemExit: pass\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
    assert "tilescope" in loaded
    return loaded


HELPS = [[*command.name.split(), "--help"] for command in SUBCOMMANDS]


@pytest.mark.parametrize(
    "arguments", [["list"], ["list", "--x"], ["completion", "zsh"], *HELPS], ids=" ".join
)
def test_words_load_neither_qt_nor_numba(arguments):
    assert not loaded_by(arguments) & {"PySide6", "numba", "pyqtgraph"}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["run", "--help"], ["check", "--help"]], ids=" ".join
)
def test_words_that_need_no_catalogue_load_nothing_slow(arguments):
    assert not loaded_by(arguments) & {"PySide6", "numba", "pyqtgraph", "numpy", "msgspec"}


def test_help_names_every_command_and_version_is_the_packages():
    text = tilescope("--help", env=os.environ | {"COLUMNS": "100"}).stdout
    for command in SUBCOMMANDS:
        assert re.search(rf"^ +{command.name} +{re.escape(command.help)}$", text, re.MULTILINE)
    assert tilescope("--version").stdout == f"tilescope {__version__}\n"


def test_list_prints_a_scenario_a_line_its_name_first_then_the_lectures():
    done = tilescope("list")
    lines = done.stdout.splitlines()
    assert tuple(line.split()[0] for line in lines[: len(names())]) == names()
    assert [line.split()[:2] for line in lines[len(names()) :]] == [
        ["lecture", lecture_name(p)] for p in shipped_lectures()
    ]
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tiled"], "did you mean matmul-tiled,"),
        (["matmul-tiled:tile=x"], "tile of matmul-tiled must be 2, 4, 8, 16 or 32, not 'x'"),
        (["matmul-tiled:m=0"], "1 to 4096"),
        (["matmul-tiled", "matmul-tiled", "matmul-tiled"], "two scenarios"),
        (["gone.npz"], "gone.npz"),
        (["gone.npz", "matmul-tiled"], "must be the only argument"),
        (["--speed", "3"], "--speed"),
        (["list", "matmul-tiled"], "matmul-tiled"),
        (["counters", "matmul-tiled:a=gone.npy"], "gone.npy cannot be read"),
        (["snapshot", "matmul-tiled"], "-o"),
        (["snapshot", "matmul-tiled", "-o", "x.png", "--moment", "1", "--phase", "2"], "not allowed with"),
        (["snapshot", "matmul-tiled", "-o", "x.png", "--moment", "-1"], "whole number from 0 on"),
        (["snapshot", "matmul-tiled", "-o", "x.png", "--size", "big"], "WIDTHxHEIGHT"),
        (["snapshot", "matmul-tiled", "-o", "x.png", "--size", "9x9"], "320 to 8192"),
        (["snapshot", "matmul-tiled", "-o", "x.png", "--scale", "nan"], "0.5 to 4"),
        (["snapshot", "matmul-tiled", "-o", "x.png", "--theme", "blue"], "'light', 'dark'"),
        (["snapshot", "matmul-tild", "-o", "x.png"], "did you mean matmul-tiled"),
    ],
)
def test_what_is_wrong_gets_one_sentence(capsys, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert words in refusal(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_created_is_reported(capsys, tmp_path):
    (tmp_path / "file").touch()
    assert str(tmp_path) in refusal(capsys, "frames", SMALL, "-o", str(tmp_path / "file" / "frames"))


def test_counters_are_those_of_the_trace():
    done = tilescope("counters", "matmul-naive-row-on-x", "matmul-tiled")
    assert done.returncode == 0, done.stderr
    rows = {line[:25].strip(): line[25:].split() for line in done.stdout.splitlines()}
    # Read by Nsight Compute on an H200 for the same launches: 64 x 64 x 64, blocks of 16 x 16, float32.
    assert rows["global load requests"] == ["16,384", "exact", "1,024", "exact"]
    assert rows["global load sectors"] == ["139,264", "exact", "4,096", "exact"]
    assert rows["mean reads of A"] == ["64.0×", "exact", "4.0×", "exact"]
    assert "equals NumPy" in done.stdout


def test_a_result_that_is_right_by_luck_is_named_as_in_the_window():
    done = tilescope("counters", "count-racing:num_blocks=1,threads=2,schedule=sequential")
    assert "equals NumPy by luck: other orders may differ" in done.stdout, done.stderr


def test_counters_of_chosen_blocks_are_marked_as_a_part():
    text = tilescope("counters", "matmul-tiled:blocks=0").stdout
    assert "part" in text
    assert "exact" not in text


def test_counters_of_a_users_matrices(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(15, dtype=np.int32).reshape(3, 5))
    done = tilescope("counters", "matmul-tiled:a=a.npy,n=4,tile=8", cwd=tmp_path)
    assert "equals NumPy exactly" in done.stdout, done.stderr


def test_a_trace_file_has_the_counters_of_its_launch(tmp_path):
    scenario, values, options = parse_spec(SMALL)
    worker = Worker()
    save(worker.run(launch_of(scenario, values, **options)), tmp_path / "kept.npz")
    worker.close()
    rows = [
        tilescope("counters", source, cwd=tmp_path).stdout.splitlines()[1:] for source in (SMALL, "kept.npz")
    ]
    named, kept = (
        [line.removeprefix(title).split() for line in lines]
        for title, lines in zip((f"{scenario.title}: ", "kept: "), rows, strict=True)
    )
    assert named == kept


def test_a_damaged_trace_file_is_reported(capsys, tmp_path):
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 not a trace")
    assert "bad.npz" in refusal(capsys, "counters", str(tmp_path / "bad.npz"))


@pytest.mark.skipif(sys.platform != "linux", reason="screens that may be missing")
def test_without_a_display_the_window_is_refused(capsys, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert "there is no display" in refusal(capsys, "matmul-tiled")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_ctrl_c_ends_quietly():
    slow = [*TILESCOPE, "counters", "matmul-tiled:m=512,k=512,n=512"]
    with subprocess.Popen(slow, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for_child(process)  # which traces
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (out, err, process.returncode) == ("", "", 130)


INTERRUPTED_IMPORT = """
import os, signal, sys
class Finder:
    def find_spec(name, path=None, target=None):
        if name == "MODULE":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder)
from tilescope.app.cli.entry import main
sys.exit(main())
"""


def interrupted_in_import(module, code, *words):
    """Run a command that gets Ctrl+C when it imports a module."""
    program = code + INTERRUPTED_IMPORT.replace("MODULE", module)
    return subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
    )


INTERRUPTED_CLASS = """
import sys
class Interrupted:
    def __set_name__(self, owner, name):
        raise KeyboardInterrupt
class Finder:
    def find_spec(name, path=None, target=None):
        if name == "tilescope.tracer.run.worker_client":
            type("Class", (), {"attribute": Interrupted()})
sys.meta_path.insert(0, Finder)
from tilescope.app.cli.main import main
sys.exit(main(["counters", "matmul-tiled"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")
@pytest.mark.parametrize("ignored", [False, True], ids=["terminal", "background job"])
def test_ctrl_c_while_the_command_line_is_imported_ends_quietly(ignored):
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)" if ignored else ""
    done = interrupted_in_import("tilescope.app.cli.main", code, "--version")
    assert (done.stderr, done.returncode) == ("", 0 if ignored else -signal.SIGINT)


@pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")
@pytest.mark.parametrize("words", [(), ("matmul-tiled",), ("open", "matmul-tiled"), ("lecture", "tiling")])
def test_ctrl_c_until_the_window_handles_it_ends_quietly(words):
    """KeyboardInterrupt would be lost in some of the imports, and the window would open."""
    done = interrupted_in_import("tilescope.app.window.start", "", *words)
    assert (done.stderr, done.returncode) == ("", -signal.SIGINT)


@pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")
def test_ctrl_c_while_python_makes_a_class_ends_quietly():
    """Python 3.11 makes a RuntimeError of it."""
    command = [sys.executable, "-c", INTERRUPTED_CLASS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 130)


@pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")
def test_a_reader_that_leaves_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*TILESCOPE, "list"], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.stderr, done.returncode) == (b"", 0)


def png_size(path):
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])


def test_frames_are_pictures_in_order_and_a_table(tmp_path):
    done = tilescope("frames", SMALL, "-o", "out", "--size", "800x600", "--scale", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    pictures = sorted((tmp_path / "out").iterdir())
    assert [p.name for p in pictures][:3] == ["00-start.png", "01-load-tile-0.png", "02-compute-tile-0.png"]
    assert pictures[-1].name.endswith("-end.png")
    assert {png_size(picture) for picture in pictures} == {(800, 600)}
    assert len({picture.read_bytes() for picture in pictures}) == len(pictures)
    assert "global load requests" in done.stdout


def test_a_snapshot_has_the_size_asked_for(tmp_path):
    look = ["--phase", "1", "--theme", "dark", "--size", "800x600", "--scale", "2", "--text-size", "1.2"]
    done = tilescope("snapshot", SMALL, "-o", "dark.png", *look, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert png_size(tmp_path / "dark.png") == (1600, 1200)


def test_a_snapshot_that_cannot_be_written_is_reported(tmp_path):
    done = tilescope("snapshot", SMALL, "-o", "gone/x.png", cwd=tmp_path)
    assert done.returncode == 2
    assert re.search(r"^tilescope: .*gone.x\.png.*\.$", done.stderr, re.MULTILINE)
    assert "Traceback" not in done.stderr


def wheel_of(folder):
    """Build a wheel from a copy of the checkout, so that nothing is left in it."""
    ignored = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "tilescope-frames")
    shutil.copytree(ROOT, folder / "copy", ignore=ignored)
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(folder / "copy")]
    done = subprocess.run([sys.executable, "-m", "pip", *build], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_contains_the_complete_package_and_works(tmp_path):
    wheel = wheel_of(tmp_path)
    assert f"-{__version__}-" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        files = set(archive.namelist())
        archive.extractall(tmp_path / "site")
    sources = [
        p.relative_to(ROOT)
        for layer in ("api", "app", "kernels", "tracer")
        for p in (ROOT / layer).rglob("*.py")
    ]
    assert {f"tilescope/{path.as_posix()}" for path in sources} <= files
    assert {"tilescope/__init__.py", "tilescope/__main__.py", "tilescope/py.typed"} <= files
    assert not [name for name in files if "tests/" in name]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    code = "import tilescope; print(tilescope.__file__)"
    where = subprocess.run(
        [sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert where.stdout.startswith(str(tmp_path))
    assert tilescope("list", env=environment).stdout.split()[0] == names()[0]
    assert "equals NumPy" in tilescope("counters", SMALL, env=environment).stdout
