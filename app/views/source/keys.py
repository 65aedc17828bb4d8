"""Editing keys for Python and C++: indents, comments, and the first column. No widgets."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument

from ...model.visible_text import replace_controls
from .highlight import python_line
from .history import difference, utf16_length

LEVEL = 4  # columns of a level of indentation
_CONDITION = re.compile(r"\s*(?:\}\s*)?(?:else\s+)?(?:(?:if|for|while|switch)\b.*\)|else|do)$")
Move, Mode = QTextCursor.MoveOperation, QTextCursor.MoveMode


def break_line(cursor: QTextCursor, *, cpp: bool = False) -> None:
    """Break the line and repeat its indent, one level deeper after a colon or an opening brace.

    cpp: the text is C++, where a condition without a brace holds for one statement.
    """
    cursor.beginEditBlock()
    cursor.removeSelectedText()
    block, column = cursor.block(), cursor.positionInBlock()
    before, after = block.text()[:column], block.text()[column:]
    indent = _indent_of(before)
    if cpp:
        code = _without_comment(before)
        opens_block = code.endswith("{") or is_condition(code)
        above = _without_comment(block.previous().text())
        if code.endswith(";") and is_condition(above):
            indent = _indent_of(above)
    else:
        opens_block = _code(block, before).rstrip().endswith((":", "{"))
    for _ in range(len(after) - len(after.lstrip())):
        cursor.deleteChar()
    cursor.insertText("\n" + indent + (level(cursor.document()) if opens_block else ""))
    cursor.endEditBlock()


def _indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _without_comment(line: str) -> str:
    """Return a line of C++ without a comment at its end and blanks before it."""
    return re.sub(r"/\*.*?\*/|//.*", "", line).rstrip()


def is_condition(code: str) -> bool:
    """Return True for a line of C++ that ends with the head of a branch or loop, without a brace."""
    return bool(_CONDITION.match(code))


def close_block(cursor: QTextCursor) -> None:
    """Write a closing brace of C++, one level to the left on a blank line."""
    block = cursor.block()
    if not cursor.hasSelection() and not block.text().strip():
        above = block.previous()
        while above.isValid() and not above.text().strip():
            above = above.previous()
        target = _indent_of(above.text())
        if not _without_comment(above.text()).endswith("{"):
            target = _dedented(target)
        if len(block.text()) > len(target):
            cursor.setPosition(block.position())
            cursor.movePosition(Move.EndOfBlock, Mode.KeepAnchor)
            cursor.insertText(target)
    cursor.insertText("}")


def _code(block: QTextBlock, before: str) -> str:
    """Return the text of a line before a column, without strings and comments."""
    tokens, state = python_line(before, max(0, block.previous().userState()))
    plain = list(before)
    for first, length, style in tokens:
        if style in ("string", "comment"):
            plain[first : first + length] = " " * length if style == "comment" else "x" * length
    return "".join(plain) if not state else before + "x"


def level(document: QTextDocument) -> str:
    """Return one level of indentation: spaces, or a tab if the text is indented by tabs."""
    return "\t" if _has_tabs(document) else " " * LEVEL


def _has_tabs(document: QTextDocument) -> bool:
    return "\u2029\t" in document.toRawText()


def indent(cursor: QTextCursor) -> None:
    """Indent the selected lines; without a selection, fill up to the next level at the cursor."""
    if cursor.hasSelection():
        _change_lines(cursor, lambda text: level(cursor.document()) + text if text.strip() else text)
        return
    unit = level(cursor.document())
    cursor.insertText(unit if unit == "\t" else " " * (LEVEL - cursor.positionInBlock() % LEVEL))


def dedent(cursor: QTextCursor) -> None:
    """Dedent the selected lines, or the cursor's line."""
    _change_lines(cursor, _dedented)


def _dedented(text: str) -> str:
    blanks = len(text) - len(text.lstrip(" "))
    return text[1:] if text.startswith("\t") else text[min(blanks, (blanks - 1) % LEVEL + 1) :]


def erase_level(cursor: QTextCursor) -> bool:
    """Erase one level of blanks before the cursor; return False if other text is there."""
    before = cursor.block().text()[: cursor.positionInBlock()]
    if cursor.hasSelection() or not before or before.strip(" "):
        return False
    cursor.movePosition(Move.Left, Mode.KeepAnchor, (len(before) - 1) % LEVEL + 1)
    cursor.removeSelectedText()
    return True


def comment(cursor: QTextCursor, sign: str = "#") -> None:
    """Comment lines out, or uncomment them if all are comments. sign: begins a comment, "//" in C++."""
    texts = [block.text() for block in _blocks(cursor) if block.text().strip()]
    if all(text.lstrip().startswith(sign) for text in texts):
        _change_lines(cursor, lambda text: _uncommented(text, sign))
        return
    column = min(len(text) - len(text.lstrip()) for text in texts)
    _change_lines(cursor, lambda text: f"{text[:column]}{sign} {text[column:]}" if text.strip() else text)


def _uncommented(text: str, mark: str) -> str:
    before, sign, after = text.partition(mark)
    return before + (after[1:] if after.startswith(" ") else after) if sign and not before.strip() else text


def go_to_line_start(cursor: QTextCursor, select: bool) -> None:
    """Go to the first character of the line's text; from there, to column 0."""
    text = cursor.block().text()
    first = len(text) - len(text.lstrip())
    column = 0 if cursor.positionInBlock() == first else first
    cursor.setPosition(cursor.block().position() + column, Mode.KeepAnchor if select else Mode.MoveAnchor)


def _blocks(cursor: QTextCursor) -> list[QTextBlock]:
    """List the lines that a selection touches, without a last line of which no character is selected."""
    document = cursor.document()
    first, last = document.findBlock(cursor.selectionStart()), document.findBlock(cursor.selectionEnd())
    if cursor.selectionEnd() == last.position() and last != first:
        last = last.previous()
    blocks = [first]
    while blocks[-1] != last:
        blocks.append(blocks[-1].next())
    return blocks


def _change_lines(cursor: QTextCursor, change: Callable[[str], str]) -> None:
    """Change each selected line, as one step, and keep the lines selected."""
    blocks, selected = _blocks(cursor), cursor.hasSelection()
    numbers = [block.blockNumber() for block in blocks]
    writer = QTextCursor(cursor.document())
    writer.beginEditBlock()
    for block in blocks:
        _write(writer, block, change(block.text()))
    writer.endEditBlock()
    if selected:
        document = cursor.document()
        last = document.findBlockByNumber(numbers[-1])
        cursor.setPosition(document.findBlockByNumber(numbers[0]).position())
        cursor.setPosition(last.position() + last.length() - 1, Mode.KeepAnchor)


def _write(writer: QTextCursor, block: QTextBlock, text: str) -> None:
    """Replace the text of a line; only what differs changes, so that cursors stay."""
    step = difference(block.position(), block.text(), text)
    if step is not None:
        writer.setPosition(step.start)
        writer.setPosition(step.start + utf16_length(step.removed), Mode.KeepAnchor)
        writer.insertText(step.added)


def pasted(text: str, document: QTextDocument) -> str:
    """Convert pasted text to source: uniform line ends and no invisible characters.

    Web pages put no-break spaces and zero-width marks between letters, which Python rejects.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2029", "\n").replace("\u2028", "\n")
    plain = lines.replace("\u00a0", " ")
    printable = "".join(c for c, shown in zip(plain, replace_controls(plain), strict=True) if c == shown)
    return printable if _has_tabs(document) else printable.expandtabs(LEVEL)
