"""Run a command of Tilescope while a module or script has another text than its file: a mutant."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from .programs.mutants import USED_SUFFIX


class _Replacement:
    """The text of a file, in a file elsewhere."""

    def __init__(self, file: Path, text: Path) -> None:
        self._file, self._mark = file.resolve(), Path(f"{text}{USED_SUFFIX}")
        self._text = text.read_bytes()

    def text_of(self, path: str) -> bytes | None:
        """Return the text if a path names the file, else None; tracebacks and traces then show it too."""
        if Path(path).resolve() != self._file:
            return None
        self._mark.touch()
        shown = self._text.decode("utf-8", "replace")
        linecache.cache[path] = (len(shown), None, shown.splitlines(keepends=True), path)
        return self._text

    def install(self) -> None:
        """Replace the text for imports, which also ignore what Python compiled earlier."""
        get_data, path_stats = SourceFileLoader.get_data, SourceFileLoader.path_stats

        def replaced_data(loader: Any, path: str) -> bytes:
            text = self.text_of(path)
            return get_data(loader, path) if text is None else text

        def replaced_stats(loader: Any, path: str) -> Any:
            if Path(path).resolve() == self._file:
                raise OSError  # then Python neither reads nor writes a compiled file
            return path_stats(loader, path)

        SourceFileLoader.get_data = replaced_data  # type: ignore[method-assign, assignment]
        SourceFileLoader.path_stats = replaced_stats  # type: ignore[method-assign, assignment]


def main(words: Sequence[str]) -> int:
    """Run a command line: the file, the file with its text, and the words of the command."""
    from .main import main as run_command
    from .programs import run_as_main

    replacement = _Replacement(Path(words[0]), Path(words[1]))
    replacement.install()
    run_as_main.replaced_text = replacement.text_of
    return run_command(words[2:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
