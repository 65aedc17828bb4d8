"""Builds the documentation site: `script/docs` runs it.

Writes Markdown into build/docs/pages, and the site into build/docs/site. What the program renders is kept in
build/docs/media until --clean.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

from catalogue import lecture_pages, scenario_pages
from explained import counter_pages, finding_pages
from markdown import expanded
from program import Program
from reference import reference_pages

DOCS = Path(__file__).resolve().parents[1]
BUILD = DOCS.parent / "build" / "docs"
MOST_BYTES = 40_000_000
# The tabs of the site: a heading, and a page or a folder of pages, in the order in which its index links to them.
TABS = (
    ("Home", "index.md"), ("Start", "start"), ("How to", "how-to"), ("Findings", "findings"),
    ("Counters", "counters"), ("Scenarios", "scenarios"), ("Lectures", "lectures"), ("Gallery", "gallery.md"),
    ("Reference", "reference"), ("Glossary", "glossary.md"), ("Decisions", "decisions"),
)  # fmt: skip


def main() -> int:
    parser = ArgumentParser(description="Build the documentation site in build/docs/site.")
    parser.add_argument(
        "--quick", action="store_true", help="pages and links only, without pictures and replays"
    )
    parser.add_argument("--clean", action="store_true", help="render every picture and replay again")
    parser.add_argument("--zensical", default="zensical", metavar="PROGRAM", help="the site generator")
    parser.add_argument(
        "--out", type=Path, default=BUILD, metavar="FOLDER", help="where to build (build/docs)"
    )
    chosen = parser.parse_args()
    began, build = time.monotonic(), chosen.out.resolve()
    if chosen.clean:
        shutil.rmtree(build, ignore_errors=True)
    program = Program(build / "media", quick=chosen.quick)
    pages = dict(_all_pages(program))
    _stage(build, pages, program)
    done = subprocess.run([chosen.zensical, "build", "--clean", "--strict"], cwd=build, check=False)
    if done.returncode:
        return done.returncode
    size = sum(path.stat().st_size for path in (build / "site").rglob("*") if path.is_file())
    print(
        f"{len(pages)} pages, {size / 1e6:.1f} MB, {time.monotonic() - began:.0f} s: {build / 'site' / 'index.html'}"
    )
    if size > MOST_BYTES:
        print(f"tilescope: the site has {size:,} bytes, and {MOST_BYTES:,} are allowed.", file=sys.stderr)
        return 1
    return 0


def _all_pages(program: Program) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of every page."""
    for path in sorted((DOCS / "pages").rglob("*.md")):
        name = path.relative_to(DOCS / "pages").as_posix()
        yield name, expanded(path.read_text(encoding="utf-8"), program, name.count("/"))
    for path in sorted((DOCS / "decisions").glob("*.md")):
        yield f"decisions/{path.name}", path.read_text(encoding="utf-8")
    for kind in (finding_pages, counter_pages, scenario_pages, lecture_pages, reference_pages):
        began = time.monotonic()
        yield from kind(program)
        print(f"{kind.__name__}: {time.monotonic() - began:.0f} s", file=sys.stderr)


def _stage(build: Path, pages: dict[str, str], program: Program) -> None:
    """Write the sources of the site: Markdown, assets, media and settings."""
    sources = build / "pages"
    shutil.rmtree(sources, ignore_errors=True)
    for name, text in pages.items():
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / name).write_text(text, encoding="utf-8")
    shutil.copytree(DOCS / "pages" / "assets", sources / "assets")
    (sources / "media").mkdir()
    for name in program.names:
        shutil.copy(program.media / name, sources / "media" / name)
    settings = (DOCS / "zensical.toml").read_text(encoding="utf-8")
    head, first, tables = settings.partition("\n[")
    tables = re.sub(r"^(\[+)", r"\1project.", first.strip() + tables, flags=re.MULTILINE)
    text = f'[project]\n{head}\ndocs_dir = "pages"\nsite_dir = "site"\nnav = {_nav(pages)}\n\n{tables}'
    (build / "zensical.toml").write_text(text, encoding="utf-8")


def _nav(pages: dict[str, str]) -> str:
    """Return the navigation as TOML."""
    tabs = []
    for heading, folder in TABS:
        if folder.endswith(".md"):
            tabs.append(_entry(heading, folder))
            continue
        index = f"{folder}/index.md"
        inside = [name for name in pages if name.startswith(f"{folder}/") and name != index]
        tabs.append(_group(heading, [json.dumps(index), *_entries(inside, pages, pages[index])]))
    return "[\n  " + ",\n  ".join(tabs) + ",\n]"


def _entries(names: list[str], pages: dict[str, str], index: str) -> Iterator[str]:
    """Yield the pages of a folder in the order of the links in its index, under the headings that these have there."""
    left = list(names)
    for part in re.split(r"^(?=## )", index, flags=re.MULTILINE):
        linked = sorted((n for n in left if _link(n) in part), key=lambda name: part.index(_link(name)))
        left = [name for name in left if name not in linked]
        entries = [_entry(_title(pages[name]), name) for name in linked]
        yield from [_group(_title(part[1:]), entries)] if part.startswith("## ") and entries else entries
    yield from (_entry(_title(pages[name]), name) for name in left)


def _link(name: str) -> str:
    return f"({name.rpartition('/')[2]})"


def _group(heading: str, entries: list[str]) -> str:
    return f"{{ {json.dumps(heading)} = [{', '.join(entries)}] }}"


def _entry(title: str, path: str) -> str:
    return f"{{ {json.dumps(title)} = {json.dumps(path)} }}"


def _title(text: str) -> str:
    """Return the heading of a page, up to a colon."""
    return text.partition("\n")[0].removeprefix("#").partition(":")[0].strip() or "Page"


if __name__ == "__main__":
    sys.exit(main())
