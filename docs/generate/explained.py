"""The pages about findings and counters, from the files that `tilescope explain` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown import code_block, expanded, replay_block, table
from program import Program

from tilescope.app.explain.pages import page_path, page_title
from tilescope.tracer.model.counter_names import NAMES
from tilescope.tracer.model.rules import RULES

PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)

EXAMPLE = re.compile(r"^    tilescope .*\n\n(?=<!-- output)", re.MULTILINE)  # the output repeats the command

FINDINGS = """# Findings

`tilescope check` and the window report what a kernel does wrong, and what it wastes.
Each rule has a code that never changes, and a page: the smallest kernel that shows it, its fix, and how to recognise a
false alarm. `tilescope explain TS101` prints a page in the terminal.

An **error** makes the result wrong, or the launch fail. A **warning** costs a tenth of the launch or more.
A **note** is everything else.

Each finding also states how sure it is. **Confirmed**: it happened in the launch. **Possible**: another order of the
threads, or a GPU, may make it happen. **Advice**: the results are right in any case.

"""
COUNTERS = """# Counters

Tilescope counts what the warps of a launch ask of memory. `tilescope counters SCENARIO` prints the counters.
`tilescope explain global_load_sectors` prints a page in the terminal.

These numbers follow the source.
[Three depths](../how-to/depths.md) adds what a compiler leaves, and what a GPU counted.

"""


def finding_pages(program: Program) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the pages about findings."""
    rows = [
        [rule.code, f"[{rule.name}]({rule.name.replace(' ', '-')}.md)", page_title(rule.name)]
        for rule in RULES
    ]
    yield "findings/index.md", FINDINGS + table(["code", "name", "meaning"], rows) + "\n"
    for rule in RULES:
        path = page_path(rule.name)
        yield f"findings/{path.name}", _finding_page(path.stem, path.read_text(encoding="utf-8"), program)


def _finding_page(name: str, text: str, program: Program) -> str:
    wrong, fixed, *_ = PYTHON.findall(text)
    folder = program.media.parent / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    replays = []
    for title, stem, code in (("With the fault", name, wrong), ("Fixed", f"{name}-fixed", fixed)):
        script = folder / f"{stem}.py"
        script.write_text(code, encoding="utf-8")
        replays.append(_replay(title, stem, program))
    options = "--schedules 5 " if name == "order-dependence" else ""
    printed = program.output(f"tilescope check {options}{name}.py", folder)
    command = f"`tilescope check {options}{name}.py` prints:\n\n{code_block(printed, '{ .text .wrap }')}"
    shown = '<div class="replays" markdown>\n\n' + "\n\n".join(replays) + "\n\n</div>"
    return text.replace("<!-- output -->", command).replace("<!-- replays -->", f"## Replays\n\n{shown}")


def _replay(title: str, stem: str, program: Program) -> str:
    script = program.media.parent / "kernels" / f"{stem}.py"
    trace = None if program.quick else program.trace(stem, script)
    if trace is None and not program.quick:
        return f"<div markdown>\n\n**{title}:** there is nothing to play, since the kernel did not run.\n\n</div>"
    name = program.write(f"finding-{stem}.html", f"tilescope render {trace}")
    return f"<div markdown>\n\n**{title}**\n\n{replay_block(name, f'{title}: {stem}', 1)}\n\n</div>"


def counter_pages(program: Program) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the pages about counters."""
    rows = [[f"[{name}]({name.replace('_', '-')}.md)", page_title(name)] for name in NAMES]
    yield "counters/index.md", COUNTERS + table(["counter", "meaning"], rows) + "\n"
    for name in NAMES:
        path = page_path(name)
        text = EXAMPLE.sub("", path.read_text(encoding="utf-8"))
        yield f"counters/{path.name}", expanded(text, program, 1)
