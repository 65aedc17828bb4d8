"""`python -m tilescope.api.window FILE`: the window on a trace that was saved for it, whose folder goes with it."""

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
