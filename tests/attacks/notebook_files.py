"""Damaged notebooks: read as `check` does, a sample through `tilescope check` itself. python notebook_files.py [COUNT [CLI]].

Truncated and spliced, other JSON, wrong types, deep, huge, of other versions and languages, with magics and outputs that
no editor writes. Each try has to end in its cells or in one sentence, soon and in little memory.
"""

import json
import os
import random
import sys
from pathlib import Path

import common

common.as_tilescope()

from mutants import NASTY_INTS, NASTY_TEXTS, _put, flip_bytes, foreign, splice, truncate

KERNEL = "@cuda.jit\ndef up(a):\n    i = cuda.grid(1)\n    if i < a.size:\n        a[i] += 1\n"
SOURCES = (
    "%matplotlib inline\n!pip install x \\\n  y\nimport numpy as np\nfrom numba import cuda",
    KERNEL,
    "%%time\na = np.zeros(40, np.float32)\nup[2, 32](a)\na[:3]",
    "%%bash\necho no",
)
PIECES = (
    "%",
    "%%",
    "!",
    "?",
    "\\\n",
    "'''",
    '"""',
    "'",
    "(",
    "]",
    "{",
    "#",
    "\n",
    "    ",
    "x = ",
    "time ",
    "f'{",
    "\t",
    "é",
    "\r",
)


def cell(source: object, kind: str = "code") -> dict:
    outputs = [{"output_type": "stream", "name": "stdout", "text": ["said\n"]}]
    return {
        "cell_type": kind, "id": "c", "metadata": {}, "source": source, "execution_count": 1, "outputs": outputs
    }  # fmt: skip


def notebook(sources=SOURCES) -> dict:
    results = [cell(["# Title"], "markdown"), *(cell(text.splitlines(keepends=True)) for text in sources)]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python", "language": "python"}}
    return {"cells": results, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def noise(rng: random.Random) -> str:
    """Return a cell of pieces that are hard to take apart, sometimes very many."""
    count = rng.choice((5, 50, 500, 50_000))
    item = rng.random() < 0.3
    return (
        rng.choice(PIECES) * count if item else "".join(rng.choice(PIECES) for _ in range(min(count, 5000)))
    )


def huge(rng: random.Random) -> dict:
    """Return a notebook with megabytes of outputs, of metadata, or of cells."""
    document, size = notebook(), 8_000_000
    where = rng.randrange(4)
    if where == 0:
        document["cells"][1]["outputs"][0]["text"] = "x" * size
    elif where == 1:
        document["cells"][1]["outputs"] = [
            {"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * size}}
        ]
    elif where == 2:
        document["metadata"]["more"] = list(range(size // 20))
    else:
        document["cells"] += [cell("x = 1\n")] * 20_000
    return document


def deep(rng: random.Random) -> bytes:
    depth = rng.choice((500, 5000, 200_000))
    inner = b"[" * depth + b"]" * depth
    if rng.random() < 0.5:
        return inner
    return json.dumps(notebook()).encode().replace(b'"metadata": {}', b'"metadata": {"x": ' + inner + b"}", 1)


def old(rng: random.Random) -> dict:
    """Build a notebook of another version, complete or with a part of another type."""
    cells = [{"cell_type": "code", "language": "python", "input": text, "outputs": []} for text in SOURCES]
    results = {
        "nbformat": rng.choice((1, 2, 3, 0, -1, 5, 99, "4", None, 4.5, 10**30)), "nbformat_minor": 0,
        "metadata": {"name": ""}, "worksheets": [{"cells": cells}],
    }  # fmt: skip
    if rng.random() < 0.5:
        _put(rng, results, 1)
    return results


def damaged(rng: random.Random) -> dict:
    """Return a notebook some of whose parts are missing, or of another type."""
    document = notebook()
    place = rng.choice(
        [document, document["metadata"], rng.choice(document["cells"]), {"cells": document["cells"]}]
    )
    _put(rng, place, rng.choice((1, 1, 2)))
    if rng.random() < 0.3:
        document["cells"] = rng.choice(
            (None, 3, "x", {}, [None], [[]], [{}], rng.choice(NASTY_INTS), NASTY_TEXTS)
        )
    return document


def mutant(number: int, content: bytes) -> tuple[str, bytes]:
    rng = random.Random(number + common.SEED)
    kind = rng.choice(("bytes", "damaged", "damaged", "noise", "noise", "deep", "huge", "old", "language"))
    if kind == "bytes":
        change = rng.choice([flip_bytes, truncate, splice, foreign])
        return f"#{number} {change.__name__}", change(rng, content)
    if kind == "deep":
        return f"#{number} deep", deep(rng)
    results = {"damaged": damaged, "huge": huge, "old": old}.get(kind, lambda rng: notebook((noise(rng),)))(
        rng
    )
    if kind == "language":
        results["metadata"] = rng.choice(
            ({"language_info": {"name": rng.choice(NASTY_TEXTS)}}, {"kernelspec": 3}, [], "R")
        )
    return f"#{number} {kind}", json.dumps(results).encode("utf-8", "surrogatepass")


def examine(path: Path) -> str:
    """Read a notebook as `check` does, and make each of its cells Python."""
    from tilescope.app.cli.programs.cell_text import python_of
    from tilescope.app.cli.programs.notebook import code_cells
    from tilescope.app.cli.programs.run_as_main import ProgramError

    try:
        cells = code_cells(str(path))
    except ProgramError as error:
        fine = str(error).endswith(".") and "\n" not in str(error) and len(str(error)) < 300
        return f"{'refused' if fine else 'strange sentence'}\0{error}"
    for cell in cells:
        if python_of(cell.text).text.count("\n") != cell.text.count("\n"):
            return "lines lost\0"
    return "opened\0"


def through_the_command(tally: common.Tally, numbers: list[int], content: bytes, target: Path) -> None:
    """Check mutants as a user would: one sentence and 2, or what python says of the program in it."""
    for number in numbers:
        label, mutated = mutant(number, content)
        target.write_bytes(mutated)
        ended = common.run([common.binary(), "check", str(target)], cwd=target.parent)
        ours = "app/cli" in ended.err or "nbformat" in ended.err or "/tracer/" in ended.err
        if ended.code is None or ended.code < 0 or ours:
            tally.fail("command", f"{label}: {ended.code} {ended.err.strip()[-300:]}")
        else:
            tally.fine(f"ended with {ended.code}")


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    sample = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    folder = common.scratch("notebooks")
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    content = json.dumps(notebook(), indent=1).encode()
    target, tally = folder / "mutant.ipynb", common.Tally("notebook_files")
    import nbformat  # noqa: F401  # once, not in each child

    target.write_bytes(content)
    assert common.limited(lambda: examine(target))[0] == "opened"
    for number in range(count):
        label, mutated = mutant(number, content)
        target.write_bytes(mutated)
        kind, text, seconds, peak = common.limited(lambda: examine(target))
        if kind in ("opened", "refused") and seconds < 20 and peak < 1500:
            tally.fine(kind)
        else:
            tally.fail(kind, f"{label}: {text} {seconds:.0f} s {peak:.0f} MB")
    through_the_command(tally, list(range(sample)), content, target)
    return tally.summary()


if __name__ == "__main__":
    sys.exit(main())
