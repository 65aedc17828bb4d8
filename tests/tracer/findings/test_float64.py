"""float64 that was meant as float32: what made an operation one, and what makes it float32 again."""

from __future__ import annotations

import pytest

from finding_kernels import kernel_text
from launching import Array, Scalar, launch, trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.findings.float64 import float64_lines
from tilescope.tracer.model.finding import source_location
from tilescope.tracer.type_inference.client import TypeInference, source_question

IN, OUT = Array((4096,)), Array((256,))

SUM = """
total = {start}
for k in range(4):
    total += arg0[4 * t + k]
arg1[t] = total
"""


def operations_of(launches):
    return [answer.operations for answer in TypeInference().answers_to(list(map(source_question, launches)))]


def arithmetic(folder, body, *arguments):
    return operations_of([launch(folder, kernel_text(body, len(arguments)), arguments, block=(32, 1, 1))])[0]


ARITHMETIC = [
    (SUM.format(start="0.0"), ["add"], "0.0"),
    ("arg1[t] = arg0[t] * 0.1", ["mul"], "0.1"),
    ("arg1[t] = arg0[t] * 2.0 + 0.5", ["add", "mul"], ""),
    ("x = arg0[t] * 2.0\narg1[t] = x\narg0[t] = x", ["mul"], "2.0"),
    ("arg1[t] = t * arg0[t]", ["mul"], "the whole number t"),
    (
        "arg1[t] = arg0[t] * 2.0",
        [],
        "",
    ),  # one operation, rounded at once: the compiler does it in float32
    ("arg1[t] += 1", [], ""),
    ("arg1[0] = arg0[t] / 3", [], ""),
    ("arg1[t] = arg0[t] * arg2", ["mul"], "the argument arg2"),
    ("arg1[t] = math.sqrt(t / 2) * arg0[t]", ["mul", "sqrt", "truediv"], "the division of whole numbers"),
    (SUM.format(start="float32(0)"), [], ""),
    ("arg1[t] = arg0[t] * float32(2.0)", [], ""),
    ("arg1[t] = math.sqrt(arg0[t])", [], ""),
    ("arg1[t] = float64(arg0[t]) * 2.0", [], ""),  # named, so it is meant
    ("arg1[t] = arg0[t // 2]", [], ""),
]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Find the operations of each body in one question, since each question takes seconds."""
    arguments = (IN, OUT, Scalar(0.5))
    launches = [
        launch(tmp_path_factory.mktemp("kernel"), kernel_text(body.strip(), 3), arguments, block=(32, 1, 1))
        for body, *_ in ARITHMETIC
    ]
    return dict(zip([body for body, *_ in ARITHMETIC], operations_of(launches), strict=True))


@pytest.mark.parametrize(("body", "names", "cause"), ARITHMETIC)
def test_float64_arithmetic(asked, body, names, cause):
    assert sorted(o.name for o in asked[body]) == names
    assert all(any(cause in finding for finding, *_ in o.causes) for o in asked[body])


SCALED = "@cuda.jit(device=True)\ndef scaled(x):\n    return x * {half}\n\n"
BEFORE = "from numba import complex64\nWEIGHTS = (0.25, 0.5)\n"
ADDED = "for k in range(n):\n    s += a[k]\nb[i] = s"
INT = "the whole number "
# The wide code, its causes, the remedy and the fixed code: on float32 a and b, complex64 c, int32 d and integer n.
MENDED = [
    ("b[i] = a[i] / n", [INT + "n"], "write float32(n)", "b[i] = a[i] / float32(n)"),
    ("b[i] = a[i] / (i - 5)", [INT + "i - 5"], "write float32(i - 5)", "b[i] = a[i] / float32(i - 5)"),
    ("b[0] += cuda.grid(1)", [INT + "cuda.grid(1)"], "write float32(cuda.grid(1))", "b[0] += float32(cuda.grid(1))"),
    ("b[i] = a[i] * len(a)", [INT + "len(a)"], "write float32(len(a))", "b[i] = a[i] * float32(len(a))"),
    ("b[i] = a[i] * d[i]", [INT + "d[i]"], "write float32(d[i])", "b[i] = a[i] * float32(d[i])"),
    ("b[i] = int(a[i] * 10)", [INT + "10"], "write float32(10)", "b[i] = int(a[i] * float32(10))"),
    ("b[i] = math.sqrt(i)", [INT + "i"], "write float32(i)", "b[i] = math.sqrt(float32(i))"),
    ("b[i] = 2 ** a[i] + a[i]", [INT + "2"], "write float32(2)", "b[i] = float32(2) ** a[i] + a[i]"),
    ("c[i] = c[i] * 2", [INT + "2"], "write float32(2)", "c[i] = c[i] * float32(2)"),
    ("c[i] = c[i] * 2j", ["2j"], "write complex64(2j)", "c[i] = c[i] * complex64(2j)"),
    ("b[i] = math.pi * a[i] + 1", ["math.pi", INT + "1"], "write float32(math.pi) and float32(1)",
     "b[i] = float32(math.pi) * a[i] + float32(1)"),
    ("b[i] = WEIGHTS[0] * a[i] + a[i]", ["WEIGHTS[0]"], "write float32(WEIGHTS[0])",
     "b[i] = float32(WEIGHTS[0]) * a[i] + a[i]"),
    ("s = 0\n" + ADDED, [INT + "0"], "write float32(0)", "s = float32(0)\n" + ADDED),
    ("b[i] = math.sqrt(i / n) * a[i]", ["the division of whole numbers"],
     "use // or divide float32 numbers", "b[i] = math.sqrt(float32(i) / float32(n)) * a[i]"),
    ("b[i] = a[i] / ((n + 1) * (n + 2))", [INT + "(n + 1) * (n + 2)"], "write float32((n + 1) * (n + 2))",
     "b[i] = a[i] / float32((n + 1) * (n + 2))"),
    ("b[i] = a[i] * -(n - i % 3)", [INT + "-(n - i % 3)"], "write float32(-(n - i % 3))",
     "b[i] = a[i] * float32(-(n - i % 3))"),
    ("b[i] = (a[i] + 1) / 2", [INT + "1", INT + "2"], "write float32(1) and float32(2)",
     "b[i] = (a[i] + float32(1)) / float32(2)"),
]  # fmt: skip
MEAN = "s = {}\nfor k in range(n):\n    s += a[k]\nb[i] = s / {}"
MEANS = [
    (MEAN.format("0.0", "n"), ["write float32(0.0) and float32(n)"]),
    (MEAN.format("float32(0.0)", "n"), ["write float32(n)"]),
    (MEAN.format("0.0", "float32(n)"), ["write float32(0.0)"]),
    (MEAN.format("float32(0.0)", "float32(n)"), []),
]
LEFT = ["b[i] = a[i] ** 2 + a[i]", "b[i] = a[i] * (i > 3) + a[i]", "b[i] = max(a[i], 0)"]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Find the float64 reports of each body in one question, since each question takes a second."""
    bodies = [b for wide, *_, narrow in MENDED for b in (wide, narrow)] + [mean for mean, _ in MEANS] + LEFT
    some = (IN, OUT, Array((64,), "complex64"), Array((64,), "int32"), Scalar(3))
    head = f"{BEFORE}@cuda.jit\ndef kernel(a, b, c, d, n):\n    t, i = cuda.threadIdx.x, cuda.grid(1)\n"
    sources = [head + "".join(f"    {line}\n" for line in body.splitlines()) for body in bodies]
    asked = [launch(tmp_path_factory.mktemp("kernel"), source, some, block=(32, 1, 1)) for source in sources]
    return dict(zip(bodies, map(float64_lines, operations_of(asked)), strict=True))


@pytest.mark.parametrize(("wide", "causes", "remedy", "narrow"), MENDED)
def test_the_causes_are_reported_and_the_remedies_fix_them(reports, wide, causes, remedy, narrow):
    (finding,) = reports[wide]
    assert finding.remedy == remedy
    assert all(cause in finding.message for cause in causes), finding.message
    assert finding.message.count(" and ") + finding.message.count(",") <= 3 and len(finding.message) < 160, (
        finding.message
    )
    assert reports[narrow] == []


@pytest.mark.parametrize(("mean", "remedies"), MEANS)
def test_only_all_remedies_together_fix_a_mean(reports, mean, remedies):
    assert [finding.remedy for finding in reports[mean]] == remedies


def test_lines_that_share_one_value_are_one_finding(tmp_path):
    body = "x = arg0[t] * 0.5 + arg0[t]\ny = x + x\nz = arg0[t] - arg2\narg1[t] = y\narg1[t] = z * z"
    flows, argument = float64_lines(arithmetic(tmp_path, body, IN, OUT, Scalar(0.5)))
    assert (flows.number, flows.remedy) == (3, "write float32(0.5)")
    assert [place.line - flows.line for place in flows.also] == [1]
    assert (argument.number, argument.remedy) == (2, "pass arg2 as float32")
    assert [place.line - argument.line for place in argument.also] == [2]


@pytest.mark.parametrize("body", LEFT)
def test_integers_that_leave_a_float32_unchanged_are_not_reported(reports, body):
    assert reports[body] == []


def test_the_result_of_a_device_function_is_fixed_in_it(tmp_path):
    body = kernel_text("arg1[t] = scaled(arg0[t]) * arg0[t]", 2)
    asked = [
        launch(tmp_path, SCALED.format(half=half) + body, (IN, OUT), block=(32, 1, 1))
        for half in ("0.5", "float32(0.5)")
    ]
    wide, narrow = map(float64_lines, operations_of(asked))
    assert [finding.remedy for finding in wide] == ["write float32(0.5)", "let scaled return float32"]
    assert narrow == []


def test_unpacked_values_are_fixed_where_they_are_returned(tmp_path):
    source = """
    @cuda.jit(device=True)
    def halves(x):
        return x, 0.5 * x

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        w, h = halves(a[i])
        out[i] = h * w
    """
    kernel_launch = launch(tmp_path, source, (Array((32,)), Array((32,))), block=(32, 1, 1))
    causes = {
        cause
        for operation in operations_of([kernel_launch])[0]
        for label, _, remedy in operation.causes
        for cause in (label, remedy)
    }
    assert {"halves(), which returns float64", "let halves return float32"} <= causes


def test_float64_is_intended_for_an_array_of_it(tmp_path):
    assert arithmetic(tmp_path, "arg1[t] = arg0[t] * 2.0", IN, Array((256,), "float64")) == ()


def test_a_device_function_is_analysed(tmp_path):
    source = "@cuda.jit(device=True)\ndef half(x):\n    return x * 0.5\n" + kernel_text(
        "arg1[t] = half(arg0[t])", 2
    )
    (finding,) = operations_of([launch(tmp_path, source, (IN, OUT), block=(32, 1, 1))])
    assert [o.name for o in finding] == ["mul"] and finding[0].causes[0][0] == "0.5"


def test_a_kernel_that_numba_can_not_compile_has_no_operations(tmp_path):
    assert arithmetic(tmp_path, "arg1[t] = arg0.nothing(t)", IN, OUT) == ()


ITERATION = "@cuda.jit\ndef kernel(out, c, n):\n    z, k = {start}, 0\n    while k < n and z < 4{dot}:\n" \
    "        z = z * z + {c}\n        k += 1\n    out[cuda.grid(1)] = k\n"  # fmt: skip
INTO = {"whole": Array((64,), "int32"), "real": Array((64,), "float64")}


def test_an_iteration_in_float64_with_integer_results_is_reported_once(tmp_path):
    """Mandelbrot's and Julia's sets: no array holds a float, so that nothing else says that float64 is meant."""
    wide = ITERATION.format(start="0.0", dot=".0", c="c")
    narrow = ITERATION.format(start="float32(0)", dot="", c="float32(c)")
    named = ITERATION.format(start="float64(0)", dot=".0", c="c")
    asked = [
        launch(tmp_path, source, (INTO["whole"], Scalar(0.5), Scalar(9))) for source in (wide, narrow, named)
    ]
    asked += [launch(tmp_path, wide, (INTO["real"], Scalar(0.5), Scalar(9)))]
    (finding,), *others = map(float64_lines, operations_of(asked))
    assert (finding.severity, finding.line, finding.number) == ("note", 7, 2)
    assert finding.remedy == "where float32 is precise enough, write float32(0.0) and pass c as float32"
    assert others == [[], [], []]


def test_integers_scaled_once_are_not_reported(tmp_path):
    assert arithmetic(tmp_path, "arg1[t] = arg0[t] * 0.3 + 0.5", INTO["whole"], INTO["whole"]) == ()


def test_float64_is_reported_with_its_line_and_remedy(tmp_path):
    body = SUM.format(start="0.0").strip()
    ended = trace(tmp_path, kernel_text(body, 2), (IN, OUT), block=(32, 1, 1))
    findings = findings_of(ended, requests_of(ended), arithmetic(tmp_path, body, IN, OUT))
    finding = next(f for f in findings if f.kind == "float64")
    assert (finding.severity, finding.count, finding.remedy) == ("warning", 1, "write float32(0.0)")
    file, line = source_location(finding, ended)
    assert "total +=" in ended.sources[file].splitlines()[line - 1]
    assert finding.moment == 1 and len(finding.rows) == 128
