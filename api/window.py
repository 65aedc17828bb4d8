"""`python -m tilescope.api.window FILE`: show a trace that was saved for the window, then delete its folder."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from ..app.cli.main import main

if __name__ == "__main__":
    try:
        status = main(["open", sys.argv[1]])
    finally:
        shutil.rmtree(Path(sys.argv[1]).parent, ignore_errors=True)
    sys.exit(status)
