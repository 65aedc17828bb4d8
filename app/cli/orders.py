"""`tilescope orders`: find an order of the threads that changes a launch's result, or prove that there is none."""

from __future__ import annotations

import json
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from ...tracer.model.launch import Launch, decode
from ...tracer.model.order import OrderTextError, parse_order, segment_words
from ...tracer.model.plan import TRACE_SUFFIX, launch_of, parse_file_spec, parse_spec
from ...tracer.model.trace import Trace
from ...tracer.orders.elements import ElementError
from ...tracer.orders.explore import estimate_text
from ...tracer.orders.saved_launch import SavedLaunchError, runnable_launch
from ...tracer.orders.search import OrderSearchError, SearchLimits, SearchResult, search_orders
from ...tracer.orders.witness import WITNESS_SUFFIX, WitnessError, witness_of, write_witness
from ...tracer.run.long_launch import RUN_PATIENCE
from ...tracer.run.worker_client import Worker
from ...tracer.storage.trace_file import load, save
from ..model.named_file import is_file
from ..views.common.wording import bytes_text
from .common.arguments import (
    Parser,
    UsageError,
    check_scenarios,
    missing_file_text,
    positive_integer,
    positive_seconds,
)
from .common.interrupts import noted_interrupts
from .common.program_traces import traces_of_program
from .common.text_output import align_columns, is_stderr_a_terminal, print_escaped, show_progress

ORDERS, SECONDS = 2000, 60.0
FIRST_ORDER = 2  # the run after the launch's own
MANY_ORDERS = 1e9  # the estimate is printed before a search of more
MOST_VALUES = 20  # rows of the table of final values


def add_arguments(parser: Parser) -> None:
    parser.description = (
        "Find an order of the threads that changes the result of a launch, with the fewest switches, or prove that "
        "none does. Small launches are searched completely."
    )
    parser.add_argument(
        "what",
        metavar="SCENARIO | FILE.npz | FILE.py",
        help="a scenario such as count-racing:threads=4, a trace, or a program whose launches are searched",
    )
    parser.add_argument(
        "--element",
        default="",
        metavar="NAME[I, J]",
        help="count the orders for each of its possible final values",
    )
    parser.add_argument(
        "--orders",
        type=positive_integer,
        default=ORDERS,
        metavar="N",
        help=f"the most orders to run ({ORDERS:,})",
    )
    parser.add_argument(
        "--seconds", type=positive_seconds, default=SECONDS, help=f"the most time for a launch ({SECONDS:g})"
    )
    parser.add_argument(
        "--witness", metavar="FILE", help=f"write the order here (default: KERNEL{WITNESS_SUFFIX})"
    )
    parser.add_argument("--no-witness", action="store_true", help="write no witness file")
    parser.add_argument(
        "--json", action="store_true", help="print the results as JSON, one line for each launch"
    )
    parser.add_argument("--yes", action="store_true", help="run the kernel of a trace file without asking")


def execute(chosen: Namespace) -> int:
    """Search each launch; return 1 if an order changes the result of any, otherwise 0."""
    worker = Worker()
    has_changed = False
    try:
        with tempfile.TemporaryDirectory(prefix="tilescope-") as folder:
            for number, (launch, opened, trace) in enumerate(_launches(chosen, Path(folder))):
                result = _search(chosen, launch, worker)
                witness = _write_witness(chosen, launch, result, number, trace, opened)
                _print_result(chosen, result, *witness)
                has_changed |= result.changing_order is not None
    except (OrderSearchError, ElementError, SavedLaunchError, WitnessError) as error:
        raise UsageError(str(error)) from error
    finally:
        worker.close()
    return int(has_changed)


def _launches(chosen: Namespace, folder: Path) -> Iterator[tuple[Launch, str, Trace | None]]:
    """Yield the launches with the word that opens each, and the trace of a program's launch."""
    word: str = chosen.what
    if word.endswith(".py"):
        yield from _launches_of_program(word, folder)
    elif is_file(parse_file_spec(word)[0]):
        path, options = parse_file_spec(word)
        if options:
            raise UsageError("orders takes a trace file without options.")
        _agree(path, yes=chosen.yes)
        yield runnable_launch(load(path), folder), path, None
    elif word.endswith(TRACE_SUFFIX):
        raise UsageError(missing_file_text(word))
    else:
        check_scenarios([word])
        scenario, values, options = parse_spec(word)
        yield launch_of(scenario, values, **options), word, None


def _agree(path: str, *, yes: bool) -> None:
    """Ask whether to run the kernel of a file, which may be of other people; raises UsageError."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"a search runs the kernel in {path} many times; add --yes if you trust the file.")
    print_escaped(f"A search runs the kernel in {path} many times. Do you trust the file? [y/N]", sys.stderr)
    if input().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was run.")


def _launches_of_program(name: str, folder: Path) -> Iterator[tuple[Launch, str, Trace | None]]:
    """Run a program, and yield its launches."""
    for path in traces_of_program(name, folder):
        trace = load(path)
        yield runnable_launch(trace, folder), name, trace


def _search(chosen: Namespace, launch: Launch, worker: Worker) -> SearchResult:
    limits = SearchLimits(chosen.orders, chosen.seconds)
    shows = is_stderr_a_terminal() and not chosen.json

    def progress(tried: int, at_most: float) -> None:
        if tried == FIRST_ORDER and at_most > MANY_ORDERS:
            limits_text = (
                f"up to {chosen.orders:,} of them in {chosen.seconds:g} s; Ctrl+C stops and keeps the result"
            )
            print_escaped(
                f"{launch.kernel.rpartition(':')[2]}: {estimate_text(at_most)}. Trying {limits_text}.",
                sys.stderr,
            )
        if shows:
            show_progress(f"{tried:,} orders tried; {estimate_text(at_most)}")

    try:
        with noted_interrupts() as is_interrupted:
            return search_orders(
                launch,
                lambda changed: worker.run(changed, patience=RUN_PATIENCE),
                limits,
                element=chosen.element,
                stopped=is_interrupted,
                progress=progress,
            )
    finally:
        if shows:
            show_progress("")


def _write_witness(
    chosen: Namespace, launch: Launch, result: SearchResult, number: int, trace: Trace | None, opened: str
) -> tuple[str, str]:
    """Write the witness of an order that was found; return its path and the word that opens the launch."""
    changing = result.changing_order
    if changing is None or chosen.no_witness:
        return "", opened
    path = Path(chosen.witness or f"{result.kernel}{WITNESS_SUFFIX}")
    if number:
        path = path.with_name(f"{number + 1}-{path.name}")
    if trace is not None:
        opened = f"{str(path).removesuffix(WITNESS_SUFFIX)}{TRACE_SUFFIX}"
        save(trace, Path(opened))
    write_witness(path, witness_of(launch, changing.order, changing.sentence, changing.cells))
    return str(path), opened


def _print_result(chosen: Namespace, result: SearchResult, witness: str, opened: str) -> None:
    if chosen.json:
        data: dict[str, Any] = msgspec.to_builtins(result)
        data |= {"verdict": result.verdict, "witness": witness or None}
        if result.at_most == float("inf"):
            data["at_most"] = None
        print(json.dumps(data))
        return
    lines = [f"{result.kernel}: {result.verdict}"]
    shown = result.changing_order
    if shown is not None:
        lines += [shown.sentence] if shown.sentence else []
        lines += [f"  {text}" for text in order_lines(shown.order)]
        if shown.was_correct is not None and shown.is_correct is not None:
            lines.append(f"NumPy's result: {_check_text(shown.was_correct, shown.is_correct)}.")
        lines.append(f"order:{shown.order}")
        lines += [f"Replay it: tilescope open {opened} --witness {witness}"] if witness else []
    coverage = f"{result.tried:,} runs in {result.seconds:.1f} s; {estimate_text(result.at_most)}"
    lines.append(f"{coverage}; {bytes_text(result.memory)} of memory.")
    if result.element:
        lines += ["", *_values_table(result)]
    print_escaped("\n".join(lines))


def order_lines(text: str) -> list[str]:
    """List the parts of an order in words, numbered."""
    try:
        segments = parse_order(text).segments
    except OrderTextError as error:
        return [str(error)]
    words = [*segment_words(segments), "all threads take turns in lockstep"]
    return [f"{number}. {word[0].upper()}{word[1:]}." for number, word in enumerate(words, 1)]


def _check_text(before: bool, after: bool) -> str:
    words = {True: "reached", False: "missed"}
    return f"{words[before]} in the launch's order, {words[after]} in this one"


def _values_table(result: SearchResult) -> list[str]:
    if not result.values:
        return [f"{result.element}: every order gives the same value."]
    mark = "exact" if result.is_complete else f"of {result.orders:,} orders tried"
    most = max(value.orders for value in result.values)
    rows = [
        [
            value.value,
            f"{value.orders:,}",
            "#" * max(1, round(30 * value.orders / most)),
            value.order or "as launched",
        ]
        for value in result.values[:MOST_VALUES]
    ]
    more = len(result.values) - MOST_VALUES
    lines = align_columns([[result.element, "orders", mark, "an order"], *rows], ">><<")
    return [*lines, f"{more:,} more values"] if more > 0 else lines


@contextmanager
def usage_errors() -> Iterator[None]:
    """Convert the errors of witness files to UsageError."""
    try:
        yield
    except (WitnessError, SavedLaunchError) as error:
        raise UsageError(str(error)) from error


def trace_of_witness(witness_file: str) -> str:
    """Return the trace that a check or a search wrote next to a witness; raises UsageError if it is not there."""
    path = f"{witness_file.removesuffix(WITNESS_SUFFIX)}{TRACE_SUFFIX}"
    if not is_file(path):
        raise UsageError(
            f"there is no trace {path} next to the witness; name the scenario or trace that it is of."
        )
    return path


def specs_with_witness(spec: str, witness_file: str) -> list[str]:
    """Return the specs of two panes: a launch in its own order, and in the order of a witness file.

    Raises UsageError if the witness is of another launch.
    """
    from ...tracer.orders.witness import check_witness, read_witness

    with usage_errors():
        witness = read_witness(Path(witness_file))
        path, _ = parse_file_spec(spec)
        if is_file(path):
            check_witness(witness, decode(load(path).launch))
            return [path, f"{path}:schedule={witness.schedule}"]
        scenario, values, options = parse_spec(spec)
        check_witness(witness, launch_of(scenario, values, **options))
    name, _, rest = spec.partition(":")
    kept = [part for part in rest.split(",") if part and not part.startswith("schedule=")]
    return [spec, f"{name}:{','.join([*kept, f'schedule={witness.schedule}'])}"]
