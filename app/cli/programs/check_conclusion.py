"""The end of a check: its outputs, the closing statement, changes of files, and the exit status."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from ..common.arguments import UsageError
from ..common.text_output import print_error
from ..policy.add_ignore import add_ignores
from ..policy.fingerprints import source_line
from ..policy.fixes import apply_fixes, diff_of, reason_for_none
from ..reports.outputs import write_outputs
from ..reports.report import (
    FindingData,
    Report,
    not_selected_text,
    not_traced_text,
    suppressed_text,
    traced_text,
)
from .check_settings import CheckSettings
from .run_as_main import INTERRUPTED

NOTHING_LAUNCHED = "the program launched no kernel, so nothing was checked."


class Conclusion:
    """Ends a check.

    folder: that names of files are relative to, None if they are absolute.
    """

    def __init__(self, settings: CheckSettings, folder: Path | None, output: TextIO) -> None:
        self._settings, self._folder, self._output = settings, folder, output

    def conclude(
        self, report: Report, status: int, launched: bool, report_engines: Callable[[], None] | None = None
    ) -> int:
        """Write the report, state what was traced, and change files; return the exit status of `check`.

        status: of the program. launched: whether it launched a kernel. report_engines: prints which engines ran.
        """
        is_written = self._write(report)
        if report_engines is not None:
            report_engines()
        self._print_closing(report, launched)
        try:
            is_accepted = self._change_files(report.findings)
        except UsageError as error:
            print_error(error)
            return 2
        if status == INTERRUPTED:
            return status
        has_errors = any(finding["severity"] == "error" for finding in report.findings)
        if has_errors and is_written and not (is_accepted or self._settings.exit_zero):
            return 1
        if has_errors and is_written and not status:
            return 0
        if not launched and not status:
            print_error(NOTHING_LAUNCHED)
        return 2 if status or not launched or not is_written else 0

    def _write(self, report: Report) -> bool:
        if not self._settings.diff:
            return write_outputs(report, self._settings.outputs, self._output)
        diff = diff_of(report.findings, self._path)
        if not diff:
            print_error(f"{reason_for_none(report.findings)}, so there is no diff.")
        with suppress(OSError, ValueError), self._output:
            self._output.write(diff)
        files = [output for output in self._settings.outputs if output.file is not None]
        return write_outputs(report, files, self._output)

    def _print_closing(self, report: Report, launched: bool) -> None:
        texts = [suppressed_text(report), self._unused_entries_text(report), not_selected_text(report)]
        if report.traced["launches"]:
            texts.append(traced_text(report.traced))
        if launched or report.traced["not_traced"]:
            texts.append(not_traced_text(report.traced))
        for text in filter(None, texts):
            print_error(text)

    def _unused_entries_text(self, report: Report) -> str:
        """Count the entries of the baseline that match nothing, in the files with kernels that this run traced."""
        baseline = self._settings.policy.baseline
        if baseline is None or not report.is_complete:
            return ""
        used = {finding["fingerprint"] for finding in report.suppressed}
        files = {name.rpartition(":")[0] for name in report.traced["kernel_names"]}
        unused = [e for e in baseline.entries if e.file in files and e.fingerprint not in used]
        if not unused:
            return ""
        count = "1 entry" if len(unused) == 1 else f"{len(unused):,} entries"
        name, first = self._named(str(baseline.path)), unused[0].fingerprint
        return f"{name} has {count} without a finding, first {first}; delete what is mended."

    def _change_files(self, findings: list[FindingData]) -> bool:
        """Write what the options ask for; return True if that accepts all findings."""
        from ....tracer.model.finding import count_noun

        settings = self._settings
        absolute = [self._with_paths(finding) for finding in findings]
        if settings.baseline_reason and settings.policy.baseline is not None:
            texts = [source_line(finding["file"], finding["line"]) for finding in absolute]
            baseline = settings.policy.baseline.with_findings(findings, texts, settings.baseline_reason)
            baseline.write()
            count = count_noun(len(baseline.entries), "accepted finding")
            print_error(f"{self._named(str(baseline.path))} now has {count}.")
            return True
        if settings.ignore_reason:
            lines, unchanged = add_ignores(absolute, settings.ignore_reason)
            print_error(f"comments were added on {count_noun(lines, 'line')}.")
            for file in unchanged:
                print_error(f"{self._named(file)} stays as it is: a comment can't be added there.")
            return not unchanged
        if settings.fix:
            for sentence in apply_fixes(absolute, self._named):
                print_error(sentence)
        return False

    def _with_paths(self, finding: FindingData) -> FindingData:
        places = [place | {"file": self._path(place["file"])} for place in finding["places"]]
        return finding | {"file": self._path(finding["file"]), "places": places}

    def _path(self, name: str) -> str:
        """Return the absolute path of a file in the report."""
        return name if self._folder is None or Path(name).is_absolute() else str(self._folder / name)

    def _named(self, file: str) -> str:
        return file_name(file, self._folder)


def file_name(file: str, folder: Path | None) -> str:
    """Return the name of a file in the report: relative to a folder that contains it."""
    path = Path(file)
    return str(path.relative_to(folder)) if folder and path.is_relative_to(folder) else file
