"""What a program finds as `__main__` under `run` is what it finds under python."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from programs import COPY, HEAD, run_tilescope

FINDS = """
import os, sys
print(__file__, sys.argv, sys.path[0], sorted(globals()), __spec__ is None, type(__loader__).__name__)
print(__builtins__.abs(-1), __builtins__ is __import__("builtins"))
os.chdir("/")
print(os.path.exists(os.path.dirname(__file__)))
def fail():
    raise ValueError("no")
if sys.argv[-1] == "fail":
    fail()
"""


def both(folder: Path, *words: str):
    """Return the outputs of a program under `run` and under python, and their exit statuses."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    plain = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, env=environment, check=False
    )
    return run_tilescope("run", "--quiet", *words, folder=folder), plain


@pytest.fixture
def places(tmp_path):
    """A folder with a program in it, by its name, by a link, as a package and in an archive."""
    (tmp_path / "inner").mkdir()
    for name in ("inner/program.py", "inner/__main__.py"):
        (tmp_path / name).write_text(FINDS)
    (tmp_path / "link.py").symlink_to(tmp_path / "inner" / "program.py")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        packed.write(tmp_path / "inner" / "__main__.py", "__main__.py")
    return tmp_path


@pytest.mark.skipif(os.name == "nt", reason="links")
@pytest.mark.parametrize(
    "name", ["inner/program.py", "inner/../inner/program.py", "link.py", "inner", "packed.zip"]
)
def test_a_program_is_main_as_under_python(places, name):
    ours, plain = both(places, name, "word")
    assert plain.returncode == 0
    assert (ours.returncode, ours.stdout, ours.stderr) == (0, plain.stdout, plain.stderr)


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_a_traceback_names_files_as_python_does(places):
    ours, plain = both(places, "link.py", "fail")
    assert (ours.returncode, ours.stderr) == (plain.returncode, plain.stderr)


def test_a_folder_without_main_is_one_sentence(tmp_path):
    done = run_tilescope("run", ".", folder=tmp_path)
    assert (done.returncode, done.stderr) == (2, "tilescope: there is no __main__.py in ..\n")


def test_findings_name_files_as_they_were_given(tmp_path):
    (tmp_path / "mine.py").write_text(COPY + "copy[1, 32](a[:8], out)\n")
    for name in ("mine.py", str(tmp_path / "mine.py")):
        assert run_tilescope("check", name, folder=tmp_path).stdout.startswith(f"{name}:")


@pytest.mark.parametrize("call", ["copy[1, 1](a)", "copy[1, 1](a, out, a)"])
def test_a_wrong_number_of_arguments_is_one_sentence(script, tmp_path, call):
    path = script(COPY + f"try:\n    {call}\nexcept TypeError as error:\n    print(error)\n")
    ours, plain = both(tmp_path, str(path))
    assert ours.returncode == plain.returncode == 0
    assert ours.stdout.startswith("copy takes 2 arguments, but ")


def test_arguments_may_have_defaults(script, tmp_path):
    path = script(
        HEAD
        + "@cuda.jit\ndef fill(a, n=5):\n    a[cuda.grid(1)] = n\n\na = np.zeros(4)\nfill[1, 4](a)\nprint(a)\n"
    )
    ours, plain = both(tmp_path, str(path))
    assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout) == (0, "[5. 5. 5. 5.]\n")


def test_launches_of_several_threads_wait_for_each_other(script, tmp_path):
    path = script(
        COPY
        + """
from concurrent.futures import ThreadPoolExecutor

def work(n):
    out = np.zeros(40, np.int32)
    copy[2, 32](a + n, out)
    return int(out.sum())

with ThreadPoolExecutor(8) as pool:
    print(sum(pool.map(work, range(64))))
"""
    )
    done = run_tilescope("run", str(path), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{64 * 780 + 40 * 63 * 32}\n"), done.stderr
    assert "65 launches traced" in done.stderr
