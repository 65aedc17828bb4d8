"""A user's program, run under the tracer in a separate process, and again whenever its file is saved."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import (
    QElapsedTimer,
    QFileSystemWatcher,
    QObject,
    QProcess,
    QProcessEnvironment,
    QTimer,
)

from ...tracer.model.notebook_cells import cell_of
from ...tracer.processes.json_process import describe_exit_status, module_command
from ...tracer.processes.keeper import STOP
from ...tracer.processes.parent_death import tie_to_this_process
from ...tracer.storage.temp_folders import new_process_folder
from ..control.delay import Delay
from ..model.nothing import nothing

TRACEBACK_LINE = re.compile(r'\s*File "(.*)", line (\d+)')  # in a traceback
SIMULATED = re.compile(r"tid=\[([\d, ]*)\] ctaid=\[([\d, ]*)\]")  # as Numba's simulator names a thread
OF_LAUNCHES = re.compile(  # the lines that `run` itself prints about launches
    r"tilescope: ([\d,]+ launch(es)? |.* is skipped)"
)
FAULT = re.compile(  # as `run` reports one of CUDA C++: file, line, severity, sentence
    r"tilescope: (.+?):(\d+): (error|warning): (?:\w+: )?(.*?)( \[TS\d+ [^\]]*\])?$"
)
PROGRESS = re.compile(r"tilescope: (.* has run for .*); Ctrl\+C ends it\.$")
OWN_LINES = "tilescope: "  # the prefix of Tilescope's own lines in a program's output
PATIENCE = 10.0  # seconds of CPU time after which a block counts as endless; it may use 1 GB
MOST_OUTPUT = 1_000_000  # characters of a program's output that are kept
LOOKING = 500  # milliseconds between two reads of the program's current line
ENDING_TIMEOUT = 1000  # milliseconds
SAVING_DELAY = 200  # milliseconds after which an editor has surely written the complete file
OWN_CHANGE = 1000  # milliseconds after a run in which the program itself may have changed its file
SLOWER, SLOWEST = 4, 4  # the factor by which each further run waits longer, and the number of such steps


class RunReports(NamedTuple):
    """What a run calls, with sentences, the program's line, or the paths of its traces."""

    recorded: Callable[[Sequence[Path]], object]  # at least one trace
    failed: Callable[[str], object]  # the reason for no trace
    noted: Callable[[str], object]  # about a run that traced launches and then failed
    began: Callable[[], object] = nothing
    moved: Callable[[int], object] = nothing  # to another line of the program
    printed: Callable[[str], object] = nothing  # all output so far
    delayed: Callable[[str], object] = nothing  # how long a launch has run, and its progress


class UserProgram(QObject):
    """Runs `tilescope run` on a file; unless `watched`, only when it is opened. report: called as a run goes on."""

    def __init__(self, parent: QObject, report: RunReports, *, watched: bool = True) -> None:
        super().__init__(parent)
        self.report, self._watched = report, watched
        self._text: str | None = None
        self.output = ""  # of the program so far
        self.faults: list[tuple[int, str, str]] = []  # of the host code: line, sentence and severity
        self._errors: list[str] = []  # lines of its standard error so far, without progress
        self.failed_line = 0  # the line of the program in its last traceback; 0 for none
        self._position_timer = QTimer(self, interval=LOOKING)
        self._position_timer.timeout.connect(self._read_position)
        self.path = Path()
        self.runs = 0
        self._folder = new_process_folder()
        self._process: QProcess | None = None
        self._rerun_timer = Delay(self, SAVING_DELAY, self._run)
        self._since_end = QElapsedTimer()
        self._repeated_runs = 0  # consecutive runs during which the file was changed
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(lambda _: self._run_soon())

    def open(self, path: Path, text: str | None = None) -> None:
        """Run a file now and, if it is watched, whenever it is saved from now on.

        text: replaces the file's own text; None runs the file.
        """
        self._text = text
        if self._watcher.files():
            self._watcher.removePaths(self._watcher.files())
        self.path = path.absolute()
        self._run()

    def owns(self, path: str) -> bool:
        """Return True if a trace is one of this program's temporary ones."""
        return Path(path).is_relative_to(self._folder)

    def close(self) -> None:
        """End the program and remove its unsaved traces."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def stop(self) -> bool:
        """End the current run; return True if there was one."""
        process, self._process = self._process, None
        if process is None:
            return False
        self._position_timer.stop()
        process.write(STOP)  # ends the program and the processes that it started
        if not process.waitForFinished(ENDING_TIMEOUT):
            process.kill()
        return True

    def _run_soon(self) -> None:
        """Run the file again soon; wait longer each time if the program itself keeps changing its file."""
        if (
            not self._rerun_timer.isActive()
        ):  # otherwise the same change: an editor may write in several steps
            ended = self._since_end.isValid() and self._since_end.elapsed() > OWN_CHANGE
            self._repeated_runs = (
                0 if self._process is None and ended else min(self._repeated_runs + 1, SLOWEST)
            )
            self._rerun_timer.setInterval(SAVING_DELAY * SLOWER ** max(0, self._repeated_runs - 1))
        self._rerun_timer.start()

    def _run(self) -> None:
        self.stop()
        if self._watched:  # an editor that replaces the file removes the watch
            self._watcher.addPath(str(self.path))
        self.runs += 1
        folder = self._folder / str(self.runs)
        process = self._process = QProcess(self)
        process.setWorkingDirectory(str(self.path.parent))
        process.finished.connect(lambda *_: self._finish(process, folder))
        process.errorOccurred.connect(lambda error: self._report_failed_start(process, error))
        process.readyReadStandardOutput.connect(lambda: self._take_output(process))
        process.readyReadStandardError.connect(lambda: self._take_errors(process))
        environment = QProcessEnvironment.systemEnvironment()
        environment.insert("PYTHONUNBUFFERED", "1")
        process.setProcessEnvironment(environment)
        self.output, self.failed_line, self._errors = "", 0, []
        keeper, *words = module_command("tilescope.tracer.processes.keeper")
        run = [*module_command("tilescope"), "run", "--out", str(folder)]
        run += ["--patience", f"{PATIENCE:g}", "--where", str(self._folder / f"{self.runs}.where")]
        if self._text is not None:
            text_path = self._folder / f"{self.runs}.text"
            text_path.write_bytes(self._text.encode("utf-8", "surrogatepass"))
            run += ["--text", str(text_path)]
        run.append(str(self.path))
        process.start(keeper, [*words, str(self._folder), *run])
        tie_to_this_process(process.processId())
        self._position_timer.start()
        self.report.began()

    def _read_position(self) -> None:
        """Read the current line of the program."""
        with suppress(OSError, ValueError):
            self.report.moved(int((self._folder / f"{self.runs}.where").read_text("ascii")))

    def _take_output(self, process: QProcess) -> None:
        if process is self._process:
            self._note_output(bytes(process.readAllStandardOutput().data()).decode(errors="replace"))

    def _take_errors(self, process: QProcess, *, ended: bool = False) -> None:
        """Show the lines of the program and of faults, and report how long a launch has run."""
        if process is not self._process:
            return
        process.setReadChannel(QProcess.ProcessChannel.StandardError)
        while process.canReadLine() or (ended and process.bytesAvailable()):
            line = bytes(process.readLine().data()).decode(errors="replace").rstrip("\r\n")
            if progress := PROGRESS.match(line):
                self.report.delayed(progress[1])
                continue
            self._errors.append(line)
            if FAULT.match(line) or not line.startswith(OWN_LINES):
                self._note_output(f"{line.removeprefix(OWN_LINES)}\n")

    def _note_output(self, text: str) -> None:
        if text:
            self.output = (self.output + text)[-MOST_OUTPUT:]
            self.report.printed(self.output)

    def _report_failed_start(self, process: QProcess, error: QProcess.ProcessError) -> None:
        if process is self._process and error == QProcess.ProcessError.FailedToStart:
            self._process = None
            reason = process.errorString()
            self.report.failed(
                f"The program {self.path.name} can't be started ({reason}); close other programs."
            )

    def _finish(self, process: QProcess, folder: Path) -> None:
        if process is not self._process:
            return  # it was replaced by another run
        self._take_output(process)
        self._take_errors(process, ended=True)
        self._process = None
        self._position_timer.stop()
        self._since_end.start()
        crashed = process.exitStatus() == QProcess.ExitStatus.CrashExit
        status = -process.exitCode() if crashed else process.exitCode()
        output = "\n".join(self._errors).strip().splitlines()
        faults = [fault for line in output if (fault := FAULT.match(line))]
        own = [fault for fault in faults if self.path.parent / fault[1] == self.path]
        self.faults = [(int(fault[2]), fault[4], fault[3]) for fault in own]
        message = f"The program {self.path.name} ended with {describe_exit_status(status)}: {self._last_line(output)}."
        traces = sorted(folder.glob("*.npz"))
        if traces:
            self.report.recorded(traces)
        if traces and status:
            self.report.noted(message)
        if not traces:
            self.report.failed(message if status else f"The program {self.path.name} launches no kernel.")

    def _describe_location(self, file: str, line: str) -> str:
        """Describe the position of a line of the program or of one of its cells; "" for another file."""
        cell = cell_of(file)
        if cell and cell[0] == str(self.path):
            return f"cell {cell[1]}, line {line}"
        return f"line {line}" if file == str(self.path) else ""

    def _last_line(self, output: list[str]) -> str:
        """Return the last line of a run's output, with the program's line that its traceback names last."""
        lines = [line for line in output if not OF_LAUNCHES.match(line)]
        if not lines:
            return "it printed no message"
        matches = [TRACEBACK_LINE.match(line) for line in lines]
        errors = [fault for line in lines if (fault := FAULT.match(line)) and fault[3] == "error"]
        if not any(matches) and errors:
            self.failed_line = int(errors[0][2])
            return f"{errors[0][4].rstrip('.')} (line {errors[0][2]})"
        locations = [self._describe_location(match[1], match[2]) for match in matches if match]
        suffix = next((f" ({location})" for location in reversed(locations) if location), "")
        own_lines = [int(match[2]) for match in matches if match and match[1] == str(self.path)]
        self.failed_line = own_lines[-1] if own_lines else 0
        last = SIMULATED.sub(r"thread (\1) of block (\2)", lines[-1])
        if refused := re.search(rf"{re.escape(str(self.path))}:(\d+): ", last):  # a line of the kernel
            self.failed_line, suffix = int(refused[1]), f" (line {refused[1]})"
            last = last.replace(refused[0], "")
        return last.strip().removeprefix("tilescope: ").rstrip(".") + suffix
