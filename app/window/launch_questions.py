"""The window's questions about launches: wait, keep every access, run the kernel of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from ...tracer.model.launch import Launch
from ...tracer.model.plan import KEEP_ALL
from ...tracer.model.trace import Trace
from ...tracer.run.time_estimate import duration_text
from ..control.stage import Stage
from ..model.bookmark import Setup
from ..widgets.notice import Notice

BYTES_PER_ACCESS = 60  # approximate memory for the trace of one access and its derived data


class LaunchQuestions:
    """Asks in a notice; questions are dropped once other launches are chosen.

    change_setups: runs other setups. show_source: shows the kernel in question.
    """

    def __init__(
        self,
        stage: Stage,
        notice: Notice,
        change_setups: Callable[[tuple[Setup, ...]], None],
        show_source: Callable[[], object],
    ) -> None:
        self.stage, self.notice = stage, notice
        self.change_setups, self.show_source = change_setups, show_source
        # By pane: the launch, its estimated seconds, its blocks.
        self._slow: dict[int, tuple[Launch, float, int]] = {}
        self._offers: dict[int, Trace] = {}  # by pane, traces without all accesses
        self._is_held = False  # whether questions wait
        stage.takes_long.connect(self.ask_patience)
        stage.consent = self.ask_consent

    def forget(self) -> None:
        """Drop the questions and messages about the previous launches."""
        self._slow.clear()
        self._offers.clear()
        self.notice.keep(("program", "edit set aside"))

    def hold(self) -> None:
        """Delay questions while the user drags a parameter across many values."""
        self._is_held = True

    def release(self) -> None:
        """Ask the delayed questions, and later ones at once."""
        self._is_held = False
        if self._slow:
            self._ask_patience()
        for pane, trace in list(self._offers.items()):
            self.offer_all(pane, trace)

    def ask_patience(self, pane: int, launch: Launch, seconds: float, blocks: int) -> None:
        """Ask whether to wait for a slow launch."""
        self._slow[pane] = (launch, seconds, blocks)
        if not self._is_held:
            self._ask_patience()

    def _ask_patience(self) -> None:
        takes = duration_text(sum(seconds for _, seconds, _ in self._slow.values()))
        blocks = next(blocks for _, _, blocks in reversed(self._slow.values()))
        subject = (
            f"All {blocks:,} blocks take" if len(self._slow) == 1 else "All blocks of both launches take"
        )
        first_blocks = "the first one is" if len(self._slow) == 1 else "the first one of each is"
        self.notice.ask(
            f"{subject} about {takes}, so {first_blocks} shown. Count all for the counters of the complete launch.",
            [("Count all", self._count_all)],
            "patience",
        )

    def _count_all(self) -> None:
        for pane, (launch, _, _) in self._slow.items():
            self.stage.run_however_long(pane, launch)
        self._slow.clear()

    def offer_all(self, pane: int, trace: Trace) -> None:
        """Offer to keep every access of a launch if some were left out and all fit in memory."""
        setup = self.stage.setups[pane]
        left_out = len(trace) < trace.accesses <= KEEP_ALL.accesses and trace.error is None
        offered = left_out and not setup.file and setup.keep != "all" and pane not in self._slow
        if offered and self._is_held:
            self._offers[pane] = trace
        elif offered:
            self.notice.ask(*self._offer_text(trace), f"accesses of pane {pane}")

    def _offer_text(self, trace: Trace) -> tuple[str, list[tuple[str, Callable[[], None]]]]:
        """Return the message about a trace without all accesses, and its answers."""
        if trace.is_stopped:
            most = KEEP_ALL.accesses
            text = f"{trace.notice} Up to {most:,} can be kept, in up to {_memory(most)}."
            return text, [("Keep more accesses", self._keep_all)]
        text = (
            f"{len(trace):,} of {trace.accesses:,} accesses are kept: the counters are of the complete launch, the "
            f"picture is of its first blocks. Keeping all takes about {_memory(trace.accesses)}."
        )
        return text, [("Keep all", self._keep_all)]

    def _keep_all(self) -> None:
        stage = self.stage
        cut = [s is not None and len(s.trace) < s.trace.accesses for s in stage.sessions]
        self.change_setups(
            tuple(
                msgspec.structs.replace(setup, keep="all") if is_cut and not setup.file else setup
                for setup, is_cut in zip(stage.setups, cut, strict=True)
            )
        )

    def ask_consent(self, pane: int, launch: Launch) -> None:
        """Ask whether to run a kernel that came with a trace file."""
        name = Path(self.stage.setups[pane].file).name
        sentence = (
            f"The kernel in {name} came with that file. Read it under Source; it runs only if you agree."
        )
        self.show_source()
        self.notice.ask(sentence, [("Run it", lambda: self.stage.trust(pane, launch))], "consent")


def _memory(accesses: int) -> str:
    return f"{accesses * BYTES_PER_ACCESS / 1e9:.1f} GB of memory"
