"""The options of `tilescope check` about its report, together with pyproject.toml."""

from __future__ import annotations

from argparse import SUPPRESS, Namespace
from pathlib import Path
from typing import NamedTuple

from ....tracer.model.integers import parse_integer
from ..common.arguments import Parser, UsageError, positive_integer
from ..policy.baseline import read_baseline
from ..policy.chosen_rules import ALL, ChosenRules, code_prefixes
from ..policy.configuration import Configuration, find_configuration
from ..policy.policy import Policy, read_script
from ..policy.suppressions import SuppressionError
from ..reports.outputs import FORMATS, Output, chosen_outputs, output_format

OPTIONS_WITH_VALUE = (
    "--output-format", "--format", "--select", "--ignore", "--baseline", "--add-to-baseline", "--add-ignore",
    "--schedules", "--witnesses",
)  # fmt: skip


class CheckSettings(NamedTuple):
    """What a check reports, where to, and what it changes."""

    outputs: tuple[Output, ...] = ()
    policy: Policy = Policy()
    script: str = ""  # the absolute path of the program, "" if it is no file
    schedule: str = "lockstep"  # of the threads, as the report names it
    schedules: int = 0  # further orders to try
    witnesses: Path | None = None  # the absolute folder for orders that change a result
    exit_zero: bool = False
    ignore_reason: str = ""  # to write into the source, for all findings
    baseline_reason: str = ""  # to write into the baseline
    fix: bool = False
    diff: bool = False
    try_advice: bool = False  # also try remedies of waste


def add_report_arguments(parser: Parser) -> None:
    """Add the options about the report."""
    parser.add_argument(
        "--output-format",
        action="append",
        type=output_format,
        metavar="FORMAT[=FILE]",
        help=f"{', '.join(FORMATS)}; again with =FILE for several outputs of one run",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", "github"),
        help="as --output-format, with the list of findings that JSON was in the first version",
    )
    parser.add_argument(
        "--exit-zero", action="store_true", help="end with status 0 also if there are findings"
    )
    parser.add_argument(
        "--select",
        type=code_prefixes,
        metavar="TS1,TS201",
        help="report only rules with these codes, or beginnings",
    )
    parser.add_argument(
        "--ignore", type=code_prefixes, metavar="TS8", help="do not report rules with these codes"
    )
    parser.add_argument(
        "--baseline", metavar="FILE", help="a file of accepted findings, which are not reported"
    )
    parser.add_argument(
        "--add-to-baseline",
        type=_reason,
        metavar="REASON",
        help="accept all findings: add them to the baseline",
    )
    parser.add_argument(
        "--add-ignore",
        type=_reason,
        metavar="REASON",
        help="write a comment that suppresses it at each finding",
    )
    parser.add_argument(
        "--schedules",
        type=positive_integer,
        metavar="N",
        help="also run each launch in up to N random orders, until one changes the result",
    )
    parser.add_argument(
        "--witnesses",
        metavar="FOLDER",
        help="with --schedules: write each order that changes a result, for tilescope open --witness",
    )
    parser.add_argument(
        "--diff", action="store_true", help="print the remedies that a trial proved as a diff"
    )
    parser.add_argument(  # for the programs of a project whose findings are added
        "--baseline-may-be-missing", action="store_true", help=SUPPRESS
    )
    parser.add_argument(
        "--fix", action="store_true", help="write the remedies that a trial proved into the files"
    )
    parser.add_argument(
        "--try-advice",
        action="store_true",
        help="try the remedies of advice too, as --diff and --fix do",
    )


def settings_of(chosen: Namespace, configuration: Configuration, script: str) -> CheckSettings:
    """Combine the options with pyproject.toml; raises UsageError.

    script: the absolute path of the program, "" if it is no file.
    """
    outputs = chosen_outputs(chosen.output_format, chosen.format)
    if chosen.counters and not any(output.name == "json" for output in outputs):
        raise UsageError("--counters needs --output-format json.")
    path = Path(chosen.baseline).absolute() if chosen.baseline else configuration.baseline
    if chosen.add_to_baseline and path is None:
        raise UsageError("--add-to-baseline needs --baseline FILE.")
    configuration = configuration._replace(
        select=chosen.select or configuration.select,
        ignore=configuration.ignore if chosen.ignore is None else chosen.ignore,
        baseline=path,
    )
    may_be_missing = bool(chosen.add_to_baseline) or chosen.baseline_may_be_missing
    policy = policy_of(configuration, may_lack_baseline=may_be_missing)
    changes = [chosen.diff, chosen.fix, bool(chosen.add_ignore), bool(chosen.add_to_baseline)]
    if sum(changes) > 1:
        both = chosen.diff and chosen.fix
        names = (
            "--diff prints and --fix writes"
            if both
            else "--diff, --fix, --add-ignore and --add-to-baseline differ"
        )
        raise UsageError(f"{names}; use one of them.")
    schedules = chosen.schedules or configuration.schedules
    if chosen.witnesses and not schedules:
        raise UsageError("--witnesses needs --schedules N.")
    if script:
        try:
            read_script(script, chosen.program.name)
        except SuppressionError as error:
            raise UsageError(str(error)) from error
    return CheckSettings(
        outputs,
        policy,
        script,
        schedule_text(chosen),
        schedules,
        Path(chosen.witnesses).absolute() if chosen.witnesses else None,
        chosen.exit_zero,
        chosen.add_ignore or "",
        chosen.add_to_baseline or "",
        chosen.fix,
        chosen.diff,
        chosen.try_advice or chosen.fix or chosen.diff,
    )


def policy_of(configuration: Configuration, *, may_lack_baseline: bool = False) -> Policy:
    """Return the policy of a project, with its baseline; raises UsageError."""
    path = configuration.baseline
    rules = ChosenRules(
        configuration.select or (ALL,),
        configuration.ignore,
        configuration.per_file_ignores,
        configuration.folder,
    )
    baseline = read_baseline(path, may_be_missing=may_lack_baseline) if path else None
    return Policy(rules, configuration.paths, baseline)


def schedule_text(chosen: Namespace) -> str:
    """Name the order of the threads: lockstep, or random order with seed 3."""
    if chosen.schedule == "random":
        return f"random order with seed {chosen.seed}"
    return {"lockstep": "lockstep", "sequential": "one thread after the other"}[chosen.schedule]


def configuration_here() -> Configuration:
    """Read the configuration of the working directory."""
    return find_configuration(Path.cwd())


def with_limits(chosen: Namespace, configuration: Configuration, patience: float) -> None:
    """Set the limits that the command line does not name.

    patience: the default.
    """
    limits = configuration.limits
    chosen.patience = chosen.patience or limits.patience or patience
    chosen.resident = chosen.resident or limits.resident
    if chosen.blocks is None:
        chosen.blocks = limits.blocks


def _reason(text: str) -> str:
    reason = " ".join(text.split())
    if not reason or parse_integer(reason) is not None or reason.startswith("-"):
        raise UsageError(f"the reason must be a text in quotes, not {text!r}.")
    return reason
