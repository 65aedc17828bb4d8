"""`tilescope lecture --hall`: which options go together, and what starts with the window."""

from __future__ import annotations

import pytest

from tilescope.app.cli.main import main


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--hall"], "name a lecture for the hall"),
        (["tiling", "--port", "9000"], "--port, --address, --results and --rehearse need --hall"),
        (["tiling", "--rehearse", "3"], "--port, --address, --results and --rehearse need --hall"),
        (["tiling", "--hall", "--check"], "--hall presents the lecture"),
        (["tiling", "--hall", "-o", "a.pdf"], "--hall presents the lecture"),
        (["tiling", "--hall", "--port", "80"], "a port is a number from 1024 to 65535, not 80"),
        (["tiling", "--hall", "--rehearse", "501"], "--rehearse simulates at most 500 students"),
        (["tiling", "--hall", "--results", "votes.csv"], "votes.csv exists and is not overwritten"),
        (["tiling", "--hall", "--results", "none/votes.csv"], "there is no folder none"),
        (["nowhere", "--hall"], "There is no lecture nowhere"),
    ],
)
def test_options_that_do_not_go_together_end_in_one_sentence(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes.csv").write_text("kept")
    with pytest.raises(SystemExit) as end:
        raise SystemExit(main(["lecture", *words]))
    assert end.value.code == 2
    assert sentence.lower() in capsys.readouterr().err.lower()
    assert (tmp_path / "votes.csv").read_text() == "kept"
