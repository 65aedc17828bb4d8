"""Integers as a GPU computes with them: a program, and its output on an H200."""

from __future__ import annotations

import json

from folders import DATA

PROGRAM = DATA / "whole_numbers_program.py"


MEASURED = json.loads((DATA / "whole_numbers_h200.json").read_text())
