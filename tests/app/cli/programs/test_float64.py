"""Unintended float64 arithmetic, as reported by `check`, `run --json` and the window, and its false alarms."""

from __future__ import annotations

import json

import pytest

from launching import launch
from programs import HEAD, run_tilescope
from tilescope.tracer.model.launch import OBJECT_DTYPE, Array, Scalar
from tilescope.tracer.type_inference.client import TypeInference, has_known_types, source_question
from tilescope.tracer.type_inference.question import NOTHING

SCALE = (
    HEAD
    + """
@cuda.jit
def scale(a, out, factor):
    i = cuda.grid(1)
    out[i] = a[i] * factor + 0.5

a, out = np.arange(64, dtype=np.{dtype}), np.zeros(64, np.{dtype})
scale[2, 32](a, out, {factor})
"""
)
LINE = 1 + SCALE.splitlines().index("    out[i] = a[i] * factor + 0.5")
FACTORY = (
    HEAD
    + """
def made(constant):
    @cuda.jit(device=True)
    def twice(x):
        return x * constant

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = twice(a[i])

    return kernel

a, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
made({constant})[1, 32](a, out)
"""
)


def float64_findings(folder, path, *words):
    done = run_tilescope("check", "--format", "json", *words, str(path), folder=folder)
    assert done.returncode == 0, done.stderr
    return [finding for finding in json.loads(done.stdout) if finding["kind"] == "float64"]


def test_check_reports_line_and_reason_once_for_all_launches(script, tmp_path):
    path = script(SCALE.format(dtype="float32", factor="2.0") + "scale[1, 32](a, out, 3.0)\n")
    findings = float64_findings(tmp_path, path)
    assert [(f["file"], f["line"], f["count"], f["severity"]) for f in findings] == [
        (str(path), LINE, 2, "warning")
    ]
    message = (
        "2 operations (mul and add) are float64 because of the argument factor and 0.5; "
        "write float32(0.5) and pass factor as float32."
    )
    assert findings[0]["message"] == message
    assert (
        f"{path}:{LINE}: warning: {message} [TS807 advice]\n"
        in run_tilescope("check", str(path), folder=tmp_path).stdout
    )


@pytest.mark.parametrize(("dtype", "factor"), [("float64", "2.0"), ("int32", "2")])
def test_intended_float64_is_not_reported(script, tmp_path, dtype, factor):
    assert float64_findings(tmp_path, script(SCALE.format(dtype=dtype, factor=factor))) == []


def test_a_float32_scalar_is_one(script, tmp_path):
    text = SCALE.replace("+ 0.5", "").format(dtype="float32", factor="np.float32(2)")
    assert float64_findings(tmp_path, script(text)) == []


@pytest.mark.parametrize(("constant", "count"), [("0.5", 1), ("np.float32(0.5)", 0), ("2", 1)])
def test_a_kernel_of_a_factory_is_looked_into_too(script, tmp_path, constant, count):
    """An int64 times a float32 is a float64 to Numba."""
    assert len(float64_findings(tmp_path, script(FACTORY.format(constant=constant)))) == count


def test_the_lines_of_json_have_it_with_its_moment(script, tmp_path):
    path = script(SCALE.format(dtype="float32", factor="2.0") + "scale[2, 16](a, out, 3.0)\n")
    done = run_tilescope("run", "--quiet", "--json=lines.json", str(path), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in (tmp_path / "lines.json").read_text().splitlines()]
    assert [line["launch"] for line in lines] == [0, 1]
    for line in lines:
        (finding,) = [f for f in line["findings"] if f["kind"] == "float64"]
        assert (finding["line"], finding["moment"]) == (LINE, 1)


def test_nothing_of_the_program_runs_again(script, tmp_path):
    path = script(
        SCALE.format(dtype="float32", factor="2.0")
        + "open('ran', 'a').write('once ')\nassert __name__ == '__main__'\n"
    )
    assert len(float64_findings(tmp_path, path)) == 1
    assert (tmp_path / "ran").read_text() == "once "


SOURCE = "@cuda.jit\ndef kernel(a, x):\n    a[0] = a[0] * x\n"


@pytest.mark.parametrize(
    ("arguments", "open_"),
    [
        ((Array((4,)), Scalar(1.0)), True),
        ((Array((4,), "int32"), Scalar(1.0)), True),
        ((Array((4,)), Scalar(0, OBJECT_DTYPE)), False),
        ((Array((4,), "i4, f4"), Scalar(1.0)), True),
        ((Array((4,), "no type"), Scalar(1.0)), False),
        ((), True),
    ],
)
def test_it_is_asked_only_where_the_arguments_are_known(tmp_path, arguments, open_):
    assert has_known_types(launch(tmp_path, SOURCE, arguments)) is open_


def test_sizes_and_values_make_no_other_question(tmp_path):
    sample = launch(tmp_path, SOURCE, (Array((4, 8)), Scalar(1.0)), grid=(2, 1, 1))
    two = launch(tmp_path, SOURCE, (Array((5, 9)), Scalar(3.0)), block=(32, 1, 1), schedule="random")
    other = launch(tmp_path, SOURCE, (Array((5, 9)), Scalar(3.0, "float32")))
    assert source_question(sample) == source_question(two) != source_question(other)


def operations(*launches):
    answers = TypeInference().answers_to([source_question(question) for question in launches])
    return [[operation.name for operation in answer.operations] for answer in answers]


def test_constants_of_the_file_are_known(tmp_path):
    text = "HALF, WIDTH = 0.1, 2 * 8\nREAL = np.float32\nONE = np.float32(1)\n"
    body = "@cuda.jit\ndef kernel(a):\n    tile = cuda.shared.array(WIDTH, REAL)\n    a[0] = ONE * tile[0]{more}\n"
    first, two = (launch(tmp_path, text + body.format(more=more), (Array((4,)),)) for more in ("", " * HALF"))
    assert operations(first, two) == [[], ["mul"]]


def test_closed_nothing_is_asked(tmp_path):
    inference = TypeInference()
    inference.close()
    assert inference.answers_to([source_question(launch(tmp_path, SOURCE, (Array((4,)), Scalar(1.0))))]) == [
        NOTHING
    ]
