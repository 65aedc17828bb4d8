"""Views clip in one way, which SVG keeps."""

import re

from folders import ROOT


def test_views_clip_only_by_clipped():
    own = {
        "app/views/common/drawing.py",
        "app/views/common/canvas.py",
    }  # where it is, and what is pixels alone
    pages = {"app/views/source/page.py", "app/views/source/gutter.py"}  # to themselves, and in no SVG
    names = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "app" / "views").rglob("*.py")
        if re.search(r"\.setClip(Rect|Path|Region)\(", path.read_text(encoding="utf-8"))
    }
    assert names - own - pages == set()
