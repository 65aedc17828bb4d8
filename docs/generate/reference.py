"""The reference, generated from the code: commands, options, keys, the API and JSON schemas."""

from __future__ import annotations

import inspect
import json
import os
from argparse import Action
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cached_property
from types import FunctionType

import msgspec
from host_api import host_api_page
from markdown import code_block, plain, prose, table
from planted_faults import planted_page
from program import Program

import tilescope
from tilescope.app.cli.commands import SUBCOMMANDS, WINDOW, Subcommand, parser_of

INDEX = """# Reference

These pages are generated from the code.

- [Commands](commands.md): every command and option
- [API](api.md): the public names of the Python package
- [Keys](keys.md): every menu entry of the window, with its keys
- [File formats](file-formats.md): what Tilescope reads and writes
- [Engines](engines.md): what each engine runs
- [Planted faults](planted-faults.md): the verdicts of `check` about sixty programs with a fault
- [Host API](host-api.md): which names of numba.cuda work outside kernels
- [JSON](json.md): what commands print as JSON, and JSON schemas
"""


def reference_pages(program: Program) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the pages of the reference."""
    yield "reference/index.md", INDEX
    yield "reference/commands.md", _commands()
    yield "reference/api.md", _api()
    yield "reference/keys.md", "# Keys\n" if program.quick else _keys()
    yield "reference/host-api.md", host_api_page()
    yield "reference/planted-faults.md", planted_page()
    yield "reference/schemas.md", _schemas()


def _commands() -> str:
    parts = ["# Commands", "`tilescope --help` and `tilescope COMMAND --help` print the same."]
    rows = [[f"[`tilescope {c.name}`](#{_anchor(c)})", plain(c.help)] for c in SUBCOMMANDS]
    parts.append(table(["command", "purpose"], rows))
    for command in (WINDOW, *SUBCOMMANDS):
        parser = parser_of(command)
        usage = parser.format_usage().removeprefix("usage: ")
        parts += [f"## tilescope {command.name} {{ #{_anchor(command)} }}".replace("  ", " ")]
        parts += [plain(parser.description or ""), code_block(usage, "text")]
        actions = [
            [_words(a), plain((a.help or "").replace("%%", "%"))]
            for a in parser._actions
            if a.help != "==SUPPRESS=="
        ]
        parts.append(table(["word", "meaning"], actions))
    return "\n\n".join(parts) + "\n"


def _anchor(command: Subcommand) -> str:
    return f"tilescope-{command.name.replace(' ', '-')}" if command.name else "the-window"


def _words(action: Action) -> str:
    value = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    names = action.option_strings or [str(value)]
    takes = f" {value}" if action.option_strings and action.nargs != 0 else ""
    return ", ".join(f"`{name}{takes}`" for name in names)


def _api() -> str:
    parts = ["# API", "`import tilescope` loads nothing else until you use a name."]
    for name in tilescope.__all__:
        if not name.startswith("_"):
            parts += _described(name, getattr(tilescope, name), 2)
    return "\n\n".join(parts) + "\n"


def _described(name: str, value: object, level: int) -> Iterator[str]:
    """Yield the parts of the text about a public name, and about the members of a class."""
    yield f"{'#' * level} {name}"
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, cached_property):
        value = value.func
    elif inspect.isclass(value):
        yield code_block(f"class {name}({value.__base__.__name__})".replace("(object)", ""), "python")
    elif callable(value):
        yield code_block(f"{name}{_signature(value)}", "python")
    yield prose(inspect.getdoc(value) or "")
    if inspect.isclass(value):
        fields = getattr(value, "__dataclass_fields__", {})
        if fields:
            yield table(["attribute", "type"], [[f"`{f.name}`", f"`{f.type}`"] for f in fields.values()])
        for member, inner in vars(value).items():
            if not member.startswith("_") and isinstance(inner, property | cached_property | FunctionType):
                yield from _described(f"{name}.{member}", inner, level + 1)


class _Written:
    """An annotation as the source has it, without quotes."""

    def __init__(self, text: object) -> None:
        self.text = str(text)

    def __repr__(self) -> str:
        return self.text


def _signature(value: Callable[..., object]) -> str:
    """Return the parameters and the result of a function, without self."""
    found = inspect.signature(value)
    parameters = [
        parameter.replace(annotation=_Written(parameter.annotation))
        if parameter.annotation is not parameter.empty else parameter
        for parameter in found.parameters.values() if parameter.name != "self"
    ]  # fmt: skip
    result = found.return_annotation
    bare = found.empty if result is found.empty else _Written(result)
    return str(found.replace(parameters=parameters, return_annotation=bare))


def _keys() -> str:
    """Return the menu of a window, with its keys."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from tilescope.app.control.session_jobs import SessionJobs
    from tilescope.app.widgets.widget_picture import prepare_qt
    from tilescope.app.window.dialogs import FIELD_KEYS
    from tilescope.app.window.main_window import MainWindow
    from tilescope.app.window.start import application
    from tilescope.tracer.run.worker_client import Worker
    from tilescope.tracer.storage.folders import cache_folder
    from tilescope.tracer.storage.trace_cache import TraceCache

    prepare_qt(1.0)
    application()
    with closing(Worker()) as worker:
        window = MainWindow(SessionJobs(worker, TraceCache(cache_folder())))
        rows: dict[str, list[list[str]]] = {}
        for title, part in window.menu.parts.items():
            rows[title] = [
                [plain(action.text().replace("&", "")), " ".join(f"`{k.toString()}`" for k in action.shortcuts())]
                for action in part.actions() if action.text() and not action.menu()
            ]  # fmt: skip
        window.close()
    for title, text, keys in FIELD_KEYS:
        rows.setdefault(title, []).append([plain(text), plain(keys)])
    parts = [
        f"## {title}\n\n{table(['entry', 'keys'], entries)}" for title, entries in rows.items() if entries
    ]
    return "\n\n".join(["# Keys", "Every entry of the window's menu. F1 shows the same list.", *parts]) + "\n"


def _schemas() -> str:
    from tilescope.tracer.hardware.timeline import TimelineHead
    from tilescope.tracer.hardware.times.measurement import Measurement
    from tilescope.tracer.model.launch import Launch

    parts = [
        "# JSON schemas",
        "These types are checked when a file is read. The schemas follow JSON Schema 2020-12.",
    ]
    for kind, text in (
        (Launch, "A launch, in a trace file."),
        (Measurement, "A measurement, in a file of measured times."),
        (TimelineHead, "The head of a timeline that a GPU recorded."),
    ):
        schema = json.dumps(msgspec.json.schema(kind), indent=2)
        parts += [
            f"## {kind.__name__}",
            text,
            f'??? note "Schema"\n\n    {code_block(schema, "json").replace(chr(10), chr(10) + "    ")}',
        ]
    return "\n\n".join(parts) + "\n"
