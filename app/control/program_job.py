"""A program of the user's, run under the tracer in a process of its own, and again whenever its file is saved."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import (
    QElapsedTimer,
    QFileSystemWatcher,
    QObject,
    QProcess,
    QProcessEnvironment,
    QTimer,
    Signal,
)

from ...tracer.model.notebook_cells import cell_of
from ...tracer.processes.json_process import cause_of_death, module_command
from ...tracer.processes.keeper import STOP
from ...tracer.processes.parent_death import tie_to_this_process
from ...tracer.storage.temp_folders import new_process_folder

TRACEBACK_LINE = re.compile(r'\s*File "(.*)", line (\d+)')  # in a traceback
SIMULATED = re.compile(r"tid=\[([\d, ]*)\] ctaid=\[([\d, ]*)\]")  # as Numba's simulator names a thread
OF_LAUNCHES = re.compile(  # what `run` says of them, or of what it skips, whatever the program did
    r"tilescope: ([\d,]+ launch(es)? |.* is skipped)"
)
OWN_LINES = "tilescope: "  # how the lines begin that are ours, among what a program prints
MOST_OUTPUT = 1_000_000  # characters of what a program prints that are kept
LOOKING = 500  # milliseconds from one look at where the program is to the next
ENDING_TIMEOUT = 1000  # milliseconds
SAVING_DELAY = 200  # milliseconds after which an editor has surely written the whole file
OWN_CHANGE = (
    1000  # milliseconds after the end of a run in which it may be the program that has changed its file
)
SLOWER, SLOWEST = 4, 4  # how many times longer each further run waits, and after how many of them no longer


class UserProgram(QObject):
    """Runs `tilescope run` on a file; unless `watched`, only when it is opened.

    recorded: the paths of the traces of a run, at least one. failed: one sentence why there is none. noted: one
    sentence on a run that recorded launches and then ended badly. began: a run begins. moved: the line of the program
    that runs. printed: all that the program has printed so far.
    """

    recorded = Signal(object)
    failed = Signal(str)
    noted = Signal(str)
    began = Signal()
    moved = Signal(int)
    printed = Signal(str)

    def __init__(self, parent: QObject | None = None, *, watched: bool = True) -> None:
        super().__init__(parent)
        self._watched = watched
        self._text: str | None = None
        self.output = ""  # what the program has printed
        self.failed_line = 0  # of the program, in the last traceback that it printed; 0 for none
        self._where = QTimer(self, interval=LOOKING)
        self._where.timeout.connect(self._look)
        self.path = Path()
        self.runs = 0
        self._folder = new_process_folder()
        self._process: QProcess | None = None
        self._again = QTimer(self, singleShot=True, interval=SAVING_DELAY)
        self._again.timeout.connect(self._run)
        self._ended = QElapsedTimer()
        self._in_a_row = 0  # runs during which the file was changed
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(lambda _: self._run_soon())

    def open(self, path: Path, text: str | None = None) -> None:
        """Run a file now and, where it is watched, whenever it is saved from now on.

        text: what runs in place of the file's own, None for that.
        """
        self._text = text
        if self._watcher.files():
            self._watcher.removePaths(self._watcher.files())
        self.path = path.absolute()
        self._run()

    def owns(self, path: str) -> bool:
        """Return whether a trace is one of this program's, which go when it is closed."""
        return Path(path).is_relative_to(self._folder)

    def close(self) -> None:
        """End what runs, and remove the traces that nobody saved."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def stop(self) -> bool:
        """End the run under way; return whether there was one."""
        process, self._process = self._process, None
        if process is None:
            return False
        self._where.stop()
        process.write(STOP)  # with the program go the processes that it started
        if not process.waitForFinished(ENDING_TIMEOUT):
            process.kill()
        return True

    def _run_soon(self) -> None:
        """Run the file again; each time later where it goes on changing as it runs, as by the program itself."""
        if not self._again.isActive():  # else of the same change: an editor may write in several steps
            ended = self._ended.isValid() and self._ended.elapsed() > OWN_CHANGE
            self._in_a_row = 0 if self._process is None and ended else min(self._in_a_row + 1, SLOWEST)
            self._again.setInterval(SAVING_DELAY * SLOWER ** max(0, self._in_a_row - 1))
        self._again.start()

    def _run(self) -> None:
        self.stop()
        if self._watched:  # an editor that replaces the file ends the watch of the old one
            self._watcher.addPath(str(self.path))
        self.runs += 1
        folder = self._folder / str(self.runs)
        process = self._process = QProcess(self)
        process.setWorkingDirectory(str(self.path.parent))
        process.finished.connect(lambda *_: self._take(process, folder))
        process.errorOccurred.connect(lambda error: self._miss(process, error))
        process.readyReadStandardOutput.connect(lambda: self._take_output(process))
        environment = QProcessEnvironment.systemEnvironment()
        environment.insert("PYTHONUNBUFFERED", "1")
        process.setProcessEnvironment(environment)
        self.output, self.failed_line = "", 0
        keeper, *words = module_command("tilescope.tracer.processes.keeper")
        run = [*module_command("tilescope"), "run", "--out", str(folder)]
        run += ["--where", str(self._folder / f"{self.runs}.where")]
        if self._text is not None:
            instead = self._folder / f"{self.runs}.text"
            instead.write_bytes(self._text.encode("utf-8", "surrogatepass"))
            run += ["--text", str(instead)]
        run.append(str(self.path))
        process.start(keeper, [*words, str(self._folder), *run])
        tie_to_this_process(process.processId())
        self._where.start()
        self.began.emit()

    def _look(self) -> None:
        """Look at which line the program is."""
        with suppress(OSError, ValueError):
            self.moved.emit(int((self._folder / f"{self.runs}.where").read_text("ascii")))

    def _take_output(self, process: QProcess) -> None:
        if process is self._process:
            self._note_output(bytes(process.readAllStandardOutput().data()).decode(errors="replace"))

    def _note_output(self, text: str) -> None:
        if text:
            self.output = (self.output + text)[-MOST_OUTPUT:]
            self.printed.emit(self.output)

    def _miss(self, process: QProcess, error: QProcess.ProcessError) -> None:
        if process is self._process and error == QProcess.ProcessError.FailedToStart:
            self._process = None
            why = process.errorString()
            self.failed.emit(f"The program {self.path.name} can't be started ({why}); close other programs.")

    def _take(self, process: QProcess, folder: Path) -> None:
        if process is not self._process:
            return  # it was ended for another
        self._take_output(process)
        self._process = None
        self._where.stop()
        self._ended.start()
        crashed = process.exitStatus() == QProcess.ExitStatus.CrashExit
        status = -process.exitCode() if crashed else process.exitCode()
        output = bytes(process.readAllStandardError().data()).decode(errors="replace").strip().splitlines()
        self._note_output("".join(f"{line}\n" for line in output if not line.startswith(OWN_LINES)))
        why = f"The program {self.path.name} ended with {cause_of_death(status)}: {self._last_line(output)}."
        traces = sorted(folder.glob("*.npz"))
        if traces:
            self.recorded.emit(traces)
        if traces and status:
            self.noted.emit(why)
        if not traces:
            self.failed.emit(why if status else f"The program {self.path.name} launches no kernel.")

    def _place(self, file: str, line: str) -> str:
        """Return where a line of the program, or of one of its cells, is, in words; "" for another file's."""
        cell = cell_of(file)
        if cell and cell[0] == str(self.path):
            return f"cell {cell[1]}, line {line}"
        return f"line {line}" if file == str(self.path) else ""

    def _last_line(self, output: list[str]) -> str:
        """Return the last line of what a run printed, with the line of the program that its traceback names last."""
        lines = [line for line in output if not OF_LAUNCHES.match(line)]
        if not lines:
            return "it said nothing"
        named = [TRACEBACK_LINE.match(line) for line in lines]
        own = [self._place(found[1], found[2]) for found in named if found]
        where = next((f" ({place})" for place in reversed(own) if place), "")
        lines_of_own = [int(found[2]) for found in named if found and found[1] == str(self.path)]
        self.failed_line = lines_of_own[-1] if lines_of_own else 0
        last = SIMULATED.sub(r"thread (\1) of block (\2)", lines[-1])
        return last.strip().removeprefix("tilescope: ").rstrip(".") + where
