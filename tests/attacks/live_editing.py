"""A hostile user at the source panel: edits, strikes, runs, drags, lectures, exercises, closing, all at any time.

python live_editing.py [EVENTS [SEED]]. In a child (offscreen) that is watched. After each burst of events the window
is let come to rest, and what must hold then is asked of it; what was shipped must be as it was on disk.
"""

from __future__ import annotations

import faulthandler
import hashlib
import json
import os
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

import common

common.as_tilescope()

STALL = 5  # seconds of processor time of the GUI thread that no event may take
LONGEST = 700  # characters of a sentence
SPECS = (
    "matmul-tiled:m=8,k=8,n=8,tile=4", "matmul-naive-col-on-x:m=8,k=8,n=8,tile=4", "transpose-tile:rows=16,cols=16",
    "sum-sequential:count=64,threads=32", "sum-interleaved:count=64,threads=32", "histogram-private:count=64,num_blocks=1,threads=32,bins=8",
    "vector-double:count=40,threads=32", "count-racing:num_blocks=2,threads=32", "python-threads:m=4,k=4,n=4,tile=4",
    "copy-stride:count=64,threads=32,stride=8", "barrier-three-threads", "cuda-c-tiled-static:m=16,k=16,n=16",
)  # fmt: skip
PAIRS = (("matmul-naive-col-on-x:m=8,k=8,n=8,tile=4", "matmul-tiled:m=8,k=8,n=8,tile=4"),)
EDITS = (  # of what is plausible: what stands there, and what is written in its place
    ("+=", "-="), ("+ ", "- "), ("< ", "<= "), ("cuda.syncthreads()", "pass"), ("TILE = 16", "TILE = 8"),
    ("    if ", "    if True or "), ("def ", "def other_"), ("0.0", "1.5"), ("[i]", "[i + 1]"), ("(a, b, c)", "(a, c)"),
    ("import", "imprt"), ("    ", "\t"), ("cuda.jit", "cuda.jti"), ("range(", "range(2 * "), ("threadIdx", "blockIdx"),
)  # fmt: skip
PASTED = (
    "\x00\x01\x02", "\ud83d", "🧵" * 40, "\u202eevil\u2066", "\t\t\tif x:\n  y\n", "\r\n\r", "\u2028\u2029\x0c\x85",
    "raise SystemExit(3)\n", "import os; os._exit(7)\n", "1/0\n", "(" * 300, "'''", "x = 1\n" * 5000, "é̂" * 500 + "\n",
    "print('x' * 10_000)\n" * 50, "class A: pass\n", "while True:\n    pass\n", "\\", "@cuda.jit\ndef second(a):\n    a[0] = 1\n",
    "    cuda.syncthreads()\n", "            cuda.syncthreads()\n", "def f():\n    yield\n", "# -*- coding: utf-16 -*-\n",
)  # fmt: skip
KEYS = (
    "Return",
    "Backspace",
    "Delete",
    "Tab",
    "Backtab",
    "Home",
    "End",
    "Left",
    "Down",
    "Escape",
    "PageDown",
)
EVENTS = {
    "key": 12, "edit": 14, "paste": 5, "cut line": 6, "run": 16, "strike": 16, "click": 6, "undo": 10, "undo all": 4,
    "travel": 6, "focus": 3, "setup": 4, "pair": 1, "put": 5, "drag": 3, "lecture": 2, "step": 5, "leave": 2,
    "theme": 2, "exercise": 1, "leave exercise": 2, "close": 1, "reopen": 1, "escape": 4, "seek": 3, "tab": 2,
    "resize": 1, "save": 1, "find": 1, "run at once": 4, "schedule": 1,
}  # fmt: skip
LECTURE = """# Struck

## As it is

```tilescope
panel: source
show: matmul-tiled:m=8,k=8,n=8,tile=4
```

The kernel as it is.

## Without

```tilescope
panel: source
show: matmul-tiled:m=8,k=8,n=8,tile=4,without=barrier1
```

Without its first barrier.

## Beside each other

```tilescope
panel: source
show: matmul-tiled:m=8,k=8,n=8,tile=4 matmul-tiled:m=8,k=8,n=8,tile=4,without=barrier2
```

With all, and without the second.

## As it was

```tilescope
panel: source
show: matmul-tiled:m=8,k=8,n=8,tile=4
```

Again as it is.
"""


def shipped() -> str:
    """Return a digest of all kernels as they stand on disk."""
    import tilescope

    results = hashlib.sha256()
    for path in sorted((Path(tilescope.__file__).parent / "kernels").rglob("*.py")):
        results.update(str(path).encode() + path.read_bytes())
    return results.hexdigest()


class Driver:
    """One window after the other, and what was wrong with them."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng, self.folder = random.Random(seed), folder
        self.wrong: dict[str, list[str]] = {}
        self.log: list[str] = [""]
        self.kinds: Counter[str] = Counter()
        self.wanted: tuple = ()  # the setups that were asked for last, () where something else came since
        self.settlings, self.slowest, self.what = 0, 0.0, ""
        self.opened_lecture = folder / "struck.md"
        self.opened_lecture.write_text(LECTURE)

    # What is noted.

    def note(self, kind: str, text: object) -> None:
        self.wrong.setdefault(f"{kind}: {text!s:.400}", list(self.log[-8:]))

    def hook(self, kind, error, trace) -> None:
        frames = traceback.extract_tb(trace)[::-1][:6]
        where = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in frames)
        self.note("exception", f"{kind.__name__}: {error!s:.160} at {where}")

    # The window.

    def begin(self) -> None:
        from PySide6.QtCore import qInstallMessageHandler
        from PySide6.QtWidgets import QFileDialog, QMessageBox

        from tilescope.app.window.start import application

        sys.excepthook = self.hook
        qInstallMessageHandler(
            lambda kind, context, text: "This plugin does not" in text or self.note("warning of Qt", text)
        )
        saved = str(self.folder / "saved.py")
        QFileDialog.getSaveFileName = staticmethod(
            lambda *a, **k: (self.rng.choice(["", saved, "/nowhere/x.py"]), "")
        )
        QFileDialog.getOpenFileName = staticmethod(lambda *a, **k: ("", ""))
        self.answer = QMessageBox.StandardButton.Discard
        QMessageBox.question = staticmethod(lambda *a, **k: self.answer)
        self.app = application()
        self.open()

    def open(self) -> None:
        """Show a new window."""
        from tilescope.app.control.session_jobs import SessionJobs
        from tilescope.app.window.main_window import MainWindow
        from tilescope.tracer.run.worker_client import Worker
        from tilescope.tracer.storage.trace_cache import TraceCache

        cache = TraceCache(self.folder / "cache")
        self.window = MainWindow(SessionJobs(Worker(), cache), self.folder / "window.json")
        self.window.resize(1280, 800)
        self.window.show()
        self.show(SPECS[:1])

    def show(self, words) -> None:
        from tilescope.app.model.first_bookmark import setups_of

        setups = setups_of(list(words))
        self.window.change_setups(setups)
        self.wanted = tuple(setup.scenario for setup in setups)

    @property
    def editor(self):
        return self.window.side.source.editor

    @property
    def live(self):
        return self.window.editing.editing

    # Events.

    def act(self, kind: str) -> None:
        getattr(self, "do_" + kind.replace(" ", "_"))()

    def press(self, key, held=None) -> None:
        from PySide6.QtCore import Qt
        from PySide6.QtTest import QTest

        QTest.keyClick(self.editor, key, held or Qt.KeyboardModifier.NoModifier)

    def go(self) -> None:
        """Put the cursor anywhere."""
        self.window.central.show_tab("source")
        self.editor.setFocus()
        self.editor.go_to(self.rng.randint(1, max(1, self.editor.document().blockCount())))

    def do_key(self) -> None:
        from PySide6.QtCore import Qt
        from PySide6.QtTest import QTest

        self.go()
        if self.rng.random() < 0.5:
            QTest.keyClicks(self.editor, "".join(self.rng.choices("x1 +:()[]'\"#.=,;", k=5)))
        else:
            self.press(getattr(Qt.Key, f"Key_{self.rng.choice(KEYS)}"))

    def do_edit(self) -> None:
        from PySide6.QtGui import QTextCursor

        if not self.editor.is_editable():
            return
        old, new = self.rng.choice(EDITS)
        text = self.editor.text()
        places = [i for i in range(len(text)) if text.startswith(old, i)]
        if places:
            position = self.rng.choice(places)
            cursor = self.editor.textCursor()
            cursor.setPosition(min(position, self.editor.document().characterCount() - 1))
            end = min(position + len(old), self.editor.document().characterCount() - 1)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.insertText(new)
            self.log[-1] += f" {old!r} -> {new!r}"

    def do_paste(self) -> None:
        from PySide6.QtCore import QMimeData

        self.go()
        data = QMimeData()
        text = self.rng.choice(PASTED)
        data.setText(text)
        self.log[-1] += f" {text[:20]!r}"
        self.editor.insertFromMimeData(data)

    def do_cut_line(self) -> None:
        from PySide6.QtCore import Qt

        self.go()
        self.press(Qt.Key.Key_Home)
        self.press(Qt.Key.Key_End, Qt.KeyboardModifier.ShiftModifier)
        self.press(Qt.Key.Key_Delete)

    def do_run(self) -> None:
        from PySide6.QtCore import Qt

        self.wanted = ()
        self.press(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)

    def do_run_at_once(self) -> None:
        """Run, change, run again, while the first is made."""
        self.do_run()
        self.do_edit()
        self.do_run()

    def do_strike(self) -> None:
        self.wanted = ()
        lines = [*self.editor.barriers, *self.editor.struck] * 3
        lines.append(self.rng.randint(1, self.editor.document().blockCount() + 1))
        line = self.rng.choice(lines)
        self.log[-1] += f" {line}: {self.editor.toggle(line)}"

    def do_click(self) -> None:
        from PySide6.QtCore import QPoint, Qt
        from PySide6.QtTest import QTest

        from tilescope.app.views.source.gutter import Gutter

        self.wanted = ()
        gutter = self.editor.findChild(Gutter)
        where = QPoint(
            self.rng.randrange(max(1, gutter.width())), self.rng.randrange(max(1, gutter.height()))
        )
        QTest.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=where)

    def do_undo(self) -> None:
        for _ in range(self.rng.randint(1, 6)):
            self.rng.choice([self.editor.undo, self.editor.undo, self.editor.redo])()

    def do_undo_all(self) -> None:
        self.wanted = ()
        self.live.undo_all()

    def do_travel(self) -> None:
        self.wanted = ()
        self.window.navigation.travel(self.rng.choice([-1, -1, 1]))

    def do_focus(self) -> None:
        self.window.stage.focus_next()

    def do_setup(self) -> None:
        self.show((self.rng.choice(SPECS),))

    def do_pair(self) -> None:
        self.show(self.rng.choice(PAIRS))

    def do_put(self) -> None:
        results = [p for p in self.window.toolbar.parameters() if p.choices or not p.file]
        if results:
            chosen = self.rng.choice(results)
            self.log[-1] += f" {chosen.name}"
            self.window.toolbar.put(chosen.name, str(self.rng.choice([1, 2, 4, 8, 16, 33])))

    def do_drag(self) -> None:
        results = [p for p in self.window.toolbar.parameters() if not p.file]
        if results:
            chosen = self.rng.choice(results)
            pointer = self.window.toolbar.gesture
            pointer._grab(chosen)
            for pixels in (30, 60, -40, self.rng.randint(-200, 200)):
                pointer._pull(chosen, pixels, False)
                self.wait(self.rng.choice([0, 5, 40]))
            if self.rng.random() < 0.5:
                self.rng.choice([self.do_run, self.do_strike, self.do_travel, self.do_edit])()
            pointer.stop()

    def do_schedule(self) -> None:
        self.window.commands["Swap panes"].trigger() if "Swap panes" in self.window.commands else None

    def do_lecture(self) -> None:
        self.wanted = ()
        self.window.lectures.open(self.opened_lecture, self.rng.randrange(4))

    def do_step(self) -> None:
        if self.window.lectures.player.lecture is not None:
            self.wanted = ()
            self.rng.choice([self.window.lectures.player.next, self.window.lectures.player.previous])()

    def do_leave(self) -> None:
        if self.window.lectures.player.lecture is not None:
            self.wanted = ()
            self.window.lectures.leave()

    def do_theme(self) -> None:
        self.window.look.scale_text(self.rng.choice([0.8, 1.0, 1.6, 2.0]))
        self.window.commands["Theme: Dark"].trigger()

    def do_exercise(self) -> None:
        self.wanted = ()
        self.window.exercises.open(self.rng.choice(self.window.exercises.exercises()[:6]))

    def do_leave_exercise(self) -> None:
        if self.window.exercises.is_open():
            self.wanted = ()
            self.window.exercises.leave()

    def do_close(self) -> None:
        """Close with edits: stay, or save in vain."""
        from PySide6.QtWidgets import QMessageBox

        buttons = QMessageBox.StandardButton
        self.answer = self.rng.choice([buttons.Cancel, buttons.Save, buttons.Escape])
        asked = bool(self.window.editing.unsaved())
        if not asked:
            return
        if self.window.close():
            self.after_close()
            self.open()

    def do_reopen(self) -> None:
        """Close during any work, and restart."""
        from PySide6.QtWidgets import QMessageBox

        self.answer = QMessageBox.StandardButton.Discard
        if self.rng.random() < 0.5:
            self.do_run()
        if not self.window.close():
            self.note("the window does not close", "")
        self.after_close()
        self.open()

    def after_close(self) -> None:
        from PySide6.QtCore import QEvent
        from PySide6.QtWidgets import QApplication

        self.window.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        last = time.monotonic() + common.PATIENCE
        while (left := common.family(os.getpid())[1:]) and time.monotonic() < last:
            self.wait(20)
        if left:
            words = [Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")[-80:] for pid in left]
            self.note("a process is left", words)
        written = json.loads((self.folder / "window.json").read_text() or "{}")
        if any(pane.get("source") for pane in (written.get("bookmark") or {}).get("panes", ())):
            self.note("an unsaved text is in the settings", "")

    def do_escape(self) -> None:
        self.wanted = ()
        self.window.escape()

    def do_seek(self) -> None:
        stage = self.window.stage
        stage.seek(stage.focus, self.rng.random() * max(stage.ends(), default=0))

    def do_tab(self) -> None:
        self.window.central.show_tab(self.rng.choice(["source", "findings", "source", "inspect"]))

    def do_resize(self) -> None:
        self.window.resize(self.rng.choice([500, 1280, 1900]), self.rng.choice([400, 800, 1100]))

    def do_save(self) -> None:
        self.window.editing.save()

    def do_find(self) -> None:
        self.window.side.source.find_bar.open()

    # What must hold.

    def wait(self, milliseconds: int) -> None:
        from PySide6.QtTest import QTest

        QTest.qWait(milliseconds)

    def is_at_rest(self) -> bool:
        window = self.window
        running = [p for p in (window.files.program, window.files.trial) if p is not None and p._process]
        return (
            window.stage.is_settled() and window.stage.jobs.is_idle() and not self.live.is_busy() and not running
            and window.navigation.scrub._before is None and window.lectures.player.awaited is None
            and not self.live._typing_timer.isActive()
        )  # fmt: skip

    def settle(self) -> bool:
        last = time.monotonic() + common.PATIENCE
        self.wait(1)
        while not self.is_at_rest():
            if time.monotonic() > last:
                self.note(
                    "never at rest", f"busy {self.live.is_busy()}, settled {self.window.stage.is_settled()}"
                )
                self.window.escape()
                return False
            self.wait(5)
        self.wait(20)
        self.settlings += 1
        return self.is_at_rest()

    def check(self) -> None:
        """Ask what must hold of a window at rest."""
        self.check_panes()
        if not self.window.exercises.is_open():
            self.check_editor()
        self.check_bar()
        sentence = self.window.notice.sentence.text()
        if "\n" in sentence or "Traceback" in sentence or len(sentence) > LONGEST:
            self.note("no sentence", repr(sentence)[:300])
        # The next step of a lecture and an exercise come when they are made.
        lecture = self.window.lectures.player.lecture
        if self.wanted and lecture is None and not self.window.exercises.is_open():
            shown = tuple(setup.scenario for setup in self.window.stage.setups)
            if shown != self.wanted:
                self.note("something else is shown than was asked for last", f"{shown}, not {self.wanted}")

    def check_panes(self) -> None:
        from tilescope.app.model.setup_launch import launch_of_setup

        stage = self.window.stage
        for pane, (setup, session) in enumerate(zip(stage.setups, stage.sessions, strict=True)):
            if session is None:
                self.note("a pane without a picture", (pane, self.window.notice.sentence.text()))
            elif not setup.file:
                launch = launch_of_setup(setup)
                if session.launch.source != launch.source:
                    self.note(
                        "a pane shows another text than its setup", (pane, setup.without, bool(setup.source))
                    )
                elif session.launch.key() != launch.key():
                    self.note("a pane shows another launch than its setup", (pane, setup.scenario))
            if self.window.central.panes[pane].session is not session:
                self.note("a pane draws another session than the stage's", pane)

    def check_editor(self) -> None:
        from tilescope.tracer.model.skipped_lines import barrier_lines

        source, stage = self.window.side.source, self.window.stage
        setup, session = stage.setups[stage.focus], stage.focused()
        if session is None or not source.isVisible():
            return
        if source.session is not session:
            held = source.session, self.window.side.session
            results = [s and (s.launch.scenario, s.launch.key()[:6]) for s in (*held, session)]
            self.note(
                "the source panel has another session than the pane in focus", (results, stage.is_settled())
            )
            return
        ran = self.live._ran(setup)
        if source._base != ran and not self.window.exercises.is_open():
            texts = source._base.text == ran.text
            self.note(
                "the editor's base is not what ran", f"same text {texts}, {source._base.struck}, {ran.struck}"
            )
        if source._shows_home() and not source.is_edited():
            barriers = frozenset(barrier_lines(source.text(), session.trace.kernel))
            if source.editor.barriers != barriers:
                self.note("the marked barriers are not the kernel's", f"{source.editor.barriers}, {barriers}")
        if set(setup.without) != set(ran.struck) and not setup.file:
            self.note("struck lines are not the setup's", f"{setup.without}, {ran.struck}")
        shows = source._shows_home() and not source._traced.is_changed()
        if shows and (source.text() != ran.text or source.struck() != ran.struck):
            self.note(
                "the editor shows something else than what ran as unchanged",
                f"{ran.struck} {source.struck()}",
            )
        if source._shows_home() and any(n > self.editor.document().blockCount() for n in self.editor.struck):
            self.note("a struck line is past the end", f"{self.editor.struck}")

    def check_bar(self) -> None:
        from tilescope.app.model.session import are_versions

        shown = self.window.stage.sessions
        pair = len(shown) == 2 and None not in shown and are_versions(*shown) and not self.live.is_suspended()
        if pair == self.window.editing.bar.isHidden():
            self.note("the bar", f"two versions {pair}, hidden {self.window.editing.bar.isHidden()}")

    def check_history(self) -> None:
        """Go back and forward, to the same setups; the last undo gives the shipped kernels."""
        window, before = self.window, self.window.stage.setups
        if (
            window.exercises.is_open()
            or window.lectures.player.lecture is not None
            or not window.navigation.history._back
        ):
            return
        self.log.append("back and forward")
        window.navigation.travel(-1)
        if not self.settle():
            return
        self.check()
        window.navigation.travel(1)
        if self.settle():
            if window.stage.setups != before:
                self.note(
                    "back and forward shows something else", f"{len(before)}, {len(window.stage.setups)}"
                )
            self.check()

    def check_undo(self) -> None:
        """Undo all edits: nothing edited is left, and the bar has gone."""
        window = self.window
        if window.exercises.is_open():
            return
        self.log.append("undo all, checked")
        names = {setup.scenario for setup in window.stage.setups}
        self.live.undo_all()
        if self.settle():
            self.check()
            if any(setup.is_edited for setup in window.stage.setups):
                self.note("edits are left after all were undone", [s.without for s in window.stage.setups])
            if not names & {setup.scenario for setup in window.stage.setups}:
                self.note("undo all shows another scenario", f"{names}, {window.stage.setups}")

    # The run.

    def drive(self, events: int) -> None:
        before, begun = shipped(), time.monotonic()
        self.begin()
        self.settle()
        number = 0
        while number < events:
            for _ in range(self.rng.choice([1, 1, 2, 3, 6])):
                number += 1
                self.event()
            if self.settle():
                self.guarded(self.check)
            if self.rng.random() < 0.06:
                self.wanted = ()
                self.guarded(self.rng.choice([self.check_history, self.check_undo]))
            if number % 100 < 3:
                seconds = time.monotonic() - begun
                print(
                    json.dumps({"event": number, "seconds": round(seconds), "rss": common.rss(os.getpid())}),
                    flush=True,
                )
        self.guarded(self.end)
        if shipped() != before:
            self.note("a shipped kernel was changed", "")
        results = {
            "end": True, "wrong": self.wrong, "slowest": round(self.slowest, 2), "what": self.what,
            "settlings": self.settlings, "seconds": round(time.monotonic() - begun), "kinds": self.kinds,
        }  # fmt: skip
        print(json.dumps(results), flush=True)
        os._exit(0)

    def event(self) -> None:
        kind = self.rng.choices(list(EVENTS), list(EVENTS.values()))[0]
        self.kinds[kind] += 1
        self.log.append(kind)
        begun = time.thread_time()
        faulthandler.dump_traceback_later(common.PATIENCE)  # on stderr: where it hangs
        self.guarded(lambda: self.act(kind))
        self.guarded(lambda: self.wait(self.rng.choice([0, 0, 1, 5, 30, 150, 400])))
        faulthandler.cancel_dump_traceback_later()
        if (seconds := time.thread_time() - begun) > self.slowest:
            self.slowest, self.what = seconds, " / ".join(self.log[-3:])

    def guarded(self, call) -> None:
        try:
            call()
        except Exception:
            self.hook(*sys.exc_info())

    def end(self) -> None:
        """The worker lives: another launch is traced; then all ends."""
        from PySide6.QtWidgets import QMessageBox

        self.log.append("end")
        if self.window.exercises.is_open():
            self.window.exercises.leave()
        if self.window.lectures.player.lecture is not None:
            self.window.lectures.leave()
        self.settle()
        self.show(("matmul-tiled:m=12,k=12,n=12,tile=4",))
        self.settle()
        self.check()
        self.answer = QMessageBox.StandardButton.Discard
        self.window.close()
        self.after_close()


def main() -> int:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else common.SEED
    folder, tally = common.scratch("live-editing"), common.Tally(f"live_editing (seed {seed})")
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    words = [sys.executable, __file__, "--drive", str(events), str(seed), str(folder)]
    ended = common.run(words, 2 * common.PATIENCE + events * 2, memory=5000)
    lines = [json.loads(line) for line in ended.out.splitlines() if line.startswith("{")]
    last = lines[-1] if lines else {}
    if not last.get("end"):
        output = f"status {ended.code} after {ended.seconds:.0f} s, last {last}, {ended.err[-2500:]}"
        tally.fail("the window dies or hangs", output)
        return tally.summary()
    for text, before in last["wrong"].items():
        kind, _, rest = text.partition(": ")
        tally.fail(kind, f"{rest} after {before}")
    if ended.err.strip():
        tally.fail("said on stderr", ended.err.strip()[-1500:])
    if last["slowest"] > STALL:
        tally.fail("stall", f"{last['slowest']:.1f} s by {last['what']}")
    print({k: v for k, v in last.items() if k != "wrong"}, file=sys.stderr)
    tally.good["events"] += events
    tally.tries += events
    return tally.summary()


if __name__ == "__main__":
    if "--drive" in sys.argv:
        faulthandler.enable()
        Driver(int(sys.argv[3]), Path(sys.argv[4])).drive(int(sys.argv[2]))
    else:
        sys.exit(main())
