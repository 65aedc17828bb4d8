"""A step of a lecture that shows what a GPU did, on a page that can't."""

from argparse import Namespace

from tilescope.app.cli.pictures.replay_file import write_replay_file
from tilescope.app.replays.lecture_steps import NO_GPU
from tilescope.app.replays.page import unpacked

LECTURE = """# Doubling

## What a GPU did

```tilescope
show: vector-double:count=64,threads=32
chart: gpu
```

Each block ran somewhere.
"""


def test_the_page_names_its_address_and_keeps_the_caption(tmp_path):
    (tmp_path / "doubling.md").write_text(LECTURE, "utf-8")
    path = tmp_path / "replay.html"
    write_replay_file(Namespace(what=[str(tmp_path / "doubling.md")], output=str(path), text_size=1.0))
    (step,) = [s for s in unpacked(path.read_text("utf-8"))["steps"] if s["title"] == "What a GPU did"]
    assert step["note"] == NO_GPU
    assert "Each block ran somewhere." in str(step["caption"])
