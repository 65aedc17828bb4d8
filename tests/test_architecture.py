"""The rules of the house: who imports whom, and what a process loads."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("kernels", "tracer", "app")  # each may import itself and those before it
QT = {"PySide6", "shiboken6", "superqt", "qtpy"}
NUMBA = {"numba", "numba_cuda", "greenlet"}
TREES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for layer in LAYERS
    for path in sorted((ROOT / layer).rglob("*.py"))
}


def imports(name):
    """Return the modules a file imports anywhere in it; those of the package as `tilescope.…`.

    `from x import y` counts as x and as x.y, since y may be a module.
    """
    found = []
    package = ["tilescope", *name.split("/")[:-1]]
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found += [module, *(f"{module}.{alias.name}" for alias in node.names)]
    return found


IMPORTS = {name: imports(name) for name in TREES}


def breaches(files, forbidden):
    """Return "file imports module" for every module that a file imports though forbidden(file, module)."""
    return [f"{name} imports {m}" for name in files for m in IMPORTS[name] if forbidden(name, m)]


def top(module):
    return module.split(".")[0]


def is_view(tree):
    """A view's file defines a class derived from View; the others in app/views are helpers."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return any(isinstance(base, ast.Name) and base.id == "View" for node in classes for base in node.bases)


VIEWS = [name for name, tree in TREES.items() if name.startswith("app/views/") and is_view(tree)]


def test_the_scan_sees_the_house():
    assert {"kernels/scenarios/catalogue.py", "tracer/model/trace.py", "app/cli/main.py"} <= set(TREES)
    assert "tilescope.kernels.scenarios.catalogue" in IMPORTS["tracer/model/plan.py"]
    assert len(VIEWS) >= 4


def test_arrows_point_one_way():
    def upward(name, module):
        parts = module.split(".")
        layer = LAYERS.index(name.split("/")[0])
        return parts[0] == "tilescope" and len(parts) > 1 and parts[1] in LAYERS[layer + 1 :]

    assert breaches(TREES, upward) == []


def test_imports_inside_the_package_are_relative():
    absolute = [
        f"{name}:{node.lineno}"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Import) and any(top(alias.name) == "tilescope" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and not node.level and top(node.module) == "tilescope")
    ]
    assert absolute == []


def test_qt_stays_in_app():
    below = [name for name in TREES if not name.startswith("app/")]
    assert breaches(below, lambda _, module: top(module) in QT) == []


def test_app_never_imports_numba():
    app = [name for name in TREES if name.startswith("app/")]
    assert breaches(app, lambda _, module: top(module) in NUMBA) == []


def test_one_file_touches_the_simulator():
    inside = ("numba.cuda.simulator", "numba_cuda")
    touching = [name for name in TREES if any(m.startswith(inside) for m in IMPORTS[name])]
    assert touching == ["tracer/simulator/numba_patch.py"]


def test_views_never_import_each_other():
    modules = {name: "tilescope." + name.removesuffix(".py").replace("/", ".") for name in VIEWS}
    assert breaches(VIEWS, lambda name, m: m in modules.values() and m != modules[name]) == []


def test_plain_modules_need_numpy_and_the_standard_library_alone():
    waiting, seen = ["kernels/scenarios/catalogue.py", "tracer/model/trace.py"], set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        own = {m.replace(".", "/").removeprefix("tilescope/") + ".py" for m in IMPORTS[name]}
        waiting += (own & TREES.keys()) - seen
    assert "kernels/scenarios/matmul_scenarios.py" in seen
    allowed = sys.stdlib_module_names | {"numpy", "tilescope"}
    assert breaches(seen, lambda _, module: top(module) not in allowed) == []


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
