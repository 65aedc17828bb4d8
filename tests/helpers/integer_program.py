"""Whole numbers as a GPU computes with them: a program, and what it printed on an H200."""

from __future__ import annotations

import json

from folders import DATA

PROGRAM = DATA / "whole_numbers_program.py"


MEASURED = json.loads((DATA / "whole_numbers_h200.json").read_text())
