"""SVG files as a real browser draws them: Chromium, without a screen."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QRect
from PySide6.QtGui import QImage

from patience import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)


def render_svgs(pictures: Mapping[str, tuple[bytes, tuple[int, int]]], folder: Path) -> dict[str, QImage]:
    """Return pictures, given with their sizes, as they are drawn below each other on one page."""
    assert BROWSER, "Chromium is not installed"
    shown, top, boxes = [], 0, {}
    for name, (svg, (width, height)) in pictures.items():
        (folder / f"{name}.svg").write_bytes(svg)
        style = f"position:absolute;left:0;top:{top}px;width:{width}px;height:{height}px"
        shown.append(f'<img src="{name}.svg" style="{style}">')
        boxes[name] = QRect(0, top, width, height)
        top += height
    page, out = folder / "page.html", folder / "page.png"
    page.write_text(f'<!doctype html><body style="margin:0">{"".join(shown)}')
    wide = max(box.width() for box in boxes.values())
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--screenshot={out}",
    ]
    command += [f"--user-data-dir={folder / 'profile'}", f"--window-size={wide},{top}"]
    command.append(page.as_uri())
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
    image = QImage(str(out))
    return {name: image.copy(box) for name, box in boxes.items()}
