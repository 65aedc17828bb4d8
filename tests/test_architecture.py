"""The rules of the house: what a folder holds, and what a process loads. pyproject.toml lists who imports whom."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from import_graph import Import, files_of, import_cycles, imports_of, modules_of, trees_of

ROOT = Path(__file__).resolve().parent.parent
QT = {"PySide6", "shiboken6", "superqt", "qtpy", "pyqtgraph"}
NUMBA = {"numba", "numba_cuda", "greenlet"}
FOLDERS = sorted({path.parent.relative_to(ROOT).as_posix() for path in files_of(ROOT)})


class House(NamedTuple):
    """What the files of the package say, by path."""

    trees: dict[str, ast.Module]
    modules: dict[str, list[str]]  # that each file imports
    imports: list[Import]  # of one file by another


@pytest.fixture(scope="module")
def house():
    """Parse the tree once, only for this file: its syntax trees are a million objects."""
    trees = trees_of(ROOT)
    modules = {name: modules_of(name, tree) for name, tree in trees.items()}
    return House(trees, modules, imports_of(trees))


def paths_in(text: str) -> list[str]:
    """List the paths of this checkout among the words in backticks of a text, without line numbers."""
    matches = re.findall(r"`((?:api|app|docs|tracer|kernels|tests|script|resources)/[^`\s]*)", text)
    return sorted({path.partition(":")[0] for path in matches})


def top(module):
    return module.split(".")[0]


def importing(house, files, unwanted):
    """Return "file imports module" for each module of which `unwanted` is true."""
    return [
        f"{name} imports {module}" for name in files for module in house.modules[name] if unwanted(module)
    ]


def test_the_scan_covers_the_tree(house):
    assert {"kernels/scenarios/catalogue.py", "tracer/model/trace.py", "app/cli/main.py"} <= set(house.trees)
    assert "tilescope.kernels.scenarios.catalogue" in house.modules["tracer/model/plan.py"]
    assert any(i.target == "tracer/model/trace.py" for i in house.imports)


def test_no_files_import_each_other_in_a_circle(house):
    assert import_cycles(house.imports) == []


def test_a_circle_is_reported():
    trees = {"a/x.py": ast.parse("from .y import z"), "a/y.py": ast.parse("def f():\n    from ..b import q"),
             "b/q.py": ast.parse("from ..a.x import z"), "b/r.py": ast.parse("from . import q")}  # fmt: skip
    assert import_cycles(imports_of(trees)) == [["a/x.py", "a/y.py", "b/q.py"]]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_states_its_purpose_and_exports_nothing(house, folder):
    text = ast.get_docstring(house.trees[f"{folder}/__init__.py"])
    assert text and text.endswith(".") and "\n" not in text
    assert len(house.trees[f"{folder}/__init__.py"].body) == 1, (
        "folders export nothing: lazy imports stay lazy"
    )


def test_every_folder_is_packaged():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = set(project["tool"]["setuptools"]["packages"]) - {
        "tilescope",
        "tilescope.resources",
    }
    assert packages == {"tilescope." + folder.replace("/", ".") for folder in FOLDERS}


def test_imports_inside_the_package_are_relative(house):
    absolute = [
        f"{name}:{node.lineno}"
        for name, tree in house.trees.items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Import) and any(top(alias.name) == "tilescope" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and not node.level and top(node.module) == "tilescope")
    ]
    assert absolute == []


def test_the_window_s_model_has_no_widgets(house):
    model = [name for name in house.trees if name.startswith(("app/model/", "app/control/"))]
    assert (
        importing(house, model, lambda module: module.startswith(("PySide6.QtWidgets", "PySide6.QtGui")))
        == []
    )


def test_one_file_touches_the_simulator(house):
    inside = ("numba.cuda.simulator", "numba_cuda")
    touching = [name for name in house.trees if any(m.startswith(inside) for m in house.modules[name])]
    assert touching == ["tracer/simulator/numba_patch.py"]


def test_plain_modules_need_only_numpy_msgspec_and_the_standard_library(house):
    waiting, seen = ["kernels/scenarios/catalogue.py", "tracer/model/trace.py"], set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        waiting += {i.target for i in house.imports if i.file == name} - seen
    assert "kernels/scenarios/matmul_scenarios.py" in seen
    allowed = sys.stdlib_module_names | {"numpy", "msgspec", "tilescope"}
    assert importing(house, seen, lambda module: top(module) not in allowed) == []


def loaded_after(statement):
    """Return the modules of a fresh process after a statement."""
    command = [sys.executable, "-P", "-c", f"import sys; {statement}; print(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {top(module) for module in done.stdout.split()}


def test_the_window_never_loads_numba():
    loaded = loaded_after("import tilescope.app.window.start, tilescope.app.window.main_window")
    assert "PySide6" in loaded
    assert not loaded & NUMBA


def test_planning_and_talking_to_the_worker_load_neither_qt_nor_numba():
    loaded = loaded_after(
        "import tilescope.app.cli.main, tilescope.tracer.model.plan, tilescope.tracer.run.worker_client"
    )
    assert "numpy" in loaded
    assert not loaded & (QT | NUMBA)


@pytest.mark.parametrize(
    "document",
    [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        *(f"docs/decisions/{path.name}" for path in (ROOT / "docs/decisions").iterdir()),
    ],
)
def test_every_path_that_a_document_names_exists(document):
    named = paths_in((ROOT / document).read_text(encoding="utf-8"))
    assert [path for path in named if not any(ROOT.glob(path.replace("NAME", "*")))] == []


def test_a_path_that_does_not_exist_is_reported():
    text = "`app/cli/main.py` and `script/test -k x`, `tracer/model/` and `kernels/*.py:12`, not `engine.py`, `a/b.py`"
    assert paths_in(text) == ["app/cli/main.py", "kernels/*.py", "script/test", "tracer/model/"]
    assert paths_in("see `tests/none.py`") == ["tests/none.py"] and not any(ROOT.glob("tests/none.py"))
