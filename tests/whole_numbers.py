"""Whole numbers as a GPU computes with them: a program, and what it printed on an H200."""

from __future__ import annotations

import json
from pathlib import Path

PROGRAM = Path(__file__).parent / "whole_numbers_program.py"


MEASURED = json.loads((Path(__file__).parent / "data" / "whole_numbers_h200.json").read_text())
