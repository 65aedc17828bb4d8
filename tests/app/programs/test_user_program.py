"""A program of the user's in the window: run under the tracer, shown, run again when it is saved."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QTest

from tilescope.app.editing.model.version_differences import OTHER_INPUTS
from tilescope.app.model.settings import load
from tilescope.app.programs import program_job
from tilescope.app.state.actions import Focus, ShowTab
from windows import act, open_window, settle, wait_until

COPY = """
import numpy as np
from numba import cuda

def make():
    from numba import cuda as hidden
    @hidden.jit
    def copy(a, out):
        i = hidden.grid(1)
        out[i] = a[i]
    return copy

copy = make()
copy[2, 8](np.arange(16, dtype=np.float32), np.zeros(16, np.float32))
"""


@pytest.fixture
def window():
    with open_window(("matmul-tiled:m=8,k=8,n=8,tile=8",)) as main_window:
        yield main_window


def launches(window) -> list[tuple[str, int]]:
    return [(s.trace.kernel, len(s.trace)) for s in window.stage.sessions if s is not None]


def test_a_program_is_shown_and_run_again_when_it_is_saved(window, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(COPY)
    window.files.run_program(str(path))
    wait_until(lambda: launches(window) == [("copy", 32)] and window.stage.is_settled())
    assert window.stage.sessions[0].trace.sources[str(path)] == COPY
    path.write_text(COPY.replace("copy[2, 8]", "copy[1, 8]"))
    wait_until(lambda: launches(window) == [("copy", 16)])


def test_a_program_that_changes_itself_is_run_ever_more_seldom(window, tmp_path, monkeypatch):
    monkeypatch.setattr(
        program_job, "SLOWER", 1000
    )  # the third run is minutes away, however busy the machine is
    path = tmp_path / "mine.py"
    path.write_text("open(__file__, 'a').write('\\n')\n")
    window.files.run_program(str(path))
    wait_until(lambda: window.files.program.runs == 2)
    wait_until(lambda: len(path.read_text().splitlines()) == 3)
    QTest.qWait(3 * program_job.SAVING_DELAY)
    assert window.files.program.runs == 2


def test_two_launches_stand_side_by_side(window, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(COPY + "copy[1, 4](np.zeros(4, np.float32), np.zeros(4, np.float32))\n")
    window.files.run_program(str(path))
    wait_until(lambda: launches(window) == [("copy", 32), ("copy", 8)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("print(1)\n", "launches no kernel"),
        ("import sys\nsys.exit('no such thing')\n", "no such thing"),
        ("import os\nos.abort()\n", "ended with signal 6: it printed no message"),
        ("import sys\nsys.exit(3)\n", "ended with exit code 3: it printed no message"),
        ("import math\ndef f(:\n", "SyntaxError: invalid syntax (line 2)"),
        (
            "import math\n\ndef half():\n    return 1 / 0\n\nhalf()\n",
            "ZeroDivisionError: division by zero (line 4)",
        ),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_the_picture_stays(window, tmp_path, text, message):
    before = launches(window)
    path = tmp_path / "mine.py"
    path.write_text(text)
    window.files.run_program(str(path))
    wait_until(lambda: message in window.notice.sentence.text())
    assert "mine.py" in window.notice.sentence.text()
    assert launches(window) == before


OUTSIDE = """
import numpy as np
from numba import cuda

@cuda.jit
def late(out):
    t = cuda.threadIdx.x
    out[t * 10_000_000] = t

late[1, 8](np.zeros(8, np.float32))
"""


def test_an_access_that_ends_a_launch_is_reported_in_the_words_of_the_window(window, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OUTSIDE)
    window.files.run_program(str(path))
    wait_until(lambda: window.notice.message_type == "error")
    sentence = window.notice.sentence.text()
    assert "thread (1, 0, 0) of block (0, 0, 0): out[10000000] lies" in sentence
    assert "(line 10)" in sentence
    assert "tid" not in sentence


def test_launches_are_called_by_kernel_program_and_number(window, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(COPY + 3 * "copy[1, 4](np.zeros(4, np.float32), np.zeros(4, np.float32))\n")
    window.files.run_program(str(path))
    wait_until(lambda: launches(window) == [("copy", 32), ("copy", 8)] and window.stage.is_settled())
    settle(window)
    names = ["copy · mine.py · launch 1", "copy · mine.py · launch 2"]
    assert [session.title for session in window.stage.sessions] == names
    assert [combo.currentText() for combo in window.toolbar.scenario_combos] == [
        "copy · launch 1",
        "copy · launch 2",
    ]


def test_traces_that_go_with_the_window_are_not_remembered(tmp_path):
    path, settings = tmp_path / "mine.py", tmp_path / "window.json"
    path.write_text(COPY)
    with open_window(("matmul-tiled:m=8,k=8,n=8,tile=8",), settings=settings) as window:
        window.look.use("dark")
        window.files.run_program(str(path))
        wait_until(lambda: launches(window) == [("copy", 32)] and window.stage.is_settled())
        assert window.settings.recent == ()
    remembered, complaint = load(settings)
    assert complaint == "" and remembered.bookmark is not None
    assert (remembered.bookmark.panes, remembered.bookmark.theme) == ((), "dark")


def test_a_program_without_end_is_ended_by_escape(window, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("while True:\n    pass\n")
    window.files.run_program(str(path))
    wait_until(lambda: window.files.program.runs == 1)
    window.escape()
    assert "ended" in window.notice.news.sentence.text()
    assert not window.files.program.stop()


def test_a_dropped_program_runs_only_after_the_user_agrees(window, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(COPY)
    window.files.take_dropped(str(path))
    assert window.files.program is None
    window.notice.answers[0].click()
    wait_until(lambda: launches(window) == [("copy", 32)])


SUM = """
import numpy as np
from numba import cuda, float32

@cuda.jit
def total(a, out):
    s = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    s[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    if t == 0:
        for k in range(8):
            out[cuda.blockIdx.x] += s[k]

{}
"""
LAUNCH = "total[2, 8](np.random.rand(16).astype(np.float32), np.zeros(2, np.float32))"


@pytest.mark.parametrize(
    "end", [LAUNCH, f"def main():\n    {LAUNCH}\nmain()", f'if __name__ == "__main__":\n    {LAUNCH}']
)
def test_another_order_is_chosen_for_an_ordinary_program_without_a_question(window, tmp_path, end):
    path = tmp_path / "sum.py"
    path.write_text(SUM.format(end))
    window.files.run_program(str(path))
    wait_until(lambda: [kernel for kernel, _ in launches(window)] == ["total"])
    settle(window)
    window.toolbar.schedule.put("random")
    window.toolbar.ask()
    wait_until(lambda: window.stage.sessions[0].launch.schedule.kind == "random")
    settle(window)
    assert window.notice.sentences() == []
    assert window.stage.setups[0].schedule.kind == "random"
    assert window.side.source.text() == path.read_text()
    assert window.stage.sessions[0].title == "total · sum.py · launch 1"


def test_versions_with_other_random_inputs_are_not_compared(window, tmp_path):
    path = tmp_path / "sum.py"
    path.write_text(SUM.format(LAUNCH).replace("    cuda.syncthreads()\n", ""))
    window.files.run_program(str(path))
    wait_until(lambda: [kernel for kernel, _ in launches(window)] == ["total"])
    settle(window)
    source = window.side.source
    source.write(source.text().replace("    if t == 0:", "    cuda.syncthreads()\n    if t == 0:"))
    window.commands["Run the edited kernel"].trigger()
    wait_until(lambda: len(window.stage.sessions) == 2 and window.stage.is_settled())
    settle(window)
    texts = window.editing.bar.texts()
    assert any("race" in text and "fewer" in text for text in texts)
    assert OTHER_INPUTS in texts and not any("the result" in text for text in texts)
    window.commands["Undo all edits"].trigger()
    settle(window)


MANY = """
import numpy as np
from numba import cuda

@cuda.jit
def shift(a, out, by):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i + by]

for n in range(20):
    shift[1, 32](np.zeros(32, np.int32), np.zeros(32, np.int32), n // 15)
"""


def combo_texts(combo):
    return [combo.itemText(n) for n in range(combo.count())]


def test_the_first_launch_with_an_error_is_shown_and_all_are_listed(window, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MANY)
    window.files.run_program(str(path))
    wait_until(
        lambda: (
            [s and s.title for s in window.stage.sessions]
            == [f"shift · mine.py · launch {n}" for n in (16, 17)]
        )
    )
    wait_until(lambda: "20 launches" in window.notice.news.sentence.text())
    assert window.notice.news.sentence.text() == (
        "The program mine.py made 20 launches. 5 of 20 launches have errors, the first is launch 16. "
        "The list of each pane has all launches."
    )
    assert window.notice.sentences() == []
    wait_until(lambda: [problem.line for problem in window.side.source.problems.problems] == [9])
    combo = window.toolbar.scenario_combos[0]
    assert combo_texts(combo)[:2] == ["Launches of mine.py", "shift · launch 1"]
    assert combo_texts(combo)[20] == "shift · launch 20 · 1 error"
    assert combo.currentText() == "shift · launch 16 · 1 error"
    combo.setCurrentIndex(7)
    combo.activated.emit(7)
    wait_until(lambda: window.stage.sessions[0] and window.stage.sessions[0].title.endswith("launch 7"))
    settle(window)
    act(window, Focus(0))
    act(window, ShowTab("findings"))
    wait_until(lambda: window.stage.sessions[0].is_examined)
    settle(window)
    findings = window.side.view("findings")
    wait_until(lambda: "launch 16" in findings.empty.text())
    assert findings.empty.text() == (
        "No findings in this launch. 5 of 20 launches have errors, the first is launch 16."
    )


def test_a_scenario_chosen_while_launches_are_listed_replaces_one(window, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MANY.replace("n // 15", "0"))
    window.files.run_program(str(path))
    wait_until(lambda: "No error was found" in window.notice.news.sentence.text())
    assert [setup.file[-13:] for setup in window.stage.setups] == ["000-shift.npz", "001-shift.npz"]
    combo = window.toolbar.scenario_combos[0]
    index = combo.findData("vector-double")
    combo.setCurrentIndex(index)
    combo.activated.emit(index)
    wait_until(lambda: window.stage.setups[0].scenario == "vector-double" and window.stage.is_settled())
    assert "shift · launch 20" in combo_texts(combo)


PLAIN = """
import numpy as np
from numba import cuda

@cuda.jit
def copy(a, out):
    i = cuda.grid(1)
    out[i] = a[i]

copy[2, 8](np.arange(16, dtype=np.float32), np.zeros(16, np.float32))
"""


@pytest.mark.parametrize("runs_edit", [False, True])
def test_an_edit_outlives_a_save_of_the_file_in_another_editor(window, tmp_path, runs_edit):
    path = tmp_path / "mine.py"
    path.write_text(PLAIN)
    window.files.run_program(str(path))
    wait_until(lambda: launches(window) == [("copy", 32)] and window.stage.is_settled())
    settle(window)
    source, edited = window.side.source, path.read_text().replace("= a[i]", "= a[i] + 1")
    source.write(edited)
    if runs_edit:
        window.commands["Run the edited kernel"].trigger()
        wait_until(lambda: len(window.stage.sessions) == 2 and window.stage.is_settled())
        settle(window)
    path.write_text(path.read_text().replace("copy[2, 8]", "copy[1, 8]"))
    wait_until(lambda: launches(window) == [("copy", 16)] and window.stage.is_settled())
    settle(window)
    assert source.text() == path.read_text()
    assert window.notice.sentences() == ["mine.py was changed elsewhere. Your edited text was set aside."]
    (answer,) = window.notice.answers
    assert answer.text() == "Bring it back"
    answer.click()
    assert source.text() == edited
    window.commands["Undo all edits"].trigger()
    settle(window)
