"""What the window asks about launches: whether to wait, to keep every access, to run the kernel of a file."""

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

BYTES_PER_ACCESS = 60  # that the trace of one access and what is derived from it take, about


class LaunchQuestions:
    """Asks in a notice; what was asked and said is forgotten once other launches are chosen.

    change_setups: runs other setups. show_source: shows the kernel that is asked about.
    """

    def __init__(
        self,
        stage: Stage,
        notice: Notice,
        change_setups: Callable[[tuple[Setup, ...]], None],
        show_source: Callable[[], None],
    ) -> None:
        self.stage, self.notice = stage, notice
        self.change_setups, self.show_source = change_setups, show_source
        # By pane, with the seconds that it takes, and its blocks.
        self._slow: dict[int, tuple[Launch, float, int]] = {}
        self._offers: dict[int, Trace] = {}  # by pane, of which not all is kept
        self._held = False  # whether what is to be asked waits
        stage.takes_long.connect(self.ask_patience)
        stage.consent.connect(self.ask_consent)

    def forget(self) -> None:
        """Take back what was asked, and what was said of the launches before."""
        self._slow.clear()
        self._offers.clear()
        self.notice.keep(("program",))

    def hold(self) -> None:
        """Ask nothing, as while a hand moves a parameter over values that nobody wants to wait for."""
        self._held = True

    def release(self) -> None:
        """Ask what is still to be asked, and what is from now on."""
        self._held = False
        if self._slow:
            self._ask_patience()
        for pane, trace in list(self._offers.items()):
            self.offer_all(pane, trace)

    def ask_patience(self, pane: int, launch: Launch, seconds: float, blocks: int) -> None:
        """Ask what to do with a launch that takes long."""
        self._slow[pane] = (launch, seconds, blocks)
        if not self._held:
            self._ask_patience()

    def _ask_patience(self) -> None:
        takes = duration_text(sum(seconds for _, seconds, _ in self._slow.values()))
        blocks = next(blocks for _, _, blocks in reversed(self._slow.values()))
        whole = f"All {blocks:,} blocks take" if len(self._slow) == 1 else "All blocks of both launches take"
        first = "the first one is" if len(self._slow) == 1 else "the first one of each is"
        self.notice.ask(
            f"{whole} about {takes}, so {first} shown. Count them all for the counters of the whole launch.",
            [("Count them all", self._count_all)],
            "patience",
        )

    def _count_all(self) -> None:
        for pane, (launch, _, _) in self._slow.items():
            self.stage.run_however_long(pane, launch)
        self._slow.clear()

    def offer_all(self, pane: int, trace: Trace) -> None:
        """Offer to keep every access of a launch of which some were left out, where that can be done."""
        setup = self.stage.setups[pane]
        left_out = len(trace) < trace.accesses <= KEEP_ALL.accesses and trace.error is None
        offered = left_out and not setup.file and setup.keep != "all" and pane not in self._slow
        if offered and self._held:
            self._offers[pane] = trace
        elif offered:
            self.notice.ask(*self._offer_of(trace), f"accesses of pane {pane}")

    def _offer_of(self, trace: Trace) -> tuple[str, list[tuple[str, Callable[[], None]]]]:
        """Return what is said of a launch of which not all is kept, and what may be done about it."""
        if trace.is_stopped:
            most = KEEP_ALL.accesses
            text = f"{trace.notice} Up to {most:,} can be held, which takes up to {_memory(most)}."
            return text, [("Hold more", self._keep_all)]
        text = (
            f"{len(trace):,} of {trace.accesses:,} accesses are kept: the counters are of the whole launch, the "
            f"picture of its first blocks. To keep all takes about {_memory(trace.accesses)}."
        )
        return text, [("Keep all", self._keep_all)]

    def _keep_all(self) -> None:
        stage = self.stage
        cut = [s is not None and len(s.trace) < s.trace.accesses for s in stage.sessions]
        self.change_setups(
            tuple(
                msgspec.structs.replace(setup, keep="all") if some and not setup.file else setup
                for setup, some in zip(stage.setups, cut, strict=True)
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
