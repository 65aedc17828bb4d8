"""Planning of a launch from a scenario and the user's choices; without numba."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypedDict, cast, get_args

import msgspec

from ... import ROOT
from ...kernels.scenarios import catalogue
from ...kernels.scenarios.catalogue import (
    Argument,
    CatalogueError,
    Plan,
    Scenario,
    Value,
    Values,
)
from ...kernels.scenarios.suggestions import did_you_mean
from .cuda_cpp_file import cuda_cpp_file
from .integers import parse_integer
from .kernel_imports import imports_digest
from .launch import (
    Array,
    Dim3,
    EngineName,
    Fill,
    Launch,
    Limits,
    Scalar,
    Schedule,
    ScheduleKind,
    is_cuda_cpp,
)
from .order import ORDER_PREFIX, OrderTextError, parse_order
from .skipped_lines import SkippedLineError, barrier_lines, without_lines

Resident = int | Literal["all"]
LOCKSTEP = Schedule()
Keep = Literal["some", "all"]
BARRIER_WORD = "barrier"
KEEP_SOME, KEEP_ALL = Limits(), Limits(accesses=100_000_000)
SPEC_OPTIONS = [
    "schedule",
    "seed",
    "resident",
    "blocks",
    "engine",
    "keep",
    "without",
    "source",
]  # names in a spec that are no parameters

FILE_OPTIONS = ["schedule", "seed", "resident", "blocks", "without"]  # names in the spec of a trace file
TRACE_SUFFIX = ".npz"


class PlanError(CatalogueError):
    """A launch that can't be planned; the message is one sentence for the user."""


class LaunchKeywords(TypedDict, total=False):
    """The way to run a scenario, as keywords of `launch_of`."""

    schedule: Schedule
    resident: Resident  # blocks that run at once
    blocks: tuple[int, ...]  # linear numbers of the blocks to run
    engine: EngineName
    keep: Keep  # "all" keeps all accesses, however many
    source: str  # replaces the text of the kernel's file
    without: tuple[int, ...]  # skipped lines of that text (from 1)


def launch_of(
    scenario: Scenario,
    values: Values,
    *,
    schedule: Schedule = LOCKSTEP,
    resident: Resident | None = None,
    blocks: Iterable[int] | None = None,
    limits: Limits | None = None,
    engine: EngineName = "compiled",
    keep: Keep = "some",
    source: str = "",
    without: tuple[int, ...] = (),
) -> Launch:
    """Return the launch of a scenario.

    values: the parameters that differ from their defaults. schedule: its seed is also that of random inputs.
    resident: blocks that run at once; "all" means as many as fit, None the scenario's own number.
    blocks: linear numbers of the blocks to run, None for all. engine, limits: see Launch; keep: "all" keeps all
    accesses, however many. source: replaces the text of the kernel's file, "" for its own.
    without: its skipped lines, see `without_lines`. Raises CatalogueError or PlanError.
    """
    plan = scenario.plan(catalogue.settle(scenario, values))
    file, text = kernel_source(scenario.kernel)
    source = source_without_lines(source or text, without)
    return Launch(
        kernel=scenario.kernel,
        source=source,
        imports_digest="" if is_cuda_cpp(file.name) else imports_digest(file.absolute(), source),
        arguments=_arguments(plan, schedule.seed),
        grid=plan.grid,
        block=plan.block,
        constants=dict(plan.constants),
        shared_bytes=plan.shared_bytes,
        scenario=scenario.name,
        schedule=schedule,
        resident=scenario.resident if resident is None else None if resident == "all" else resident,
        blocks=None if blocks is None else _checked_blocks(blocks, plan.grid),
        limits=limits or (KEEP_ALL if keep == "all" else KEEP_SOME),
        engine=engine,
    )


def twin_of(launch: Launch) -> Launch | None:
    """Return the launch of the Numba twin of a scenario's unmodified kernel in CUDA C++, None for another kernel."""
    try:
        scenario = catalogue.find(launch.scenario)
        own = kernel_source(scenario.kernel)[1]
    except CatalogueError:
        return None
    twin = scenario.twin
    if twin is None or scenario.cuda_c is None or (launch.kernel, launch.source) != (scenario.kernel, own):
        return None
    numbers = [argument.value for argument in launch.arguments if isinstance(argument, Scalar)]
    values: dict[str, Value] = {"tile": launch.block[0]}
    values |= {name: int(number) for name, number in zip(scenario.cuda_c.numbers, numbers, strict=True)}
    described = launch_of(twin, values)
    arrays = (argument for argument in launch.arguments if isinstance(argument, Array))
    return msgspec.structs.replace(
        described,
        arguments=tuple(next(arrays) if isinstance(given, Array) else given for given in described.arguments),
        schedule=launch.schedule,
        resident=launch.resident,
        blocks=launch.blocks,
        limits=launch.limits,
        engine=launch.engine,
    )


def source_without_lines(source: str, without: Iterable[int]) -> str:
    """Return a file's text without these lines; raises PlanError for a line that can't be skipped."""
    try:
        return without_lines(source, without)
    except SkippedLineError as error:
        raise PlanError(str(error)) from error


def _arguments(plan: Plan, seed: int) -> tuple[Array | Scalar, ...]:
    count = len(plan.arguments)
    return tuple(_argument(argument, seed * count + i) for i, argument in enumerate(plan.arguments))


def _argument(argument: Argument, seed: int) -> Array | Scalar:
    if argument.value is not None:
        return Scalar(argument.value)
    path = str(Path(argument.path).resolve()) if argument.path else ""
    return Array(
        shape=argument.shape,
        dtype=argument.dtype,
        fill=cast(Fill, argument.fill),
        seed=seed if argument.fill in ("random", "normal") else 0,
        path=path,
        digest=_digest(path) if path else "",
    )


def _digest(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {error.strerror or error}.") from error


def _checked_blocks(blocks: Iterable[int], grid: Dim3) -> tuple[int, ...]:
    chosen = tuple(sorted(set(blocks)))
    count = grid[0] * grid[1] * grid[2]
    for block in chosen:
        if not 0 <= block < count:
            raise PlanError(f"block {block} is not in the grid, whose blocks are 0 to {count - 1}.")
    if not chosen:
        raise PlanError("no block is chosen; name at least one.")
    return chosen


def kernel_source(kernel: str) -> tuple[Path, str]:
    """Return the file of a kernel (`module:function` of this package, or `file.py:function`) and its text.

    Modules and files in CUDA C++ have the suffix of the file: `tilescope.kernels.cuda_c.matmul_naive.cu:function`.

    Raises PlanError for a module that is not this package's, and for a file that cannot be read.
    """
    holder, _, function = kernel.rpartition(":")
    if not holder or not function.isidentifier():
        raise PlanError(f"{kernel!r} is not a kernel; write file.py:function.")
    if holder.endswith(".py"):
        path = Path(holder)
    elif is_cuda_cpp(holder):
        path = cuda_cpp_file(holder)
    else:
        path = _module_file(holder)
    return path, _text_of(path)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise PlanError(f"{path} is not a UTF-8 text file.") from error


def _module_file(module: str) -> Path:
    package, *rest = module.split(".")
    if package != __name__.split(".")[0] or not rest or not all(part.isidentifier() for part in rest):
        raise PlanError(f"{module!r} is not a module of Tilescope; write file.py:function.")
    return ROOT.joinpath(*rest).with_suffix(".py")


def parse_spec(text: str) -> tuple[Scenario, dict[str, Value], LaunchKeywords]:
    """Parse `NAME:m=64,tile=16,schedule=random,seed=3,resident=4,blocks=0+5`.

    The values are settled. `resident=all` means as many blocks as fit. `without=barrier2+48` skips lines of the kernel,
    and `source=FILE` replaces the text of its file. Raises CatalogueError or PlanError.
    """
    name, colon, rest = text.partition(":")
    scenario = catalogue.find(name)
    pairs = _pairs(name, rest) if colon else {}
    edit = _edit(scenario, pairs)
    options = _options(name, pairs) | edit
    _check_names(scenario, pairs)
    return scenario, catalogue.settle(scenario, pairs), options


def parse_file_spec(text: str) -> tuple[str, LaunchKeywords]:
    """Parse `FILE.npz` or `FILE.npz:schedule=random,seed=3,without=12+15`: return the path, and options or {}.

    Raises PlanError.
    """
    path, suffix, rest = text.rpartition(f"{TRACE_SUFFIX}:")
    if not suffix:
        return text, LaunchKeywords()
    path += TRACE_SUFFIX
    pairs = _pairs(path, rest)
    for key in pairs:
        if key not in FILE_OPTIONS:
            raise PlanError(f"{path} has no option {key!r}{did_you_mean(key, FILE_OPTIONS)}")
    lines = pairs.pop("without", "")
    options = _options(path, pairs)
    if lines:
        options["without"] = tuple(_number(line, f"a skipped line of {path}", 1) for line in lines.split("+"))
    return path, options


def _pairs(name: str, text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not (key and equals and value):
            raise PlanError(f"{part!r} after {name}: is not a parameter; write {name}:m=64,tile=16.")
        if key in pairs:
            raise PlanError(f"{key} is given twice after {name}.")
        pairs[key] = value
    return pairs


def _check_names(scenario: Scenario, pairs: dict[str, str]) -> None:
    names = [parameter.name for parameter in scenario.parameters] + SPEC_OPTIONS
    for key in pairs:
        if key not in names:
            raise PlanError(f"{scenario.name} has no parameter {key!r}{did_you_mean(key, names)}")


def _options(name: str, pairs: dict[str, str]) -> LaunchKeywords:
    """Take the options out of `pairs`."""
    options = LaunchKeywords()
    kind, seed = pairs.pop("schedule", "lockstep"), pairs.pop("seed", "0")
    options["schedule"] = parse_schedule(kind, _number(seed, f"seed of {name}", 0), name)
    if resident := pairs.pop("resident", ""):
        options["resident"] = "all" if resident == "all" else _number(resident, f"resident of {name}", 1)
    if blocks := pairs.pop("blocks", ""):
        options["blocks"] = tuple(_number(block, f"a block of {name}", 0) for block in blocks.split("+"))
    if engine := pairs.pop("engine", ""):
        if engine not in get_args(EngineName):
            raise PlanError(f"engine of {name} must be compiled or simulator, not {engine!r}.")
        options["engine"] = cast(EngineName, engine)
    if keep := pairs.pop("keep", ""):
        if keep not in get_args(Keep):
            raise PlanError(f"keep of {name} must be some or all, not {keep!r}.")
        options["keep"] = cast(Keep, keep)
    return options


def parse_schedule(kind: str, seed: int, name: str = "the launch") -> Schedule:
    """Return the schedule of a word: lockstep, sequential, random, measured or order:TEXT; raises PlanError."""
    if kind.startswith(ORDER_PREFIX):
        try:
            return Schedule("order", seed, str(parse_order(kind)))
        except OrderTextError as error:
            raise PlanError(str(error)) from error
    if kind not in get_args(ScheduleKind) or kind == "order":
        raise PlanError(
            f"schedule of {name} must be lockstep, sequential, random, measured or order:TEXT, not {kind!r}."
        )
    return Schedule(cast(ScheduleKind, kind), seed)


def schedule_words(schedule: Schedule) -> str:
    """Return the word for a schedule in a spec, without its seed: "lockstep" or "order:t3x2"."""
    return f"{ORDER_PREFIX}{schedule.order_text}" if schedule.kind == "order" else schedule.kind


def _edit(scenario: Scenario, pairs: dict[str, str]) -> LaunchKeywords:
    """Take the changes to the kernel's file out of `pairs`."""
    edit = LaunchKeywords()
    if path := pairs.pop("source", ""):
        edit["source"] = _text_of(Path(path))
    if words := pairs.pop("without", ""):
        text = edit.get("source") or kernel_source(scenario.kernel)[1]
        barriers = barrier_lines(text, scenario.kernel.rpartition(":")[2])
        edit["without"] = tuple(sorted({_line(word, scenario.name, barriers) for word in words.split("+")}))
        source_without_lines(text, edit["without"])
    return edit


def _line(word: str, name: str, barriers: tuple[int, ...]) -> int:
    """Return the line of a word: its number, or "barrier2" for the second barrier of the kernel."""
    if not word.startswith(BARRIER_WORD):
        return _number(word, f"a skipped line of {name}", 1)
    number = _number(word.removeprefix(BARRIER_WORD), "the number of a barrier", 1)
    if number > len(barriers):
        raise PlanError(f"{name} has {len(barriers)} barriers, so there is no {word} to skip.")
    return barriers[number - 1]


def line_words(source: str, kernel: str, lines: Iterable[int]) -> str:
    """Return the value of `without=` for these lines: "barrier2+48", barriers by their number in the kernel."""
    barriers = barrier_lines(source, kernel.rpartition(":")[2])
    return "+".join(
        f"{BARRIER_WORD}{barriers.index(line) + 1}" if line in barriers else str(line)
        for line in sorted(lines)
    )


def _number(text: str, subject: str, minimum: int) -> int:
    number = parse_integer(text)
    if number is None or not minimum <= number < 2**31:
        raise PlanError(f"{subject} must be a whole number from {minimum} on, not {text!r}.")
    return number
