"""`tilescope mutate`: which faults in kernels a program's tests miss, and which barriers its launches do not need."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..model.named_file import is_file
from .common.arguments import Parser, UsageError, missing_file_text, positive_integer
from .common.text_output import align_columns, is_stderr_a_terminal, print_escaped, show_progress
from .programs.mutants import USED_SUFFIX, Mutant, mutants_of

OPTIONS_WITH_VALUE = ("--kernel", "--schedules")


def add_arguments(parser: Parser) -> None:
    parser.usage = f"{parser.prog} [OPTIONS] FILE.py [SCRIPT [ARGUMENTS ...] | -m MODULE ...]"
    parser.description = (
        "Change one thing at a time in the kernels of a file: remove a barrier, turn < into <=, swap two indices, "
        "remove an atomic. Run a program with each change under tilescope check, and report those that it misses. "
        "Without a program, the file is run. The status is 1 if the program misses a change."
    )
    parser.add_argument("--kernel", default="", metavar="NAME", help="change only this kernel")
    parser.add_argument(
        "--schedules",
        type=positive_integer,
        metavar="N",
        help="also run each launch in up to N random orders",
    )
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def parse(parser: Parser, words: Sequence[str]) -> Namespace:
    """Parse the options, and add `file` and `program`: all words from the file on belong to these."""
    index = 0
    while index < len(words) and words[index].startswith("-"):
        index += 2 if words[index] in OPTIONS_WITH_VALUE else 1
    chosen = parser.parse_args(words[:index])
    if index >= len(words):
        raise UsageError("no file is named; name a Python file with kernels.")
    chosen.file = words[index]
    chosen.program = list(words[index + 1 :]) or [chosen.file]
    return chosen


class Verdict(NamedTuple):
    """How a mutant fared."""

    mutant: Mutant
    is_caught: bool  # whether the program failed
    rules: tuple[str, ...]  # that the check reports in addition

    @property
    def text(self) -> str:
        """The verdict in words."""
        if self.is_caught:
            return "caught"
        if self.rules:
            return f"missed; check reports {', '.join(self.rules)}"
        return "missed; redundant for these launches" if self.mutant.is_barrier else "missed"


class _Run(NamedTuple):
    """The end of a program: whether it succeeded, and the findings by rule and kernel; none if it crashed."""

    is_complete: bool
    findings: frozenset[tuple[str, str]]


def execute(chosen: Namespace) -> int:
    """Run the program with each mutant; return 1 if it misses one, otherwise 0."""
    if not is_file(chosen.file):
        raise UsageError(missing_file_text(chosen.file))
    file = Path(chosen.file)
    try:
        text = file.read_text(encoding="utf-8")
        mutants = mutants_of(text, chosen.kernel)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise UsageError(f"{chosen.file} is no Python file that can be read: {error}.") from error
    if not mutants:
        of_kernel = f" of {chosen.kernel}" if chosen.kernel else ""
        raise UsageError(
            f"{chosen.file} has nothing{of_kernel} to change: no barrier, comparison or pair of indices."
        )
    words = ["--schedules", str(chosen.schedules)] if chosen.schedules else []
    with tempfile.TemporaryDirectory(prefix="tilescope-") as folder:
        runner = _Runner(file, Path(folder), [*words, *chosen.program])
        verdicts = list(_verdicts(mutants, runner.run(text), runner))
    missed = [verdict for verdict in verdicts if not verdict.is_caught]
    if chosen.json:
        print(json.dumps([_plain(verdict) for verdict in verdicts]))
        return int(bool(missed))
    rows = [[str(v.mutant.line), v.mutant.kernel, v.text, v.mutant.change] for v in verdicts]
    print_escaped("\n".join(align_columns([["line", "kernel", "verdict", "change"], *rows], "><<<")))
    count = "1 change" if len(verdicts) == 1 else f"{len(verdicts):,} changes"
    print_escaped(f"{count} of {chosen.file}; the program misses {len(missed):,}.")
    return int(bool(missed))


def _verdicts(mutants: list[Mutant], before: _Run, runner: _Runner) -> Iterator[Verdict]:
    if not before.is_complete:
        raise UsageError(
            "the program fails without a change, so it can't show what it misses; run tilescope check."
        )
    shows = is_stderr_a_terminal()
    for number, mutant in enumerate(mutants, 1):
        if shows:
            show_progress(f"{number:,} of {len(mutants):,} changes: line {mutant.line}, {mutant.change}")
        run = runner.run(mutant.text)
        rules = {rule for rule, _ in run.findings - before.findings}
        yield Verdict(mutant, not run.is_complete, tuple(sorted(rules)))
    if shows:
        show_progress("")


class _Runner:
    """Runs a program under `tilescope check` with another text of a file."""

    def __init__(self, file: Path, folder: Path, words: list[str]) -> None:
        self._file, self._text, self._words = file, folder / file.name, words

    def run(self, text: str) -> _Run:
        """Run the program once; raises UsageError if it does not import the file."""
        used = Path(f"{self._text}{USED_SUFFIX}")
        used.unlink(missing_ok=True)
        self._text.write_text(text, encoding="utf-8")
        command = [
            sys.executable, "-P", "-m", "tilescope.app.cli.replaced_source", str(self._file), str(self._text),
            "check", "--output-format", "json", *self._words,
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if not used.exists():
            last = (done.stderr.strip().splitlines() or [""])[-1].removeprefix("tilescope: ")
            raise UsageError(
                f"the program does not import {self._file}, as a module outside of tests. {last}".strip()
            )
        try:
            report = json.loads(done.stdout)
        except ValueError:
            return _Run(False, frozenset())
        findings = frozenset((f["rule"], f["kernel"]) for f in report["findings"] if f["severity"] != "note")
        return _Run(report["complete"], findings)


def _plain(verdict: Verdict) -> dict[str, Any]:
    mutant = verdict.mutant
    return {
        "line": mutant.line, "kernel": mutant.kernel, "change": mutant.change, "caught": verdict.is_caught,
        "rules": list(verdict.rules),
        "redundant_barrier": mutant.is_barrier and not verdict.is_caught and not verdict.rules,
    }  # fmt: skip
