"""The rules of the house: who imports whom, what a folder holds, and what a process loads."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from import_graph import TOP, Import, files_of, folder_of, import_cycles, imports_of, modules_of, trees_of

PLAIN = ("tracer/model", "tracer/storage", "tracer/analysis")
COMPILED = (
    "tracer/compiled", "tracer/compiled/rewrite", "tracer/compiled/scheduler", "tracer/compiled/runtime",
    "tracer/compiled/rows",
)  # fmt: skip
# What the program's own process may use of the tracer: everything but what runs kernels in it.
TRACER = (
    *PLAIN, "tracer/races", "tracer/type_inference", "tracer/findings", "tracer/findings/waste", "tracer/run",
    "tracer/remedies", "tracer/measure", "tracer/hardware", "tracer/hardware/profiling", "tracer/processes",
    "tracer/judging", "tracer/as_compiled", "tracer/listing", "kernels/scenarios",
)  # fmt: skip
VIEW = (*TRACER, "app/compiled", "app/explain", "app/model", "app/widgets", "app/views/common")
VIEWS = tuple(
    f"app/views/{name}"
    for name in (
        "common", "memory", "memory/layout", "histogram", "timeline", "warp", "source", "inspect", "counters",
        "charts", "gpu", "listing",
    )
)  # fmt: skip

# Folder -> the folders that it may import beside itself. The order is from the bottom to the top.
LAYERS: dict[str, tuple[str, ...]] = {
    "kernels": (),
    "kernels/scenarios": (),
    "tracer/model": ("kernels/scenarios",),
    "tracer/processes": (),
    "tracer/storage": ("tracer/model",),
    "tracer/dataflow": ("tracer/model",),
    "tracer/analysis": ("tracer/model", "tracer/dataflow", "kernels/scenarios"),
    "tracer/exports": (*PLAIN,),
    "tracer/races": ("tracer/model", "tracer/analysis"),
    "tracer/type_inference": ("tracer/model", "tracer/processes", "tracer/storage"),
    "tracer/findings/source": ("tracer/model", "tracer/analysis"),
    "tracer/findings/waste": ("tracer/model", "tracer/analysis", "tracer/findings/source"),
    "tracer/findings": (
        "tracer/model", "tracer/dataflow", "tracer/analysis", "tracer/races", "tracer/type_inference",
        "tracer/findings/source", "tracer/findings/waste",
    ),
    "tracer/recording": (*PLAIN, "tracer/dataflow", "kernels/scenarios"),
    "tracer/nvidia_math": ("tracer/storage", "tracer/recording"),
    "tracer/simulator/arithmetic": ("tracer/recording", "tracer/nvidia_math"),
    "tracer/simulator/host": ("tracer/model", "tracer/recording", "tracer/nvidia_math"),
    "tracer/simulator/typed_ir": ("tracer/recording", "tracer/type_inference", "tracer/simulator/arithmetic"),
    "tracer/simulator": (
        "tracer/model", "tracer/recording", "tracer/type_inference", "tracer/nvidia_math",
        "tracer/simulator/arithmetic", "tracer/simulator/typed_ir", "tracer/simulator/host",
    ),
    "tracer/calls": ("tracer/model", "tracer/type_inference", "tracer/simulator/host"),
    "tracer/compiled": ("tracer/nvidia_math",),
    "tracer/compiled/rewrite": ("tracer/model", "tracer/recording", "tracer/nvidia_math", "tracer/compiled"),
    "tracer/compiled/rows": ("tracer/model", "tracer/analysis", "tracer/recording", "tracer/compiled"),
    "tracer/compiled/scheduler": ("tracer/model", "tracer/recording", "tracer/compiled", "tracer/compiled/rows"),
    "tracer/compiled/runtime": (
        "tracer/model", "tracer/recording", "tracer/nvidia_math", "tracer/compiled", "tracer/compiled/scheduler",
    ),
    "tracer/compiled/driver": ("tracer/model", "tracer/storage", "tracer/recording", "tracer/nvidia_math", *COMPILED),
    "tracer/judging": (*PLAIN, "tracer/dataflow", "tracer/findings", "tracer/recording"),
    "tracer/run": (
        *PLAIN, "tracer/judging", "tracer/processes", "tracer/races", "tracer/type_inference", "tracer/recording",
        "tracer/calls", "tracer/simulator", "tracer/simulator/host", *COMPILED, "tracer/compiled/driver",
        "kernels/scenarios",
    ),
    "tracer/remedies": (*PLAIN, "tracer/findings", "tracer/processes", "tracer/run"),
    "tracer/measure": (*PLAIN, "tracer/processes", "tracer/recording", "tracer/run", "kernels", "kernels/scenarios"),
    "tracer/hardware": (
        *PLAIN, "tracer/processes", "tracer/recording", "tracer/run", "tracer/measure", "kernels", "kernels/scenarios",
    ),
    "tracer/hardware/marks": (
        *PLAIN, "tracer/processes", "tracer/recording", "tracer/measure", "tracer/compiled", "tracer/compiled/rewrite",
        "tracer/hardware", "kernels", "kernels/scenarios",
    ),
    "tracer/hardware/profiling": (
        *PLAIN, "tracer/recording", "tracer/measure", "tracer/hardware", "kernels/scenarios",
    ),
    "tracer/hardware/accesses": (
        *PLAIN, "tracer/processes", "tracer/races", "tracer/recording", "tracer/measure", "tracer/compiled",
        "tracer/compiled/rewrite", "tracer/compiled/runtime", "tracer/hardware/marks",
    ),
    "tracer/as_compiled": (*PLAIN, "tracer/processes", "tracer/calls", "tracer/type_inference", "tracer/recording"),
    "tracer/as_compiled/compiler": (
        "tracer/model", "tracer/storage", "tracer/calls", "tracer/type_inference", "tracer/recording",
        "tracer/as_compiled",
    ),
    "tracer/as_compiled/execution": (
        *PLAIN, "tracer/processes", "tracer/calls", "tracer/type_inference", "tracer/recording", *COMPILED,
        "tracer/compiled/driver", "tracer/as_compiled", "tracer/as_compiled/compiler", "tracer/nvidia_math",
    ),
    "tracer/listing": (
        *PLAIN, "tracer/processes", "tracer/type_inference", "tracer/recording", "tracer/as_compiled",
        "tracer/as_compiled/compiler", "tracer/as_compiled/execution",
    ),
    "app/model": TRACER,
    "app/compiled": (*TRACER, "app/model"),
    "app/explain": ("kernels/scenarios", "tracer/model"),
    "app/gpu": (*TRACER, "app/model"),
    "app/widgets": ("kernels/scenarios", "tracer/model", "tracer/storage", "tracer/analysis", "app/model"),
    "app/charts": (*TRACER, "app/model"),
    "app/lecture": (*TRACER, "app/model", "app/charts", "app/compiled", "app/gpu"),
    "app/lecture/edit": ("kernels/scenarios", "tracer/storage", "app/model", "app/lecture"),
    "app/exercise": (*TRACER, "app/model", "app/lecture"),
    "app/control": (*TRACER, "app/model", "app/charts", "app/compiled", "app/lecture"),
    "app/views/common": (*TRACER, "app/model", "app/widgets"),
    "app/views/memory/layout": VIEW,
    "app/views/memory": (*VIEW, "app/views/memory/layout"),
    "app/views/histogram": VIEW,
    "app/views/timeline": VIEW,
    "app/views/warp": VIEW,
    "app/views/source": VIEW,
    "app/views/inspect": VIEW,
    "app/views/listing": VIEW,
    "app/views/counters": VIEW,
    "app/views/charts": (*VIEW, "app/charts"),
    "app/views/gpu": (*VIEW, "app/gpu"),
    "app/window/toolbar": ("app/model", "app/widgets", "kernels/scenarios"),
    "app/window/panels": (*TRACER, "app/control", "app/model", "app/charts", "app/gpu", "app/widgets", *VIEWS),
    "app/window/lecture": (
        *TRACER, "app/lecture", "app/model", "app/control", "app/charts", "app/widgets", *VIEWS, "app/window/panels",
    ),
    "app/window/presenter": (
        *TRACER, "app/lecture", "app/model", "app/control", "app/widgets", "app/window/lecture",
    ),
    "app/window/program": ("tracer/model", "app/model", "app/views/source", "app/widgets"),
    "app/window/editing": (*TRACER, "app/model", "app/control", "app/widgets", *VIEWS),
    "app/window/writing": (
        *TRACER, "app/lecture", "app/lecture/edit", "app/model", "app/control", "app/widgets", "app/views/common",
        "app/window/panels", "app/window/lecture",
    ),
    "app/window/replay": (
        *TRACER, "kernels/scenarios", "app/charts", "app/gpu", "app/control", "app/lecture", "app/model", "app/widgets",
        *VIEWS, "app/window/lecture",
    ),
    "app/window/exercise": (
        *TRACER, "app/exercise", "app/lecture", "app/model", "app/control", "app/widgets", "app/views/common",
        "app/views/source", "app/window/lecture",
    ),
    "app/window/recording": (
        *TRACER, "app/lecture", "app/model", "app/control", "app/widgets", "app/window/lecture",
    ),
    "app/timings": (*TRACER, "app/model", "app/control", "app/charts", "app/widgets", "app/views/charts"),
    "app/window": (
        *TRACER, "app/lecture", "app/model", "app/control", "app/charts", "app/gpu", "app/widgets", *VIEWS,
        "app/timings",
        "app/window/toolbar", "app/window/panels", "app/window/lecture", "app/window/presenter", "app/window/writing",
        "app/window/editing",
        "app/window/exercise", "app/window/recording", "app/window/replay", "app/window/program",
    ),
    "app/cli/common": (*TRACER, "app/compiled", "app/model", "app/views/common"),
    "app/cli/programs": (*TRACER, "app/model", "app/cli/common"),
    "app/cli/pictures": (
        *TRACER, "app/cli/common", "app/model", "app/lecture", "app/control", "app/charts", "app/widgets", *VIEWS,
        "app/window", "app/window/lecture", "app/window/recording", "app/window/replay",
    ),
    "app/cli": (
        *TRACER, "tracer/hardware/accesses", "tracer/hardware/marks", "tracer/exports", "app/cli/common",
        "app/cli/programs", "app/cli/pictures",
        "app/model", "app/explain", "app/lecture", "app/exercise", "app/control", "app/charts", "app/widgets", *VIEWS,
        "app/timings", "app/window",
    ),
    "api": (*TRACER, "tracer/calls", "tracer/simulator/host", "app/cli/common", "app/cli/programs", "app/cli"),
}  # fmt: skip

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
    modules = {name: [module for _, module in modules_of(name, tree)] for name, tree in trees.items()}
    return House(trees, modules, imports_of(trees))


def breaches(imports: list[Import]) -> list[str]:
    """Return "file:line imports file" for each import that the table does not allow."""
    return [
        f"{i.file}:{i.line} imports {i.target}"
        for i in imports
        if folder_of(i.target) not in (folder_of(i.file), *LAYERS.get(folder_of(i.file), ()))
    ]


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


def test_every_folder_is_in_the_table_and_every_row_is_a_folder(house):
    with_files = {folder_of(name) for name in house.trees if not name.endswith("__init__.py")}
    assert with_files == set(LAYERS)


def test_imports_follow_the_table(house):
    assert breaches(house.imports) == []


def test_the_table_goes_from_the_bottom_to_the_top():
    rows = list(LAYERS)
    upward = [
        (f, other) for f, others in LAYERS.items() for other in others if rows.index(other) > rows.index(f)
    ]
    assert upward == []


def test_an_import_against_the_table_is_reported():
    upward = Import("tracer/model/trace.py", 7, "tracer/run/worker.py")
    unknown = Import("tracer/new/a.py", 1, "tracer/model/trace.py")
    assert breaches([upward]) == ["tracer/model/trace.py:7 imports tracer/run/worker.py"]
    assert breaches([unknown]) != []


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


def test_arrows_point_one_way(house):
    upward = [i for i in house.imports if TOP.index(i.target.split("/")[0]) > TOP.index(i.file.split("/")[0])]
    assert upward == []


def test_qt_stays_in_app(house):
    below = [name for name in house.trees if not name.startswith("app/")]
    assert importing(house, below, lambda module: top(module) in QT) == []


def test_the_window_s_model_has_no_widgets(house):
    model = [name for name in house.trees if name.startswith(("app/model/", "app/control/", "app/charts/"))]
    assert (
        importing(house, model, lambda module: module.startswith(("PySide6.QtWidgets", "PySide6.QtGui")))
        == []
    )


def test_no_helper_takes_the_complete_window(house):
    importers = {i.file for i in house.imports if i.target == "app/window/main_window.py"}
    assert importers == {
        "app/window/start.py",
        "app/window/offscreen_window.py",
        "app/cli/pictures/snapshot.py",
    }


def test_app_never_imports_numba(house):
    app = [name for name in house.trees if name.startswith("app/")]
    assert importing(house, app, lambda module: top(module) in NUMBA) == []


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
