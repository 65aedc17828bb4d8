"""Lectures on paper, as a user gets them from the command: what a reader finds in the PDF, and the pictures."""

import errno
import os
import re
import signal
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from pdf_text import text_of
from tilescope.app.cli.main import main
from tilescope.app.cli.pictures.handout import picture_name
from tilescope.app.lectures.player.step_picture import StepPictures

LECTURE = """\
# Two products

Takes <ten> minutes.

## Every element

```tilescope
show: matmul-naive-col-on-x:m=4,k=4,n=4,tile=2 matmul-tiled:m=4,k=4,n=4,tile=2
at: start
```

Thread (0, 0) computes *one* element: {left.threads_in_all} threads.

> Ask who knows this loop.

## How often is A read?

```tilescope
at: end
ask: How many sectors?
choices: 16 | {left.global_sectors} | 1000
answer: left.global_sectors
```

The tiled one takes {right.global_sectors}.

## Banks

`panel: warp`
"""


def written(folder: Path, text: str = LECTURE) -> str:
    path = folder / "lecture.md"
    path.write_text(text)
    return str(path)


def pages(content: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b", content))


@pytest.fixture(scope="module")
def handout(tmp_path_factory):
    """Return the bytes of a handout with notes."""
    folder = tmp_path_factory.mktemp("handout")
    assert main(["lecture", written(folder), "-o", str(folder / "out.pdf"), "--notes"]) == 0
    assert [path.name for path in sorted(folder.iterdir())] == ["lecture.md", "out.pdf"]
    return (folder / "out.pdf").read_bytes()


def test_captions_numbers_questions_answers_and_notes_are_text(handout):
    text = text_of(handout)
    for phrase in ("Twoproducts", "Takes<ten>minutes.", "1Everyelement", "16threads.", "Exactfromthetrace."):
        assert phrase in text
    assert "QuestionHowmanysectors?A)16B)36C)1000AnswerB)36exactfromthetrace" in text
    assert "NotesAskwhoknowsthisloop." in text


def test_pictures_are_lines_and_letters(handout):
    text = text_of(handout)
    assert text.count("Naive,columnonx") == 3
    assert text.count("loadtile0") == 3  # of the timeline
    assert "0.512" in text  # a value of a cell
    assert len(handout) < 600_000


def test_two_steps_share_a_page(handout):
    assert pages(handout) == 2


def test_notes_are_left_out_unless_asked_for_and_paper_may_be_letter(tmp_path):
    path = tmp_path / "out.PDF"
    assert main(["lecture", written(tmp_path), "-o", str(path), "--paper", "letter", "--theme", "dark"]) == 0
    content = path.read_bytes()
    assert b"/MediaBox [0 0 612" in content
    assert "Askwho" not in text_of(content)


def test_long_notes_go_on_over_pages(tmp_path):
    notes = "".join(f"> Sentence number {i} of many that a speaker wrote.\n" for i in range(180))
    path = tmp_path / "out.pdf"
    assert main(["lecture", written(tmp_path, LECTURE + "\n" + notes), "-o", str(path), "--notes"]) == 0
    text = text_of(path.read_bytes())
    assert all(f"Sentencenumber{i}of" in text for i in range(180))
    assert pages(path.read_bytes()) > 2


def test_a_folder_gets_a_picture_of_each_step(tmp_path, capsys):
    folder = tmp_path / "new" / "pictures"
    words = ["lecture", written(tmp_path), "-o", f"{folder}/", "--size", "800x600", "--scale", "1"]
    assert main(words) == 0
    names = ["01-every-element.png", "02-how-often-is-a-read.png", "03-banks.png"]
    assert [path.name for path in sorted(folder.iterdir())] == names
    assert capsys.readouterr().out == "".join(f"{folder / name}\n" for name in names)
    shown = [QImage(str(folder / name)) for name in names]
    assert [(image.width(), image.height()) for image in shown] == [(800, 600)] * 3
    assert len({image.constBits().tobytes() for image in shown}) == 3


def test_pictures_have_names_that_any_system_takes():
    assert picture_name(9, "What is a / B: <x>?", 12) == "10-what-is-a-b-x.png"
    assert picture_name(0, "…", 120) == "001-step.png"
    assert len(picture_name(0, "a" * 500, 3)) < 80


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("out.docx", "must end with .pdf or .ipynb, or name a folder"),
        ("missing/out.pdf", "there is no folder"),
        ("lecture.md/", "is a file"),
    ],
)
def test_what_can_not_be_written_is_one_sentence(tmp_path, capsys, output, sentence):
    before = written(tmp_path)
    assert main(["lecture", before, "-o", f"{tmp_path}/{output}"]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["lecture.md"]


def test_a_lecture_with_mistakes_gives_these_and_no_handout(tmp_path, capsys):
    path = written(tmp_path, LECTURE.replace("left.threads_in_all", "left.treads"))
    assert main(["lecture", path, "-o", f"{tmp_path}/out.pdf"]) == 1
    assert f"{path}:12: " in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["lecture.md"]


def test_a_program_that_needs_consent_is_refused_instead_of_drawn(tmp_path):
    (tmp_path / "mine.py").write_text("raise SystemExit('it ran')\n")
    text = "# Mine\n\n## Own kernel\n\n`show: mine.py:launch=1`\n\nIt is mine.\n"
    out = tmp_path / "out.pdf"
    assert main(["lecture", written(tmp_path, text), "-o", str(out)]) == 0
    assert "onceyouagree" in text_of(out.read_bytes())
    assert main(["lecture", written(tmp_path, text), "-o", str(tmp_path / "pictures")]) == 0
    assert not QImage(str(tmp_path / "pictures" / "01-own-kernel.png")).isNull()


PROGRAM = """\
import numpy as np
from numba import cuda


@cuda.jit
def double(a):
    i = cuda.grid(1)
    a[i] = 2 * a[i]


double[2, 16](np.arange(32.0))
double[1, 8](np.arange(8.0))
print("done")
"""
OF_PROGRAM = """\
# Mine

## Own kernel

`show: mine.py:launch=2`

It has {here.threads_in_all} threads and {here.blocks} block.
"""


@pytest.fixture
def with_program(tmp_path):
    (tmp_path / "mine.py").write_text(PROGRAM)
    return written(tmp_path, OF_PROGRAM)


def test_a_handout_without_the_programs_is_reported(with_program, tmp_path, capsys):
    out = tmp_path / "out.pdf"
    assert main(["lecture", with_program, "-o", str(out)]) == 0
    assert "1 of 1 step runs a program" in capsys.readouterr().err
    words = text_of(out.read_bytes())
    assert "Ithas…threads" in words and "???" not in words


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["lecture"], "out.pdf"),
        (["lecture"], "out.ipynb"),
        (["render"], "out.html"),
        (["render", "--size", "640x480", "--hold", "0.1"], "out.gif"),
    ],
)
def test_files_of_a_lecture_show_its_programs_once_they_may_run(with_program, tmp_path, capsys, words, name):
    out = tmp_path / name
    assert main([words[0], with_program, *words[1:], "--run-programs", "-o", str(out)]) == 0
    assert "a program of the lecture" not in capsys.readouterr().err
    content = out.read_bytes()
    assert b"???" not in content
    if name.endswith(".pdf"):
        words_of_page = text_of(content)
        assert "Ithas8threadsand1block" in words_of_page and "onceyouagree" not in words_of_page


def test_a_check_runs_programs_only_if_it_may(with_program, tmp_path, capsys):
    assert main(["lecture", "--check", with_program]) == 0
    assert "0 of 1 step, no mistakes" in capsys.readouterr().out
    assert main(["lecture", "--check", "--run-programs", with_program]) == 0
    assert ": 1 step, no mistakes" in capsys.readouterr().out
    Path(with_program).write_text(OF_PROGRAM.replace("here.blocks", "here.blokcs"))
    assert main(["lecture", "--check", "--run-programs", with_program]) == 1
    assert f"{with_program}:7: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        (PROGRAM.replace("double[1, 8]", "# "), "mine.py makes only 1 launch."),
        ("raise SystemExit(3)", "mine.py launches no kernel"),
        ("a = 1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_program_without_the_launch_of_a_step_is_one_sentence(
    with_program, tmp_path, capsys, program, sentence
):
    (tmp_path / "mine.py").write_text(program)
    assert main(["lecture", with_program, "--run-programs", "-o", str(tmp_path / "out.pdf")]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out.pdf").exists()


def test_a_disk_that_fills_up_leaves_the_old_handout(tmp_path, capsys, monkeypatch):
    path = tmp_path / "out.pdf"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left")))
    assert main(["lecture", written(tmp_path), "-o", str(path)]) == 2
    assert "No space left" in capsys.readouterr().err
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 2


def test_ctrl_c_leaves_no_half_handout(tmp_path, monkeypatch):
    draw = StepPictures.show

    def interrupted(*args, **options):
        signal.raise_signal(signal.SIGINT)
        draw(*args, **options)

    monkeypatch.setattr(StepPictures, "show", interrupted)
    handler = signal.getsignal(signal.SIGINT)
    assert main(["lecture", written(tmp_path), "-o", str(tmp_path / "out.pdf")]) == 130
    assert [path.name for path in tmp_path.iterdir()] == ["lecture.md"]
    assert signal.getsignal(signal.SIGINT) is handler
    assert main(["lecture", written(tmp_path), "-o", str(tmp_path / "pictures")]) == 130
    assert [path.name for path in (tmp_path / "pictures").iterdir()] == ["01-every-element.png"]
