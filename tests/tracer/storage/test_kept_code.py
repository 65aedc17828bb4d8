"""Code kept on disk: as it would be compiled, from wherever it comes."""

import builtins
import sys
import types

import pytest

from tilescope.tracer.storage.kept_code import kept_code

NAME = "archive/module.py"


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Return the file of the code, which is written though the tests may run under a Python that writes none."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "folder" / "kept.code"


def run(path, source, name=NAME, later=()):
    """Run a module's source as a loader does, and return the module."""
    module = types.ModuleType("module")
    sys.modules["module"] = module
    with kept_code(path, "archive/", later):
        code = compile(source, name, "exec")
    exec(code, vars(module))
    return module


def test_the_second_time_code_comes_from_the_file(kept):
    assert run(kept, b"found = 3 * 14").found == 42
    before = kept.stat()
    assert run(kept, b"found = 3 * 14").found == 42
    assert kept.stat().st_mtime_ns == before.st_mtime_ns  # nothing was new
    with kept_code(kept, "archive/"):
        builtin, kept_one = vars(builtins)["compile"], compile(b"found = 3 * 14", NAME, "exec")
        assert compile(b"found = 3 * 14", NAME, "exec") is kept_one
    assert vars(builtins)["compile"] is not builtin


def test_a_source_that_changed_is_compiled_anew(kept):
    run(kept, b"found = 1")
    assert run(kept, b"found = 2").found == 2
    assert run(kept, b"found = 2").found == 2


def test_a_source_of_another_name_is_left_alone(kept):
    assert run(kept, b"found = 1", name="elsewhere/module.py").found == 1
    assert not kept.exists()


def test_other_modules_stay_in_the_file(kept):
    run(kept, b"found = 1")
    run(kept, b"found = 2", name="archive/other.py")
    size = kept.stat().st_size
    run(kept, b"found = 1")
    run(kept, b"found = 2", name="archive/other.py")
    assert kept.stat().st_size == size


@pytest.mark.parametrize(
    "damage", [lambda content: content[:-9], lambda content: b"", lambda content: content[::-1]]
)
def test_a_damaged_file_counts_as_none(kept, damage):
    run(kept, b"found = 1")
    kept.write_bytes(damage(kept.read_bytes()))
    assert run(kept, b"found = 1").found == 1


def test_the_futures_are_those_of_whoever_compiles(kept):
    source = b"def annotated(x: int): pass"
    caller = {"source": source, "name": NAME}
    for future, expected in (("", int), ("from __future__ import annotations\n", "int"), ("", int)):
        with kept_code(kept, "archive/"):
            exec(f"{future}made = compile(source, name, 'exec')", caller)
        found = {}
        exec(caller["made"], found)
        assert found["annotated"].__annotations__ == {"x": expected}


def test_what_is_no_python_is_refused_and_compile_is_as_before(kept):
    before = builtins.compile
    with pytest.raises(SyntaxError), kept_code(kept, "archive/"):
        compile(b"no python", NAME, "exec")
    assert builtins.compile is before


def test_a_module_for_later_runs_when_it_is_used(kept):
    for _ in range(2):
        module = run(kept, b"import sys\nsys.modules[__name__].ran = True\nfound = 5", later=(NAME,))
        assert "found" not in vars(module)
        assert module.found == 5
        with pytest.raises(AttributeError):
            _ = module.missing


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path):
    (tmp_path / "file").write_text("")
    assert run(tmp_path / "file" / "kept.code", b"found = 1").found == 1
