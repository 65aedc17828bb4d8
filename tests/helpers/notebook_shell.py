"""A shell with IPython's names in its own process: what a notebook shows for each of some cells."""

from __future__ import annotations

import ast
import json
import linecache
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

Shown = dict[str, str]  # texts by MIME type, or an "error": its class and sentence


def outputs_of(*cells: str) -> list[list[Shown]]:
    """Run cells in a fresh process, and return what each shows."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__],
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert not done.returncode, done.stderr
    outputs: list[list[Shown]] = json.loads(done.stdout.splitlines()[-1])
    return outputs


class UsageError(Exception):
    """IPython's error that is shown as one sentence."""


class Shell:
    """The parts of IPython's shell that extensions use."""

    def __init__(self) -> None:
        self.magics: dict[str, Any] = {}
        self.shown: list[Shown] = []
        self.user_ns: dict[str, Any] = {"In": [""]}
        self.compile = SimpleNamespace(format_code_name=self.name_of)
        self.numbers: dict[str, int] = {}  # of cells, by the names of their code

    def name_of(self, file: str) -> tuple[str, str] | None:
        """Return the name of a cell in tracebacks."""
        return ("Cell", f"In[{self.numbers[file]}]") if file in self.numbers else None

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        """Register a magic."""
        assert kind == "cell"
        self.magics[name] = function

    def display(self, value: Any) -> None:
        """Show a value."""
        bundle = getattr(value, "_repr_mimebundle_", lambda: {"text/plain": repr(value)})
        self.shown.append(bundle())

    def run(self, text: str) -> list[Shown]:
        """Run a cell that a user types, and return what it shows."""
        self.shown = []
        self.user_ns["In"].append(text)
        first, _, body = text.partition("\n")
        name, _, line = first.removeprefix("%%").partition(" ")
        if first == "%load_ext tilescope":
            sys.modules["tilescope"].load_ipython_extension(self)
        elif first.startswith("%%"):
            try:
                self.magics[name](line, body)
            except UsageError as error:
                self.shown.append({"error": f"UsageError: {error}"})
        else:
            self.run_cell(text)
        return self.shown

    def run_cell(self, text: str) -> None:
        """Run a text as a cell."""
        file = f"<cell {len(self.numbers)}>"
        self.numbers[file] = len(self.user_ns["In"]) - 1
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        *statements, last = ast.parse(text).body
        is_value = isinstance(last, ast.Expr)
        try:
            module = ast.Module([*statements, *([] if is_value else [last])], [])
            exec(compile(module, file, "exec"), self.user_ns)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), file, "eval"), self.user_ns)
                if value is not None:
                    self.display(value)
        except Exception as error:  # noqa: BLE001  # a notebook shows any
            self.shown.append({"error": f"{type(error).__name__}: {error}"})


def main() -> None:
    """Run the cells that the input lists, and print what they show as JSON."""
    shell = Shell()
    names = ("IPython", "IPython.core", "IPython.core.error", "IPython.display")
    modules = {name: ModuleType(name) for name in names}
    vars(modules["IPython"])["get_ipython"] = lambda: shell
    vars(modules["IPython.core.error"])["UsageError"] = UsageError
    vars(modules["IPython.display"])["display"] = shell.display
    sys.modules.update(modules)
    print(json.dumps([shell.run(cell) for cell in json.load(sys.stdin)]))


if __name__ == "__main__":
    main()
