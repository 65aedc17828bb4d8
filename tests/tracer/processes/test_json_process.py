"""A process with JSON messages: they arrive, its end is reported, and it leaves nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec
import pytest

from tilescope.tracer.processes.json_process import BLAS_ENVIRONMENT, JsonProcess, StartError

ECHO = """
from tilescope.tracer.processes.json_streams import private_streams, make_sender
source, target = private_streams()
send = make_sender(target)
for line in source:
    print("not for you")
    send([line.decode().strip()])
"""


def python(code: str) -> JsonProcess:
    return JsonProcess("odd process", (sys.executable, "-P", "-c", code))


def test_messages_come_back_in_order_and_prints_do_not_mix_with_them():
    with python(ECHO) as process:
        for message in ({"a": 1}, [2, "ä"]):
            process.send(message)
        process.end_input()
        results = [msgspec.json.decode(line) for line in process.lines()]
        assert results == [['{"a":1}'], ['[2,"ä"]']]
        assert process.describe_death() == "exit code 0: not for you"


@pytest.mark.parametrize("own", ["", "20"])
def test_openblas_threads_stop_spinning_soon_unless_the_user_sets_a_time(
    own: str, monkeypatch: pytest.MonkeyPatch
):
    name = "OPENBLAS_THREAD_TIMEOUT"
    monkeypatch.delenv(name, raising=False)
    if own:
        monkeypatch.setenv(name, own)
    with python(f"import os; print(os.environ[{name!r}])") as process:
        assert [line.decode().strip() for line in process.lines()] == [own or BLAS_ENVIRONMENT[name]]


@pytest.mark.parametrize(
    ("code", "death"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        ("raise SystemExit('one\\n\\ntwo\\n \\n')", "exit code 1: two"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "signal 15"),
        (
            "import os, sys; print('why', file=sys.stderr, flush=True); os.kill(os.getpid(), 9)",
            "signal 9, perhaps for lack of memory: why",
        ),
        (
            "import sys; sys.stdout.write('half a line'); raise SystemExit('x' * 300)",
            "exit code 1: " + "x" * 200,
        ),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_the_death_of_a_process_is_described(code: str, death: str):
    with python(code) as process:
        process.send("to somebody who does not listen")
        assert list(process.lines()) == []
        assert process.describe_death() == death


def test_earlier_output_does_not_explain_a_death():
    output = "import sys; print('old', file=sys.stderr, flush=True); print('[]', flush=True); input()"
    with python(output) as process:
        assert next(process.lines()) == b"[]\n"
        process.forget_errors()
        process.send(0)
        assert process.describe_death() == "exit code 0"


def test_a_process_that_can_not_start_is_reported_by_name(tmp_path: Path):
    with pytest.raises(
        StartError, match=r"^The odd process can't be started \(.*missing.*\); close other programs\.$"
    ):
        JsonProcess("odd process", (str(tmp_path / "missing"),))
    with pytest.raises(StartError, match="odd process"):
        JsonProcess("odd process", (sys.executable,), tmp_path / "no such folder")


def test_the_process_ends_at_the_end(tmp_path: Path):
    with python("input()") as process:
        assert process.poll() is None
    assert process.poll() not in (None, 0)
    process.end()
    process.kill()


@pytest.mark.skipif(os.name != "posix", reason="sessions")
def test_ctrl_c_in_the_terminal_does_not_reach_it():
    with python("import os; print(os.getsid(0) == os.getpid(), flush=True)") as process:
        assert list(process.lines()) == [b"True\n"]
