"""`--add-ignore`: write comments that suppress the findings of a run."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

from ....tracer.storage.atomic_write import write_atomically
from ..reports.report import FindingData
from .policy import is_cpp_file

BRACKET = re.compile(r"(tilescope:\s*ignore\s*\[)([^\]]*)(\])")
Wanted = dict[int, list[str]]  # codes by line


def add_ignores(findings: list[FindingData], reason: str) -> tuple[int, list[str]]:
    """Write a comment at each line of each finding; return the number of lines, and the files that stay as they are.

    A file stays if it is no text in UTF-8, no file on the disk, or if a comment would change its meaning.
    """
    files: dict[str, Wanted] = {}
    for finding in findings:
        for place in (finding, *finding["places"]):
            codes = files.setdefault(place["file"], {}).setdefault(place["line"], [])
            codes.append(finding["rule"]) if finding["rule"] not in codes else None
    count, unchanged = 0, []
    for file, wanted in files.items():
        try:
            added = _add_to_file(Path(file), wanted, reason)
        except (OSError, UnicodeDecodeError):
            added = 0
        count += added
        if not added:
            unchanged.append(file)
    return count, unchanged


def _add_to_file(path: Path, wanted: Wanted, reason: str) -> int:
    text = path.read_bytes().decode("utf-8")
    new = with_ignores(text, wanted, reason, is_cpp_file(str(path)))
    if new == text:
        return 0
    write_atomically(path, new.encode("utf-8"))
    return len(wanted)


def with_ignores(text: str, wanted: Wanted, reason: str, is_cpp: bool) -> str:
    """Return a text with comments at the ends of the statements on these lines; the same text if that changes code."""
    lines = text.splitlines(keepends=True)
    ends = {} if is_cpp else _statement_ends(text)
    for line, codes in wanted.items():
        number = ends.get(line, line)
        if 1 <= number <= len(lines):
            lines[number - 1] = _with_comment(lines[number - 1], codes, reason, "//" if is_cpp else "#")
    new = "".join(lines)
    if is_cpp:
        return new
    try:
        is_same = ast.dump(ast.parse(new)) == ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return text
    return new if is_same else text


def _with_comment(line: str, codes: list[str], reason: str, sign: str) -> str:
    body = line.rstrip("\r\n")
    if match := BRACKET.search(body):
        listed = [code.strip() for code in match[2].split(",") if code.strip()]
        merged = ", ".join(dict.fromkeys([*listed, *codes]))
        return line.replace(match[0], f"{match[1]}{merged}{match[3]}")
    if body.rstrip().endswith("\\") and sign == "//":  # a macro goes on in the next line
        return line
    return f"{body}  {sign} tilescope: ignore[{', '.join(codes)}] {reason}{line[len(body) :]}"


def _statement_ends(text: str) -> dict[int, int]:
    """Map each line to the last line of its statement, where a comment is possible."""
    ends: dict[int, int] = {}
    first = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE:
                ends |= dict.fromkeys(range(first, token.start[0] + 1), token.start[0])
                first = 0
            elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
                first = first or token.start[0]
    except (tokenize.TokenError, SyntaxError):
        return {}
    return ends
