"""`--run-programs`: run the programs that come with a lecture, so that its files show their launches."""

from __future__ import annotations

import re
import shutil
import subprocess
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ....tracer.model.finding import count_noun
from ....tracer.processes.json_process import module_command
from ....tracer.storage.temp_folders import new_process_folder
from ...lectures.model.changes import EditedKernel
from ...lectures.model.document import Lecture
from ...lectures.model.program_panes import ProgramPane, program_panes, runs_program, with_setups
from ...lectures.model.scenes import scenes_of
from ...model.bookmark import Setup
from ..common.arguments import Parser, UsageError
from ..common.text_output import print_error

PATIENCE = 10.0  # seconds of CPU time after which a block counts as endless, as in the window
OF_LAUNCHES = re.compile(r"tilescope: [\d,]+ launch")  # the lines of `run` that count launches


def add_run_programs(parser: Parser) -> None:
    """Add the option that lets the programs of a lecture run."""
    parser.add_argument(
        "--run-programs", action="store_true", help="run the programs and edited kernels of the lecture"
    )


@contextmanager
def launched(lecture: Lecture, chosen: Namespace) -> Iterator[Lecture]:
    """Yield the lecture with the launches of its programs if the user wants that, and report steps without them.

    Raises UsageError if a program does not make a launch that the lecture shows.
    """
    if not any(program_panes(lecture)):
        yield lecture
        return
    if not vars(chosen).get("run_programs"):
        count = sum(map(runs_program, scenes_of(lecture)))
        print_error(
            f"{count} of {count_noun(len(lecture.steps), 'step')} {'runs' if count == 1 else 'run'} a program of the "
            f"lecture and {'is' if count == 1 else 'are'} left out; "
            "--run-programs runs it."
        )
        yield lecture
        return
    folder = new_process_folder()
    try:
        yield with_setups(lecture, _Programs(lecture.folder, folder).setup_of)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Programs:
    """Runs each program of a lecture once."""

    def __init__(self, folder: Path, traces: Path) -> None:
        self._folder, self._traces = folder, traces
        self._made: dict[str, list[Path]] = {}  # the traces of a program, by its name

    def setup_of(self, pane: ProgramPane) -> Setup:
        """Return the setup of a pane; raises UsageError."""
        if isinstance(pane, EditedKernel):
            return pane.setup(self._folder)
        traces = self._made.get(pane.file)
        if traces is None:
            traces = self._made[pane.file] = self._run(pane.file)
        if pane.launch > len(traces):
            raise UsageError(
                f"a step shows launch {pane.launch}, but {pane.file} makes only {count_noun(len(traces), 'launch')}."
            )
        return Setup(file=str(traces[pane.launch - 1]))

    def _run(self, name: str) -> list[Path]:
        folder, path = self._traces / str(len(self._made)), (self._folder / name).absolute()
        words = ["run", "--out", str(folder), "--patience", f"{PATIENCE:g}", str(path)]
        ended = subprocess.run(
            [*module_command("tilescope"), *words],
            cwd=path.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
        )  # fmt: skip
        traces = sorted(folder.glob("*.npz"))
        if not traces:
            lines = [line for line in ended.stderr.strip().splitlines() if not OF_LAUNCHES.match(line)]
            reason = lines[-1].removeprefix("tilescope: ") if ended.returncode and lines else ""
            raise UsageError(f"the program {name} launches no kernel{f': {reason}' if reason else '.'}")
        return traces
