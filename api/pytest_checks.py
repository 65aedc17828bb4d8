"""The checks of `pytest --tilescope`: every launch of a test is traced, and findings fail the test."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..app.cli.common.arguments import UsageError
from ..app.cli.common.text_output import print_error
from ..app.cli.policy.chosen_rules import check_prefixes
from ..app.cli.policy.policy import Coverage
from ..app.cli.policy.suppressions import SuppressionError
from ..app.cli.programs.check_conclusion import file_name
from ..app.cli.programs.check_settings import policy_of
from ..app.cli.programs.findings_output import FindingCollector, RemedyTrials
from ..app.cli.programs.forked_launches import record_here
from ..app.cli.reports.report import (
    FindingData,
    Report,
    merged_traced,
    not_selected_text,
    not_traced_text,
    suppressed_text,
    traced_data,
    traced_text,
)
from ..app.cli.reports.text import full
from ..tracer.model.rules import rule_of
from ..tracer.model.user_code import add_program_folder
from ..tracer.run.long_launch import CHECK_PATIENCE
from ..tracer.run.program_hook import RecordingOptions

if TYPE_CHECKING:
    from ..app.cli.policy.configuration import Configuration
    from ..tracer.model.trace import Trace
    from ..tracer.type_inference.question import Refusal
    from .launches import TracedLaunch

ORDER = "lockstep"
NOTHING_LAUNCHED = "no test launched a kernel, so nothing was checked."
OUTPUT = "tilescope"  # the key of a worker's summary for the process that collects the results
SECTION = "tilescope"  # the title of the findings of a test that failed anyway
MOST_LINES_NAMED = 3  # of findings, in the first line of a failure


class LaunchChecks:
    """The plugin that `--tilescope` registers.

    launches: of the running test, if it asks for them. Raises pytest.UsageError for settings that can't be used.
    """

    def __init__(self, root: Path, fail_on: str) -> None:
        if "numba" in sys.modules:
            raise pytest.UsageError(
                "--tilescope must trace Numba from its import on, but another plugin has imported it; load that plugin "
                "later, from a conftest.py."
            )
        from ..app.cli.policy.configuration import find_configuration

        try:
            configuration = find_configuration(root)
            self._policy = policy_of(configuration)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from error
        self._folder = configuration.folder
        self._severities = ("error", "warning") if fail_on == "warning" else ("error",)
        self._remedies = RemedyTrials()
        self._collector = self._new_collector()
        self._ignored: tuple[str, ...] = ()  # codes that the markers of the running test accept
        self._keeps_launches = False
        self._summary = _Summary()
        self.launches: list[TracedLaunch] = []
        add_program_folder(root)
        self._forked = record_here(self._options(configuration), self._take)

    def _options(self, configuration: Configuration) -> RecordingOptions:
        limits = configuration.limits
        every_block = limits.blocks == "all"
        return RecordingOptions(
            resident=limits.resident,
            blocks=limits.blocks if isinstance(limits.blocks, tuple) else None,
            every_block=every_block,
            notify=print_error,
            patience=limits.patience or CHECK_PATIENCE,
            refuse_too_large=False,  # it is a finding
            on_last_block=lambda trace: self._collector.add_last_block(trace),
            launched=lambda kernel, arguments: self._collector.compiler.ask(kernel, arguments),
            refused=self._refuse,
            on_mismatch=lambda kernel, sentence: self._collector.mismatch(kernel, sentence),
            on_fault=lambda fault: self._collector.note_fault(fault),
        )

    def _new_collector(self) -> FindingCollector:
        return FindingCollector(remedies=self._remedies)

    def _refuse(self, kernel: Any, refusal: Refusal) -> None:
        self._collector.refuse(kernel, refusal)

    def _take(self, trace: Trace, seconds: float) -> None:
        self._collector.add(trace)
        if self._keeps_launches:
            from .launches import TracedLaunch

            self.launches.append(TracedLaunch(lambda: trace))

    # ---- tests

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.launches = []
        self._keeps_launches = "tilescope_launches" in getattr(item, "fixturenames", ())
        try:
            return (yield)
        finally:
            self.launches, self._ignored = [], ()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self._ignored = _ignored_codes(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        with self._failing(item, "call"):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        with self._failing(item, "teardown"):
            return (yield)

    @contextmanager
    def _failing(self, item: pytest.Item, phase: str) -> Iterator[None]:
        """Fail a test with the findings of its launches; a test that fails anyway gets them as a section."""
        try:
            yield
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # pytest's own outcomes are no Exceptions
            if text := self._judge():
                item.add_report_section(phase, SECTION, text)
            raise
        if text := self._judge():
            pytest.fail(text, pytrace=False)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Fail a module if the launches of its import have findings."""
        report = yield
        text = self._judge()
        if text and report.passed:
            report.outcome, report.longrepr, report.result = "failed", text, []
        elif text:
            report.sections.append((SECTION, text))
        return report

    def _judge(self) -> str:
        """Return the text about the findings of the launches since the last call that fail a test, "" for none."""
        collector, self._collector = self._collector, self._new_collector()
        if not collector.launches and not collector.current_findings():
            return ""
        try:
            judged = self._policy.judge(collector.findings(), Coverage((), (), False), self._named)
        except SuppressionError as error:
            return str(error)
        allowed = [finding for finding in judged.findings if finding["rule"].startswith(self._ignored)]
        rest = [finding for finding in judged.findings if finding not in allowed]
        suppressed = [*judged.suppressed, *(f | {"suppression": {"by": "marker"}} for f in allowed)]
        failing = [finding for finding in rest if finding["severity"] in self._severities]
        traced = collector.traced(ORDER)
        self._summary.add(rest, suppressed, judged.not_selected, traced)
        report = Report("", failing, [], traced, True, {})
        return f"{_first_line(failing)}\n\n{full(report)}".rstrip() if failing else ""

    def _named(self, file: str) -> str:
        return file_name(file, self._folder)

    # ---- the end of the run

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(session.config, "workeroutput", None)  # of a worker of pytest-xdist
        self._judge()
        if self._forked.have_launched:
            self._summary.add([], [], {}, traced_data(not_traced=["launches in child processes"]))
        if output is not None:
            output[OUTPUT] = self._summary.data

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the summary of a worker of pytest-xdist that ended."""
        self._summary.merge(getattr(node, "workeroutput", {}).get(OUTPUT))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("tilescope")
        for line in self._summary.lines():
            terminalreporter.write_line(line)


def _ignored_codes(item: pytest.Item) -> tuple[str, ...]:
    """Return the rules that the markers of a test accept; fails the test for a marker that can't be used."""
    try:
        return tuple(code for marker in item.iter_markers("tilescope") for code in _codes_of(marker))
    except UsageError as error:
        problem = f"the marker tilescope: {error}"
    pytest.fail(problem, pytrace=False)


def _codes_of(marker: pytest.Mark) -> tuple[str, ...]:
    codes: Sequence[str] = marker.kwargs.get("ignore", "")
    is_list = isinstance(codes, list | tuple) and all(isinstance(code, str) for code in codes)
    if marker.args or set(marker.kwargs) != {"ignore"} or not is_list:
        raise UsageError('write @pytest.mark.tilescope(ignore=["TS101"]), with codes of rules.')
    return check_prefixes(codes)


def _first_line(failing: list[FindingData]) -> str:
    """Name the findings of a failure: TS101 in kernels.py:14."""
    names = list(dict.fromkeys(f"{f['rule']} in {f['file']}:{f['line']}" for f in failing))
    more = [f"{len(names) - MOST_LINES_NAMED:,} more"] if len(names) > MOST_LINES_NAMED else []
    return f"tilescope: {', '.join([*names[:MOST_LINES_NAMED], *more])}"


class _Summary:
    """What the tests of a process traced and found, as plain data that workers send."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {
            "findings": {},
            "suppressed": [],
            "not_selected": {},
            "traced": traced_data(),
        }

    def add(
        self, findings: list[FindingData], suppressed: list[FindingData], not_selected: dict[str, int],
        traced: dict[str, Any],
    ) -> None:  # fmt: skip
        """Add a test, or a module that is imported."""
        reasons = [{"suppression": {"by": finding["suppression"]["by"]}} for finding in suppressed]
        counts = dict(Counter(finding["rule"] for finding in findings))
        self.merge(
            {"findings": counts, "suppressed": reasons, "not_selected": not_selected, "traced": traced}
        )

    def merge(self, other: dict[str, Any] | None) -> None:
        """Add the summary of a worker; None for a worker that crashed."""
        if other is None:
            return
        data = self.data
        for name in ("findings", "not_selected"):
            data[name] = dict(Counter(data[name]) + Counter(other[name]))
        data["suppressed"] = [*data["suppressed"], *other["suppressed"]]
        data["traced"] = merged_traced([data["traced"], other["traced"]])

    def lines(self) -> list[str]:
        """Describe the run in sentences."""
        traced, findings = self.data["traced"], self.data["findings"]
        report = Report("", [], self.data["suppressed"], traced, True, self.data["not_selected"])
        counts = ", ".join(f"{n:,} of {code} ({rule_of(code).name})" for code, n in sorted(findings.items()))
        texts = [
            traced_text(traced) if traced["launches"] else NOTHING_LAUNCHED,
            f"findings: {counts or 'none'}." if traced["launches"] or counts else "",
            suppressed_text(report),
            not_selected_text(report),
            not_traced_text(traced),
        ]
        return [text for text in texts if text]
