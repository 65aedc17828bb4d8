"""A shell with IPython's names in its own process: what a notebook shows for each of some cells."""

from __future__ import annotations

import ast
import codeop
import json
import linecache
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
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


class Compiler(codeop.Compile):
    """IPython's compiler, which names the code of cells."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: dict[str, int] = {}  # of cells, by the names of their code

    def cache(self, text: str, number: int) -> str:
        """Make the text of a cell known to tracebacks, and return its name."""
        file = f"<cell {len(self.numbers)}>"
        self.numbers[file] = number
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        return file

    def format_code_name(self, file: str) -> tuple[str, str] | None:
        """Return the name of a cell in tracebacks."""
        return ("Cell", f"In[{self.numbers[file]}]") if file in self.numbers else None


class Timer:
    """IPython's `%timeit`, without its measurement."""

    def parse_options(
        self, line: str, letters: str, *, posix: bool, strict: bool
    ) -> tuple[dict[str, str], str]:
        """Separate options, of one letter and a number, from a statement."""
        assert letters.startswith("n:") and not posix and not strict
        words = line.split(" ")
        count = 2 * sum(word.startswith("-") for word in words)
        return {}, " ".join(words[count:])

    def timeit(self, line: str, cell: str | None = None) -> str:
        """Measure code."""
        return f"measured {line} {cell}"


class Shell:
    """The parts of IPython's shell that extensions use."""

    def __init__(self) -> None:
        self.magics: dict[tuple[str, str], Any] = {}  # by kind, "line" or "cell", and name
        self.register_magic_function(Timer().timeit, "line_cell", "timeit")
        self.register_magic_function(self.time, "cell", "time")
        self.shown: list[Shown] = []
        self.user_ns: dict[str, Any] = {"In": [""]}  # with magics as calls
        self.history_manager = SimpleNamespace(input_hist_raw=[""])
        self.compile = Compiler()
        self.execution_count = 1  # of the next cell
        self.callbacks: dict[str, list[Callable[[Any], None]]] = {"pre_run_cell": [], "post_run_cell": []}
        self.events = SimpleNamespace(register=lambda event, then: self.callbacks[event].append(then))

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        """Register a magic."""
        for one_kind in kind.split("_"):
            self.magics[one_kind, name] = function

    def find_magic(self, name: str) -> Any:
        """Return a magic of lines."""
        return self.magics["line", name]

    def ex(self, text: str) -> None:
        """Run statements."""
        exec(text, self.user_ns)

    def time(self, line: str, cell: str) -> None:
        """Run the code below `%%time` as IPython does: without a file, and without empty lines before it."""
        exec(self.compile(ast.parse(cell.lstrip("\n")), "<timed exec>", "exec"), self.user_ns)

    def display(self, value: Any) -> None:
        """Show a value."""
        bundle = getattr(value, "_repr_mimebundle_", lambda: {"text/plain": repr(value)})
        self.shown.append(bundle())

    def run(self, text: str) -> list[Shown]:
        """Run a cell that a user types, and return what it shows."""
        self.shown = []
        self.user_ns["In"].append(f"get_ipython().run({text!r})" if text.startswith("%") else text)
        self.history_manager.input_hist_raw.append(text)
        self.execution_count += 1
        for then in self.callbacks["pre_run_cell"]:
            then(SimpleNamespace(raw_cell=text))
        first, _, body = text.partition("\n")
        name, _, line = first.lstrip("%").partition(" ")
        if first == "%load_ext tilescope":
            import_module("tilescope").load_ipython_extension(self)
        elif first.startswith("%"):
            words = (line, body) if first.startswith("%%") else (line,)
            try:
                result = self.magics["cell" if len(words) == 2 else "line", name](*words)
            except UsageError as error:
                self.shown.append({"error": f"UsageError: {error}"})
            else:
                self.shown += [{"text/plain": result}] if result is not None else []
        else:
            self.run_cell(text, len(self.user_ns["In"]) - 1)
        for then in self.callbacks["post_run_cell"]:
            then(None)
        return self.shown

    def run_cell(self, text: str, number: int = 0) -> SimpleNamespace:
        """Run a text as a cell, and return its success; number: of a user's cell, 0 for a text that a magic runs."""
        file = self.compile.cache(text, number or self.execution_count)
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
            return SimpleNamespace(success=False)
        return SimpleNamespace(success=True)


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
