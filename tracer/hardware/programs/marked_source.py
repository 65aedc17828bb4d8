"""Rewrites CUDA C++ so that its kernels record when their blocks run; nvcc compiles the result.

Lines stay where they are. `block_clocks.cuh` holds what the added code calls.
"""

from __future__ import annotations

from ...cuda_cpp.rewrite import Rewriter, tokenize

RECORDER = "tilescope_clocks::recorder"


def with_marks(text: str, template_kernels: frozenset[str] = frozenset()) -> str:
    """Add marks to the kernels of a text, and calls around its launches; template_kernels: not needed here."""
    return "".join(_Marker(tokenize(text), template_kernels).run())


class _Marker(Rewriter):
    def _step(self, index: int) -> int:
        token = self._tokens[index]
        if token.text == "<<<" and (after := self._launch(index)):
            return after
        if token.text == "__global__" and (after := self._marked_kernel(index)):
            return after
        self._emit(token.text, token.kind)
        return index + 1

    def _emit_launch(
        self, kernel: str, shown: str, config: str, gap: str, arguments: str, *, macro: bool
    ) -> None:
        name = f"#{kernel}" if macro and kernel.isidentifier() else shown
        before = f"{RECORDER}.begin({name}, __FILE__, __LINE__, {config})"
        launch = f"{kernel}<<<{config}>>>{gap}({arguments})"
        self._emit(f"({before}, {launch}, {RECORDER}.end())", "word")

    def _marked_kernel(self, index: int) -> int | None:
        """Copy the head of a kernel's definition and add a mark to its body; return the index in the body."""
        position = self._next(index + 1)
        while position < len(self._tokens) and self._text(position) not in (";", "{", "}"):
            if self._text(position) != "(":
                position = self._next(position + 1)
                continue
            closing = self._closing(position)
            if closing is None:
                return None
            position = self._next(closing + 1)
            if self._text(position) == "{":
                head = "".join(token.text for token in self._tokens[index : position + 1])
                self._emit(f"{head} TilescopeSpan tilescope_span;", "mark")
                return position + 1
        return None
