"""What the panel of an exercise says of goals."""

from __future__ import annotations

import pytest

from exercises import CASES, RIGHT, warm_judge, write_exercise
from tilescope.app.exercises.verdict_text import rows_of


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ("global_load_bytes * 4 <= n * 8", "you: 4,000, allowed: at most 2,000"),
        ("4 * global_load_bytes < n", "you: 4,000, allowed: less than 250"),
        ("global_load_bytes + global_store_bytes >= 10 * n", "you: 8,000, allowed: at least 10,000"),
        ("3 * global_load_bytes == n", "you: 4,000, allowed: exactly 333"),
    ],
)
def test_a_missed_goal_shows_the_students_number_and_the_limit(tmp_path, goal, message):
    exercise = write_exercise(tmp_path, CASES, f"few: {goal}")
    verdict = warm_judge().judge(exercise, RIGHT)
    row = next(row for row in rows_of(verdict, exercise, "mine.py") if row.text.startswith("Goal missed"))
    assert row.instead.startswith(message)
