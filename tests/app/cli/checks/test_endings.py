"""How programs end under `run` and `check`: as under python, and what was recorded is kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from folders import ROOT
from patience import PATIENCE
from programs import COPY, HEAD, RACE, messages_of, run_tilescope
from tilescope.tracer.storage.trace_file import load

ENDLESS = (
    HEAD
    + """
@cuda.jit
def spin(flag):
    n = 0
    while flag[0] == 0:
        n += 1

copied = np.zeros(4)
print("ready", flush=True)
spin[1, 1](copied)
"""
)


def started(*words, folder):
    command = [sys.executable, "-m", "tilescope", *words]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_in_the_middle_of_a_kernel_ends_it_and_keeps_the_launches_before(script, tmp_path):
    path = script(COPY + ENDLESS.removeprefix(HEAD))
    with started("run", "--json=lines.json", str(path), folder=tmp_path) as process:
        lines = []
        while "spin has run for" not in (line := process.stderr.readline()):
            assert line, "".join(lines)
            lines.append(line)
        process.send_signal(signal.SIGINT)
        output = "".join(lines) + process.stderr.read()
        process.wait(PATIENCE)
    assert process.returncode == 130
    assert "tilescope: Ctrl+C ended the launch" in output and "traced in" in output
    assert len(load(tmp_path / "tilescope-traces" / "000-copy.npz")) == 80
    assert json.loads((tmp_path / "lines.json").read_text().splitlines()[0])["kernel"] == "copy"


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_check_prints_its_findings_before_ctrl_c(script, tmp_path):
    path = script(RACE + ENDLESS.removeprefix(HEAD))
    with started("check", str(path), folder=tmp_path) as process:
        assert process.stderr.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert ": error: race: " in out


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_in_the_import_of_a_library_names_only_the_programs_line(script, tmp_path):
    (tmp_path / "site-packages").mkdir()
    library = "import sys, time, types\nsys.modules['numpy'] = types.ModuleType('numpy')  # half imported\n"
    (tmp_path / "site-packages" / "slow.py").write_text(
        library + "print('ready', flush=True)\ntime.sleep(60)\n"
    )
    path = script("import sys\nsys.path.append('site-packages')\nimport slow\n")
    with started("check", str(path), folder=tmp_path) as process:
        assert process.stderr.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    frame = f'  File "{path}", line 3, in <module>\n    import slow\n'
    assert (out, err) == ("", f"Traceback (most recent call last):\n{frame}KeyboardInterrupt\n")
    assert process.returncode == 130


def closed(command, folder):
    """Run a command with a closed output; return its exit status and its standard error."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        process.stdout.close()
        output = process.stderr.read()
    return process.returncode, output


def test_a_closed_pipe_ends_a_program_as_under_python(script, tmp_path):
    path = script(COPY + "for _ in range(10_000):\n    print('x' * 100, flush=True)\n")
    plain = closed([sys.executable, str(path)], tmp_path)
    ours = closed([sys.executable, "-m", "tilescope", "run", str(path)], tmp_path)
    assert ours[0] == plain[0] != 0
    assert "BrokenPipeError" in plain[1] and "BrokenPipeError" in ours[1]
    assert len(list((tmp_path / "tilescope-traces").iterdir())) == 1


def test_check_with_a_closed_output_ends_without_a_traceback(script, tmp_path):
    status, errors = closed([sys.executable, "-m", "tilescope", "check", str(script(RACE))], tmp_path)
    assert status == 1 and "Error" not in errors


def test_what_a_program_reads_is_its_own_input(script, tmp_path):
    path = script(RACE + "print(input())\n")
    done = run_tilescope("check", str(path), folder=tmp_path, input="typed\n")
    assert "typed" in done.stderr and done.returncode == 1


def test_a_program_that_launches_nothing_does_not_pass(script, tmp_path):
    done = run_tilescope("check", str(script("print(1)")), folder=tmp_path)
    message = "1\ntilescope: the program launched no kernel, so nothing was checked.\n"
    assert (done.returncode, done.stdout, messages_of(done)) == (2, "", message)
    assert run_tilescope("check", "--format", "json", str(script("")), folder=tmp_path).stdout == "[]\n"


@pytest.mark.parametrize("ending", ["raise ValueError(1)", "import os\nos._exit(3)"])
def test_a_program_that_fails_is_not_reported_as_free_of_findings(script, tmp_path, ending):
    done = run_tilescope("check", str(script(COPY + ending + "\n")), folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "no findings before it ended\n")
    assert "launched no kernel" not in run_tilescope("check", str(script(ending)), folder=tmp_path).stderr


def test_findings_are_printed_when_a_program_leaves_by_os_exit(script, tmp_path):
    done = run_tilescope("check", str(script(RACE + "import os\nos._exit(0)\n")), folder=tmp_path)
    assert done.returncode == 1
    assert done.stdout.count(": error: race: ") == 1


@pytest.mark.parametrize(
    ("ending", "status"), [("sys.exit(0)", 0), ("sys.exit(3)", 2), ("sys.exit('why')", 2)]
)
def test_check_of_a_program_that_ends_itself(script, tmp_path, ending, status):
    assert run_tilescope("check", str(script(COPY + ending)), folder=tmp_path).returncode == status


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("command", ["run", "check"])
def test_launches_of_children_are_reported_as_missing(script, tmp_path, command):
    pool = "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n    {}\n"
    launching = script(COPY.replace("copy[2, 32](a, out)", "def work(n):\n    copy[2, 32](a, out)") + pool.format(
        "pool.map(work, range(3))"
    ))  # fmt: skip
    done = run_tilescope(command, str(launching), folder=tmp_path)
    sentences = {
        "run": "kernels were also launched in child processes; those launches are not traced.",
        "check": "tilescope: not traced: launches in child processes",
    }
    assert done.stderr.count(sentences[command]) == 1
    assert done.returncode == (2 if command == "check" else 0)
    quiet = run_tilescope(command, str(script(COPY + pool.format("pool.map(abs, [1])"))), folder=tmp_path)
    assert "child" not in quiet.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_check_of_a_program_that_forks_prints_everything_once(script, tmp_path):
    path = script(
        RACE
        + "import os\nif os.fork() == 0:\n    shift[1, 64](np.zeros(64, np.int32))\nelse:\n    os.wait()\n"
    )
    done = run_tilescope("check", "--format", "json", str(path), folder=tmp_path)
    findings = json.loads(done.stdout)
    assert len([f for f in findings if f["kind"] == "race"]) == 1
    assert done.returncode == 1


@pytest.mark.parametrize("grid", ["0", "(1, 1, 1, 1)"])
def test_a_bad_grid_is_refused_as_by_a_gpu(script, tmp_path, grid):
    done = run_tilescope("check", str(script(COPY + f"copy[{grid}, 8](a, out)\n")), folder=tmp_path)
    assert done.returncode == 2 and "ValueError: copy[" in done.stderr


@pytest.mark.parametrize("ending", ["sys.stdout.close()", "sys.stdout = open('said', 'w')"])
def test_a_program_may_close_or_replace_its_output(script, tmp_path, ending):
    path = script(RACE + ending + "\n")
    done = run_tilescope("check", str(path), folder=tmp_path)
    assert (done.returncode, messages_of(done)) == (1, "")
    assert ": error: race: " in done.stdout
    assert run_tilescope("run", "--quiet", str(path), folder=tmp_path).returncode == 0


# What the README shows


README = (ROOT / "README.md").read_text(encoding="utf-8")


def shown(language):
    return README.partition(f"```{language}\n")[2].partition("```")[0]


def test_the_homework_of_the_readme_is_reported_as_shown_and_passes_once_it_is_mended(tmp_path):
    (tmp_path / "homework.py").write_text(shown("python"))
    wrong = run_tilescope("check", "homework.py", folder=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (1, shown("text"))
    mended = (
        shown("python").replace("= a[t]\n", "= a[t]\n    cuda.syncthreads()\n").replace("0.1", "float32(0.1)")
    )
    (tmp_path / "homework.py").write_text(mended)
    right = run_tilescope("check", "homework.py", folder=tmp_path)
    assert (right.returncode, right.stdout) == (0, "no findings\n")
    (tmp_path / "homework.py").write_text(mended + "assert (out == 0).all()\n")
    assert run_tilescope("check", "homework.py", folder=tmp_path).returncode == 2


def test_the_commands_of_the_workflow_are_ours(tmp_path):
    (command,) = [line.split("run: ")[1] for line in shown("yaml").splitlines() if "run: tilescope" in line]
    (tmp_path / "homework.py").write_text(shown("python"))
    done = run_tilescope(*command.split()[1:], folder=tmp_path)
    assert done.returncode == 1
    first, second = done.stdout.splitlines()
    assert first.startswith("::error file=homework.py,line=10,title=race::64 elements of tile ")
    assert second.startswith("::warning file=homework.py,line=10,title=float64::")


def test_names_of_files_end_no_annotation_early(tmp_path):
    (tmp_path / "a,b:c%.py").write_text(RACE)
    done = run_tilescope("check", "--format", "github", "a,b:c%.py", folder=tmp_path)
    assert done.stdout.startswith("::error file=a%2Cb%3Ac%25.py,line=")


def test_an_endless_recursion_on_the_host_is_reported_as_by_python(tmp_path):
    (tmp_path / "deep.py").write_text(RACE + "def f(n):\n    return f(n + 1)\n\nf(0)\n")
    done = run_tilescope("check", "deep.py", folder=tmp_path)
    assert done.returncode == 1 and "error: race: " in done.stdout
    assert "RecursionError: maximum recursion depth exceeded" in done.stderr
    assert "in f\n    return f(n + 1)" in done.stderr and "run_as_main" not in done.stderr
