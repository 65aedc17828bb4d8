"""Untrusted source text: Numba's compiler analyses its kernel, and nothing of it runs."""

from __future__ import annotations

import re

import pytest

from launching import HEADER, launch
from tilescope.tracer.model.launch import Array, Scalar
from tilescope.tracer.type_inference.client import TypeInference, source_question
from tilescope.tracer.type_inference.source_kernel import question_of_source

# What touches a file if it runs, before the kernel.
ATTEMPTS = {
    "statement": "__import__('os').system('touch MARK')",
    "decorator": "@(lambda f: (open('MARK', 'w'), f)[1])\ndef g(x):\n    return x",
    "default": "@cuda.jit(device=True)\ndef g(x=open('MARK', 'w')):\n    return x",
    "class": "class A:\n    open('MARK', 'w')",
    "metaclass": "class A(metaclass=lambda *a: open('MARK', 'w')):\n    pass",
    "annotation": "@cuda.jit\ndef g(x: open('MARK', 'w')) -> open('MARK', 'w'):\n    return x",
    "annotated": "x: open('MARK', 'w') = 1",
    "vararg": "@cuda.jit(device=True)\ndef g(x, *a: open('MARK', 'w'), **b: open('MARK', 'w')):\n    return x",
    "assigned": "X = open('MARK', 'w')",
    "keyword": "X = float64(x=open('MARK', 'w'))",
    "type that is exec": "float64 = exec\nX = float64(\"open('MARK', 'w')\")",
    "type that is eval": "int8 = eval\nX = int8(\"open('MARK', 'w')\")",
    "os of numba": "import numba\nfloat64 = numba.core.config.os.system\nX = float64('touch MARK')",
    "os of numpy": "import numpy\nfloat64 = numpy.os.system\nX = float64('touch MARK')",
    "imported os": "from numba.core.config import os as o\nhalf = o.system\nX = half('touch MARK')",
    "imported from operator": "from numba.core.config import os\nfrom operator import methodcaller as float32\n"
    "X = float32('system', 'touch MARK')\nfloat32 = X\nY = float32(os)",
    "attribute": "import numba\nnumba.float64 = exec\nX = numba.float64(\"open('MARK', 'w')\")",
    "tuple": "float64, y = exec, 1\nX = float64(\"open('MARK', 'w')\")",
    "starred": "float64, *y = exec, 1\nX = float64(\"open('MARK', 'w')\")",
    "walrus": "(float64 := exec)(\"open('MARK', 'w')\")",
    "for": "for float64 in [exec]:\n    float64(\"open('MARK', 'w')\")",
    "with": "with open('MARK', 'w') as float64:\n    pass",
    "try": "try:\n    raise ValueError\nexcept ValueError:\n    open('MARK', 'w')",
    "match": "match exec:\n    case float64:\n        float64(\"open('MARK', 'w')\")",
    "f-string": "X = f\"{open('MARK', 'w')}\"",
    "comprehension": "X = [open('MARK', 'w') for i in range(1)]",
    "lambda": "X = (lambda: open('MARK', 'w'))()",
    "subscript": "X = {0: exec}[0](\"open('MARK', 'w')\")",
    "augmented": "float64 += open('MARK', 'w')",
    "del": "del float64, cuda\ncuda = open('MARK', 'w')",
    "star": "from os import *\nsystem('touch MARK')",
    "submodule": "import numba.testing as cuda\ncuda.run_tests('MARK')",
    "device decorator": "_tilescope_device = exec\n@cuda.jit\ndef g(x):\n    return x",
    "overload": "from numba.extending import overload\n@overload(abs)\ndef g(x):\n    open('MARK', 'w')\n"
    "    return lambda x: x",
    "intrinsic": "from numba.extending import intrinsic\n@intrinsic\ndef g(c, x):\n    open('MARK', 'w')",
    "generated_jit": "import numba\n@numba.generated_jit\ndef g(x):\n    open('MARK', 'w')\n    return lambda x: x",
    "vectorize": "from numba import vectorize\n@vectorize(['float32(float32)'])\ndef g(x):\n    open('MARK', 'w')",
    "jitted class": "from numba.experimental import jitclass\n@jitclass\nclass A:\n    open('MARK', 'w')",
    "signature": "@cuda.jit(\"__import__('os').system('touch MARK')\", device=True)\ndef g(x):\n    return x",
    "beside": "import attack_beside",
    "relative": "from . import attack_beside",
    "huge": "X = 9 ** 9 ** 9 ** 9\nY = 'x' * 10 ** 12\nZ = (1,) * 10 ** 12",
    "endless": "A = B\nB = A\ndef f():\n    return f()",
}
# Kernels that would have Numba run something for them while it compiles. {mark} opens a file.
KERNELS = {
    "in a kernel: nested default": '    def f(x="{mark}"):\n        return 1.0\n    g(f)\n    a[0] = g(1)',
    "in a kernel: default that is not used": '    def f(x="{mark}"):\n        return 1.0\n    a[0] = x',
    "in a kernel: captured text": '    s = "{mark}"\n    def f():\n        return s\n    g(f)\n    a[0] = 1',
    "in a kernel: captured docstring": (
        '    "{mark}"\n    s = "{mark}"\n    def f():\n        return s\n    g(f)\n    a[0] = 1'
    ),
    "in a kernel: captured global": "    s = TEXT\n    def f():\n        return s\n    g(f)\n    a[0] = 1",
    "in a kernel: lambda": '    f = lambda x="{mark}": x\n    g(f)\n    a[0] = 1',
    "in a kernel: text in a tuple": '    s = ("{mark}", 1)\n    def f():\n        return s\n    g(f)\n    a[0] = 1',
    "in a kernel: objmode": '    with numba.objmode(y="{mark}"):\n        {mark}\n    a[0] = 1',
    "in a kernel: objmode by name": "    with objmode(y='float64'):\n        y = {mark}\n    a[0] = y",
    "in a kernel: call": "    {mark}\n    a[0] = 1",
    "in a kernel: eval": '    eval("{mark}")\n    a[0] = 1',
    "in a kernel: dtype": '    t = cuda.shared.array(4, dtype="{mark}")\n    a[0] = t[0]',
    "in a kernel: declared": "    f = cuda.declare_device(\"{mark}\", 'int32()')\n    a[0] = f()",
    "in a kernel: os": "    np.os.system('touch MARK')\n    a[0] = 1",
    "in a kernel: module in a variable": "    m = np\n    m.os.system('touch MARK')\n    a[0] = 1",
    "in a kernel: library of cuda": "    cuda.cudadrv.driver.os.system('touch MARK')\n    a[0] = 1",
    "in a kernel: import": "    import attack_beside\n    a[0] = 1",
    "in a kernel: class": "    class A:\n        {mark}\n    a[0] = 1",
    "in a kernel: error": "    if a[0] > 1:\n        raise open('MARK', 'w')\n    a[0] = 1",
    "in a kernel: error with text": "    if a[0] > 1:\n        raise ValueError({mark})\n    a[0] = 1",
    "in a kernel: literal_unroll": '    for f in literal_unroll((exec, eval)):\n        f("{mark}")\n    a[0] = 1',
    "in a kernel: comprehension": '    s = "{mark}"\n    y = [s for i in range(3)]\n    g(y)\n    a[0] = 1',
}
MARK_CALL = "open('MARK', 'w')"
AROUND = (
    'import numba\nfrom numba import objmode, literal_unroll\nTEXT = "{mark}"\n'
    "@cuda.jit(device=True)\ndef g(f):\n    return 1.0\n"
)
SAYING = "@cuda.jit\ndef kernel(a, x):\n    a[0] = a[0] * x * math.pi\n"
ARGUMENTS = (Array((4,)), Scalar(1.0))


def file_name(name):
    return re.sub(r"\W", "-", name)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Return the folder in which all of them were asked, and the answers; what ran would have left its name there."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "attack_beside.py").write_text(f"open({str(folder / 'beside')!r}, 'w')\n")
    asked = {}
    for name, attempt in ATTEMPTS.items():
        asked[name] = f"{attempt}\n{SAYING}".replace("MARK", str(folder / file_name(name)))
    for name, body in KERNELS.items():
        mark = MARK_CALL.replace("MARK", str(folder / file_name(name)))
        text = AROUND + "@cuda.jit\ndef kernel(a, x):\n" + body
        asked[name] = text.replace("{mark}", mark).replace("MARK", str(folder / file_name(name)))
    questions = [source_question(launch(folder, source, ARGUMENTS)) for source in asked.values()]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return folder, dict(zip(asked, TypeInference().answers_to(questions), strict=True))


@pytest.mark.parametrize("name", [*ATTEMPTS, *KERNELS])
def test_nothing_of_a_source_text_runs(answers, name):
    folder, known_names = answers
    assert not (folder / file_name(name)).exists()
    assert name in known_names
    left = {path.name for path in folder.iterdir()}
    assert left == {"kernels.py", "attack_beside.py"}


STILL_REPORTED = ("statement", "class", "annotated", "assigned", "default", "beside", "huge")


@pytest.mark.parametrize("name", STILL_REPORTED)
def test_a_kernel_next_to_unsupported_code_is_analysed(answers, name):
    assert {o.name for o in answers[1][name].operations} == {"mul"}


@pytest.mark.parametrize("name", ["type that is exec", "for", "with", "del", "star", "match", "walrus"])
def test_a_name_that_may_mean_something_else_is_missing(tmp_path, name):
    text = ATTEMPTS[name].replace("MARK", "x") + "\n@cuda.jit\ndef kernel(a):\n    a[0] = float64(a[0])\n"
    assert question_of_source(launch(tmp_path, text, ARGUMENTS[:1])).missing()


def test_a_name_bound_twice_to_the_same_value_is_resolved(tmp_path):
    text = HEADER + "from numba import cuda\nN = 4\nN = 2 + 2\n@cuda.jit\ndef kernel(a):\n    a[0] = N\n"
    assert not question_of_source(launch(tmp_path, text, ARGUMENTS[:1])).missing()
