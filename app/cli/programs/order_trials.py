"""`--schedules N`: run the launches of a program in other orders, and add what that shows to the findings."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ....tracer.model.rules import ORDER_DEPENDENCE, RACE
from ..common.text_output import print_error
from ..reports.report import FindingData

if TYPE_CHECKING:
    from ....tracer.model.trace import Trace
    from ....tracer.orders.other_orders import ChangedResult, OrderCase

MOST_LAUNCHES = 64  # of a program that run in other orders
REMEDY = "let the result not depend on which thread comes first, or accept any of these results"


class OrderTrials:
    """The launches of a program that are to run in other orders.

    orders: the number of orders for each; 0 for none. witnesses: the folder for files that `tilescope open --witness`
    replays, None for no files.
    """

    def __init__(self, orders: int, witnesses: Path | None = None) -> None:
        self._orders, self._witnesses = orders, witnesses
        self._written: set[Path] = set()
        self._folder: Path | None = None  # of the launches' inputs
        self._cases: list[tuple[int, OrderCase]] = []
        self._launches = 0  # that were offered
        self._changed: dict[int, ChangedResult] = {}  # by the number of the launch
        self._tried = 0

    def add(self, number: int, trace: Trace) -> None:
        """Offer a launch of the program's own kernel, once it has ended."""
        if not self._orders:
            return
        from ....tracer.orders.other_orders import order_case
        from ....tracer.storage.temp_folders import new_process_folder

        self._launches += 1
        if len(self._cases) >= MOST_LAUNCHES:
            return
        if self._folder is None:
            self._folder = new_process_folder()
        case = order_case(trace, self._folder)
        if case is not None:
            self._cases.append((number, case))

    def run(self) -> dict[int, ChangedResult]:
        """Run the launches in other orders; return the changed results by the number of the launch."""
        from ....tracer.orders.other_orders import OtherOrders

        try:
            outcomes = OtherOrders(self._orders).outcomes([case for _, case in self._cases])
        finally:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        for (number, case), outcome in zip(self._cases, outcomes, strict=True):
            self._tried += outcome.orders > 0
            if outcome.changed is not None:
                file = self._write(self._witnesses, case, outcome.changed) if self._witnesses else ""
                self._changed[number] = outcome.changed._replace(file=file)
        self._cases = []
        return self._changed

    def _write(self, folder: Path, case: OrderCase, changed: ChangedResult) -> str:
        """Write the witness of a launch and its trace; return the path of the witness, "" if there is none."""
        from ....tracer.model.plan import TRACE_SUFFIX
        from ....tracer.orders.search import ChangedCell
        from ....tracer.orders.witness import WITNESS_SUFFIX, WitnessError, witness_of, write_witness
        from ....tracer.storage.trace_file import TraceFileError, save

        if changed.shrunk is None:
            print_error(
                f"the order of {case.trace.kernel} with seed {changed.schedule.seed} has no short form."
            )
            return ""
        order, cells = changed.shrunk, [ChangedCell(changed.element, changed.before, changed.after)]
        witness = witness_of(case.launch, order.order, order.reversal, cells if changed.element else [])
        stem, number = folder / case.trace.kernel, 2
        while stem in self._written:
            stem, number = folder / f"{case.trace.kernel}-{number}", number + 1
        self._written.add(stem)
        path = f"{stem}{WITNESS_SUFFIX}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            save(case.trace, Path(f"{stem}{TRACE_SUFFIX}"))
            write_witness(Path(path), witness)
        except (OSError, TraceFileError, WitnessError) as error:
            print_error(f"can't write {path}: {error.strerror}." if isinstance(error, OSError) else error)
            return ""
        print_error(f"tilescope open --witness {path} replays an order that changes {case.trace.kernel}.")
        return path

    def not_traced(self) -> list[str]:
        """Describe the launches that ran in no other order, as texts."""
        from ....tracer.model.finding import count_noun

        missing = self._launches - self._tried
        return [f"other orders of {count_noun(missing, 'launch')}, which can't run again"] if missing else []

    @property
    def schedule_text(self) -> str:
        """Describe the further orders: and up to 20 random orders; "" without any."""
        return f" and up to {self._orders} random orders" if self._orders else ""


def with_changed_result(finding: FindingData, changed: ChangedResult) -> FindingData:
    """Add to a race that another order changes the result: it is confirmed, and has a witness."""
    return finding | {
        "confidence": "confirmed",
        "statement": f"{finding['statement']} {changed.sentence}",
        "witness": witness_of(changed),
    }


def witness_of(changed: ChangedResult) -> dict[str, object]:
    """Convert a changed result to plain data; `order` is the short form of the random order, `file` replays it."""
    data: dict[str, object] = {
        "schedule": changed.schedule.kind, "seed": changed.schedule.seed, "element": changed.element,
        "before": changed.before, "after": changed.after,
    }  # fmt: skip
    if changed.shrunk is not None:
        data |= {"order": changed.shrunk.order, "switches": changed.shrunk.switches}
    return data | ({"file": changed.file} if changed.file else {})


def order_finding(trace_file: str, line: int, kernel: str, changed: ChangedResult) -> FindingData:
    """Describe a launch whose result depends on the order, though no accesses race: its atomics do."""
    message = f"1 launch of {kernel} has another result in another order of its threads; {REMEDY}. {changed.sentence}"
    data: FindingData = {
        "kind": "race", "severity": "warning", "file": trace_file, "line": line, "count": 1, "message": message,
        "remedy": REMEDY, "moment": 0, "threads": [], "name": "", "places": [], "statement": message,
        "cause": "order", "rule": ORDER_DEPENDENCE, "confidence": "confirmed", "accesses": [],
        "witness": witness_of(changed),
    }  # fmt: skip
    return data


def is_harmful_race(finding: FindingData) -> bool:
    """Return True for a race that is an error."""
    return bool(finding["rule"] == RACE and finding["severity"] == "error")
