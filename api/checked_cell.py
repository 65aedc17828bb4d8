"""What a notebook shows of the launches of a cell: their findings next to the lines, and a replay."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from html import escape

from ..app.cli.reports.text import rule_text
from ..app.model.kernel_source import function_lines
from ..app.model.visible_text import escape_controls, escape_controls_in_lines
from ..tracer.model.finding import count_noun
from .findings import Finding, display_name, findings_of
from .launches import TracedLaunch
from .replays import MimeBundle

EDGES = {"error": "#d55e00", "warning": "#e69f00", "note": "#56b4e9"}  # as the window marks them
LINE = "display:flex;flex-wrap:wrap;gap:0 1em;border-left:4px solid {edge};padding-left:6px"
CODE = "flex:1 1 26em;background:none;color:inherit;white-space:pre-wrap;overflow-wrap:anywhere;font-family:monospace"
NOTE = "flex:1 1 22em"


class CheckedCell:
    """The launches of a cell: their findings next to the lines of the kernels, and a replay of one launch."""

    def __init__(self, launches: Sequence[TracedLaunch], chosen: int, count: str = "") -> None:
        """Collect the findings. chosen: the launch to replay. count: how many launches there were, if more."""
        self._launches, self._chosen, self._count = tuple(launches), chosen, count
        self.measured = ""  # the time of the replayed launch on a GPU
        self.findings: tuple[Finding, ...] = findings_of(launch._recorded for launch in launches)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> MimeBundle:
        replay = self._launches[self._chosen]._repr_mimebundle_()["text/html"]
        return {"text/html": f"<div>{self._html()}</div>{replay}", "text/plain": repr(self)}

    def _html(self) -> str:
        kernels = dict.fromkeys((finding.file, finding.kernel) for finding in self.findings)
        blocks = [_block(file, kernel, self.findings) for file, kernel in kernels]
        return f"<p><b>{escape(self._summary())}</b></p>{''.join(blocks)}"

    def _summary(self) -> str:
        launches = self._count or count_noun(len(self._launches), "launch")
        number = "the last" if self._count else f"launch {self._chosen + 1}"
        replayed = f"; {number} is replayed" if len(self._launches) > 1 else ""
        measured = f"; {self.measured}" if self.measured else ""
        return f"{launches}, {count_noun(len(self.findings), 'finding')}{replayed}{measured}"

    def __repr__(self) -> str:
        return "\n".join([self._summary(), *map(str, self.findings)])


def _block(file: str, kernel: str, findings: Sequence[Finding]) -> str:
    """Return the lines of a kernel with its findings next to them; below, findings in other lines of its file."""
    lines = linecache.getlines(file)
    first, last = function_lines("".join(lines), kernel)
    own = [finding for finding in findings if (finding.file, finding.kernel) == (file, kernel)]
    rows = [
        _row(number, lines[number - 1].rstrip(), [f for f in own if f.line == number])
        for number in range(first, min(last, len(lines)) + 1)
    ]
    others = [finding for finding in own if not first <= finding.line <= last]
    rows += [_row(f.line, linecache.getline(f.file, f.line).rstrip(), [f]) for f in others]
    return f"<p>{escape(escape_controls(display_name(file)))}</p>{''.join(rows)}"


def _row(number: int, code: str, findings: Sequence[Finding]) -> str:
    edge = EDGES[findings[0].severity] if findings else "transparent"
    text = escape(f"{number:4} {escape_controls_in_lines(code)}")
    notes = "".join(f"<div>{_note(finding)}</div>" for finding in findings)
    parts = f'<code style="{CODE}">{text}</code><div style="{NOTE}">{notes}</div>'
    return f'<div style="{LINE.format(edge=edge)}">{parts}</div>'


def _note(finding: Finding) -> str:
    text = f"{finding.kind}: {finding.message}{rule_text(vars(finding))}"
    return f"<b>{finding.severity}</b> {escape(escape_controls(text))}"
