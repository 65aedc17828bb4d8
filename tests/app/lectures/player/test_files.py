"""The files of a lecture: saved, broken, replaced and removed while it is shown, and other files in its folder."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent

from cuda_cpp import needs_compiler
from presenting import LECTURE, TILED, capture_window, go_to_step, present, wait_for_step, write_lecture
from sessions import application, matmul
from tilescope.app.cli.main import main
from tilescope.app.control.session_jobs import SessionJobs
from tilescope.app.model.first_bookmark import first_bookmark
from tilescope.app.model.settings import Settings
from tilescope.app.window.main_window import MainWindow
from tilescope.tracer.model.plan import kernel_source
from tilescope.tracer.storage.trace_file import save
from windows import lent_worker, open_window, press, settle, wait_until

PROGRAM = """
import numpy as np
from numba import cuda

@cuda.jit
def copy(a, out):
    i = cuda.grid(1)
    out[i] = a[i]

for n in (16, 32):
    copy[2, n // 2](np.arange(n, dtype=np.float32), np.zeros(n, np.float32))
"""


@pytest.fixture
def player(window, tmp_path):
    window.resize(1000, 640)
    player = present(window, write_lecture(tmp_path))
    yield player
    player.close()
    wait_for_step(window)
    window.notice.clear()


def notice_text(window) -> str:
    return window.notice.sentence.text() if window.notice.message_type == "error" else ""


def test_a_saved_lecture_is_shown_anew_at_the_same_step(window, player):
    go_to_step(window, 3)
    extra = "## A step before\n\n`at: start`\n\n## To the end"
    player.lecture.path.write_text(LECTURE.replace("## To the end", extra), "utf-8")
    wait_until(lambda: len(player.lecture.steps) == 7)
    wait_for_step(window)
    assert (player.number, player.step.title) == (4, "How many sectors?")
    other = player.lecture.path.with_suffix(".new")  # as some editors do
    other.write_text(LECTURE.replace("## How many sectors?", "## How much?"), "utf-8")
    other.replace(player.lecture.path)
    wait_until(lambda: len(player.lecture.steps) == 6)
    wait_for_step(window)
    assert player.number == 4  # its title is gone, so its number says which it is


def test_mistakes_in_it_are_reported_with_their_line_and_nothing_changes(window, player):
    go_to_step(window, 3)
    before = capture_window(window)
    line = LECTURE[: LECTURE.index("at: middle")].count("\n") + 1
    broken = LECTURE.replace("at: middle of phase 1", "at: nowhere").replace("colour: reads", "colour: green")
    player.lecture.path.write_text(broken, "utf-8")
    wait_until(lambda: bool(notice_text(window)))
    assert notice_text(window).startswith(f"lecture.md, line {line}: 'nowhere' is not a place in time")
    assert notice_text(window).endswith("(1 more)")
    window.notice.clear()
    assert capture_window(window) == before
    player.lecture.path.write_text(LECTURE.replace("at: middle of phase 1", "at: start"), "utf-8")
    wait_until(lambda: window.playhead.moment == 0)
    assert player.number == 3


@pytest.mark.parametrize("harm", ["remove", "bytes"])
def test_a_lecture_that_can_t_be_read_any_more_goes_on(window, player, harm):
    path = player.lecture.path
    path.unlink() if harm == "remove" else path.write_bytes(b"# \xff\xfe")
    wait_until(lambda: bool(notice_text(window)))
    assert notice_text(window).endswith("The previous version of the lecture is still shown.")
    go_to_step(window, 5)
    assert player.number == 5
    write_lecture(path.parent, LECTURE.replace("## The last block", "## The very last"))
    wait_until(lambda: player.lecture.steps[5].title == "The very last")


def test_a_trace_file_in_its_folder_is_shown_and_a_broken_one_stops_nothing(window, tmp_path):
    save(matmul("matmul-tiled", m=8, k=8, n=8, tile=4).trace, tmp_path / "good.npz")
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    steps = f"\n## One\n\n`show: {TILED}`\n\n## Bad\n\n`show: bad.npz`\n\n## Good\n\n`show: good.npz`\n"
    player = present(window, write_lecture(tmp_path, f"# Files\n{steps}"))
    press(window, "PageDown")
    wait_for_step(window)
    assert player.number == 1 and window.lectures.cover.isVisible()
    assert "bad.npz" in window.lectures.cover.sentence.text()
    press(window, "PageDown")
    wait_for_step(window)
    assert player.number == 2 and not window.lectures.cover.isVisible()
    assert window.stage.setups[0].file == str(tmp_path / "good.npz")
    assert str(tmp_path / "good.npz") not in window.files.recent()  # nobody opened it
    player.close()
    wait_for_step(window)


def test_the_option_run_programs_agrees_to_the_programs_that_are_presented(window, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(PROGRAM)
    path = write_lecture(
        tmp_path, f"# Own\n\n## Shown\n\n`show: {TILED}`\n\n## Mine\n\n`show: mine.py:launch=2`\n"
    )

    def show(path, follower):
        player = present(window, path)
        follower(window.lectures)
        go_to_step(window, 1)
        cover = window.lectures.cover
        assert not cover.answer.isVisible()  # it does not ask
        wait_until(lambda: not cover.isVisible() and player.awaited is None)
        return 0

    monkeypatch.setattr("tilescope.app.cli.open_window.show_lecture", show)
    assert main(["lecture", str(path), "--run-programs"]) == 0
    assert [s.trace.kernel for s in window.stage.sessions] == ["copy"]


def test_a_program_in_its_folder_runs_only_once_the_user_agrees(window, tmp_path):
    program = tmp_path / "mine.py"
    program.write_text(PROGRAM)
    text = f"# Own\n\n## Shown\n\n`show: {TILED}`\n\n## Mine\n\n`show: mine.py:launch=2`\n\n## On\n\n`show: {TILED}`\n"
    player = present(window, write_lecture(tmp_path, text))
    go_to_step(window, 1)
    cover = window.lectures.cover
    assert cover.isVisible() and cover.answer.isVisible()
    assert cover.sentence.text().startswith("This step shows mine.py, a program that came with the lecture.")
    go_to_step(window, 2)  # who does not agree goes on
    assert not cover.isVisible()
    go_to_step(window, 1)
    assert [s.trace.kernel for s in window.stage.sessions] != ["copy"]
    cover.answer.click()
    wait_until(lambda: not cover.isVisible() and player.awaited is None)
    assert [(s.trace.kernel, s.trace.threads) for s in window.stage.sessions] == [("copy", 16)]
    go_to_step(window, 2)
    go_to_step(window, 1)
    assert not cover.isVisible()  # the same content is not asked about again
    program.write_text(PROGRAM.replace("32", "64"))
    go_to_step(window, 2)
    go_to_step(window, 1)
    assert cover.isVisible() and cover.answer.isVisible()
    player.close()
    wait_for_step(window)


def test_the_caption_is_at_the_top_before_the_first_picture(tmp_path):
    (tmp_path / "mine.py").write_text(PROGRAM)
    path = write_lecture(tmp_path, "# Own\n\n## Mine\n\n`show: mine.py`\n\nIt is mine.\n")
    application()
    window = MainWindow(SessionJobs(lent_worker(), None), None)
    window.resize(1280, 800)
    try:
        assert window.lectures.open(path, before=first_bookmark((), None))
        window.show()
        wait_until(lambda: window.lectures.cover.answer.isVisible() and window.toolbar.isHidden())
        settle(window)
        window.resize(1200, 760)
        window.grab()  # settles the layout
        caption = window.central.caption
        assert caption.isVisible() and caption.mapTo(window, QPoint()).y() < 10
    finally:
        window.close()


@needs_compiler
def test_a_step_shows_a_program_in_cuda_cpp(window, tmp_path):
    (tmp_path / "mine.cu").write_text(
        "__global__ void twice(float *a) { a[threadIdx.x] *= 2; }\n"
        "int main() { float *a; cudaMalloc(&a, 128); cudaMemset(a, 0, 128); twice<<<1, 32>>>(a); cudaFree(a); }\n"
    )
    text = "# Own\n\n## Mine\n\n`show: mine.cu:launch=1`\n\nIt has {here.threads} threads, {here.threads / 3:.1f}.\n"
    player = present(window, write_lecture(tmp_path, text))
    caption = window.central.caption.text
    assert "It has <b>…</b> threads, <b>…</b>" in caption.text() and not player.text_problems()
    window.lectures.cover.answer.click()
    wait_until(lambda: not window.lectures.cover.isVisible() and player.awaited is None)
    assert [(s.trace.kernel, s.trace.threads) for s in window.stage.sessions] == [("twice", 32)]
    assert "It has <b>32</b> threads" in caption.text()
    player.close()
    wait_for_step(window)


def test_an_edited_kernel_in_its_folder_runs_only_once_the_user_agrees_and_a_line_out_of_ours_at_once(
    window, tmp_path
):
    (tmp_path / "mine.py").write_text(
        kernel_source("tilescope.kernels.matmul:tiled")[1].replace("+= ", "-= ")
    )
    steps = [TILED, f"{TILED},without=barrier2", f"{TILED},source=mine.py"]
    text = "# Own\n" + "".join(f"\n## Step {n}\n\n`show: {step}`\n" for n, step in enumerate(steps))
    player = present(window, write_lecture(tmp_path, text))
    cover = window.lectures.cover
    go_to_step(window, 1)
    assert not cover.isVisible() and window.stage.sessions[0].launch.source.count("syncthreads") == 1
    go_to_step(window, 2)
    assert cover.sentence.text().startswith(
        "This step shows mine.py, an edited kernel that came with the lecture."
    )
    assert "-= " not in window.stage.sessions[0].launch.source
    cover.answer.click()
    wait_until(lambda: not cover.isVisible() and player.awaited is None)
    assert "-= " in window.stage.sessions[0].launch.source
    assert not window.stage.sessions[0].trace.check.equal
    player.close()
    wait_for_step(window)


def test_a_dropped_lecture_is_presented(window, tmp_path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(write_lecture(tmp_path)))])
    window.dropEvent(
        QDropEvent(
            QPointF(5, 5),
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
        )
    )
    wait_for_step(window)
    assert window.lectures.player.step.title == "Both side by side"
    window.lectures.player.close()
    wait_for_step(window)


def test_the_window_remembers_what_was_shown_before_a_lecture_and_the_lecture_as_recent(tmp_path):
    settings = tmp_path / "window.json"
    with open_window((TILED,), settings=settings) as window:
        before = window.bookmark()
        player = present(window, write_lecture(tmp_path))
        go_to_step(window, 4)
        path = str(player.lecture.path)
    stored = msgspec.json.decode(settings.read_bytes(), type=Settings)
    assert stored.bookmark == before
    assert stored.recent_lectures == (path,)


def test_who_agreed_to_a_program_is_asked_about_the_same_text_in_another_folder(window, tmp_path):
    """It may import other modules there."""
    shown = []
    for name in ("mine", "others"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text("import helper\n")
        (tmp_path / name / "helper.py").write_text(f"open(__file__ + '.{name}.ran', 'w')\n")
        player = present(window, write_lecture(tmp_path / name, "# Own\n\n## Mine\n\n`show: mine.py`\n"))
        cover = window.lectures.cover
        shown.append(cover.isVisible() and cover.answer.isVisible())
        assert window.bookmark().layout == "lecture"
        if name == "mine":
            cover.answer.click()
            wait_until(lambda: any(tmp_path.rglob("*.ran")))
        player.close()
        wait_for_step(window)
    assert shown == [True, True]
    assert [path.name for path in tmp_path.rglob("*.ran")] == ["helper.py.mine.ran"]


def test_a_program_that_is_no_file_or_far_too_large_is_refused_in_a_sentence(window, tmp_path):
    text = f"# Own\n\n## Mine\n\n`show: mine.py`\n\n## On\n\n`show: {TILED}`\n"
    (tmp_path / "mine.py").write_text("")
    with (tmp_path / "mine.py").open("wb") as file:
        file.truncate(2**40)  # which takes no place
    player = present(window, write_lecture(tmp_path, text))
    assert "which no program needs" in window.lectures.cover.sentence.text()
    player.close()
    wait_for_step(window)


def test_a_lecture_saved_with_other_panes_and_fewer_steps_is_consistent_while_they_are_traced(window, player):
    """Notify subscribers, such as the speaker's window, of the new step."""
    go_to_step(window, 5)
    asked = []
    player.changed.connect(lambda: asked.append((player.caption(), player.notes(), player.step.title)))
    show = "`show: matmul-tiled:m=8,k=8,n=4,tile=4,input=ones`"
    text = f"# Less\n\n## New\n\n{show}\n\nThere are {{left.threads}}.\n\n> Of {{left.n}}.\n"
    player.lecture.path.write_text(text, "utf-8")
    wait_until(lambda: player.step.title == "New")
    player.notes()
    wait_for_step(window)
    assert asked[-1][0].text == "There are 16."
    assert {title for _, _, title in asked} == {"New"}
