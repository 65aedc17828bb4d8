"""Kernels that run in Python but Numba refuses for a GPU are reported at their line; correct ones are not."""

from __future__ import annotations

import importlib.util
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from tilescope.tracer.findings.not_compiled import refusal_message
from tilescope.tracer.simulator import numba_patch
from tilescope.tracer.type_inference.client import TypeInference
from tilescope.tracer.type_inference.live_kernel import LaunchedKernels, question_of_call

DATA = Path(__file__).parents[2] / "data" / "compiler"
HAS_NUMBA_CUDA = importlib.util.find_spec("numba_cuda") is not None
MISSPELT = "a[cuda.grd(1)] = 1  #!"
# Body of a kernel of (a, b, n): float32 arrays and a whole number. What is refused is on the line that ends in #!.
REFUSED = [
    ("f = open('x')  #!\na[0] = 1", "a GPU has no open()"),
    ("t = np.zeros(4, np.float32)  #!\na[0] = t[1]", "it makes an array"),
    ("t = np.empty(n)  #!\na[0] = t[1]", "it makes an array"),
    ("t = np.array([1.0, 2.0])  #!\na[0] = t[1]", "it makes an array"),
    ("t = a.copy()  #!\na[0] = t[1]", "it makes an array"),
    ("t = a + b  #!\na[0] = t[1]", "it makes an array"),
    ("a[:] = b * 2  #!", "it makes an array"),
    ("LIBC.puts(1)  #!", "LIBC is a CDLL"),
    ("t = [i * 2 for i in range(4)]  #!\na[0] = t[1]", "lists"),
    ("t = []\nt.append(1)  #!\na[0] = t[0]", "lists"),
    ("d = {1: 2.0}\na[0] = d[1]  #!", "dictionaries"),
    ("d = {i: i for i in range(3)}  #!\na[0] = d[1]", "dictionaries"),
    ("s = {1, 2}  #!\na[0] = 1 in s", "it makes a set"),
    ("try:\n    a[0] = 1  #!\nexcept Exception:\n    a[0] = 2", "it catches exceptions"),
    ("with open('x'):  #!\n    a[0] = 1", "a with statement"),
    ("import math  #!\na[0] = math.pi", "it imports a module"),
    ("global COUNT\nCOUNT = 1  #!", "it sets a global variable"),
    ("s = 'a' + str(a[0])  #!\nprint(s)", "it makes an array, list or text"),
    ("s = f'{a[0]}'\nprint(s)  #!", "prints"),
    ("print('{}'.format(a[0]))  #!", "no text with .format"),
    ("if a[0] > 1:\n    raise ValueError('bad %d' % 3)  #!", "text"),
    ("if a[0] > 1:\n    raise ValueError('bad', a[0])  #!", "a text that is computed"),
    ("return a[0]  #!", "it returns a value"),
    ("yield a[0]  #!", "it yields"),
    ("a[0] = a.nothing  #!", "an array has no .nothing"),
    ("a[0] = math.nothing(a[0])  #!", "no math.nothing"),
    (MISSPELT, "there is no numba.cuda.grd"),
    ("a[0] = time.time()  #!", "a GPU has no time.time"),
    ("a[0] = random.random()  #!", "a GPU has no random.random"),
    ("a[0] = np.random.rand()  #!", "a GPU has no numpy.random.rand"),
    ("a[0] = device(a[0])  #!", "missing a required argument"),
    ("a[0] = plain(a[0])  #!", "plain is a Python function"),
    ("a[0] = helpers.undecorated(a[0])  #!", "undecorated"),
    ("x = 1\nif a[0] > 1:\n    x = (1, 2)\na[0] = x  #!", "sometimes"),
    (
        "t = cuda.shared.array(n, float32)  #!\nt[0] = 1",
        "the shape of cuda.shared.array is not a compile-time constant",
    ),
    (
        "t = cuda.shared.array((4, n), float32)  #!\nt[0, 0] = 1",
        "the shape of cuda.shared.array is not a compile-time constant",
    ),
    (
        "t = cuda.local.array(a.size, float32)  #!\nt[0] = 1",
        "the shape of cuda.local.array is not a compile-time constant",
    ),
    ("a[0] = LIST[0]  #!", "a list from outside"),
    ("a[0] = DICT[1]  #!", "DICT is a dict"),
    ("a[0] = nowhere + 1  #!", "nowhere is not defined"),
    ("a[0.5] = 1  #!", "an index is float64"),
    ("a[0, 0, 0] = 1  #!", "1 dimensions gets 3 indices"),
    ("t = (1, 2.0)\nfor i in range(2):\n    a[i] = t[i]  #!", "a tuple of several types"),
    ("a[0] = int('3')  #!", "int(str)"),
    ("a[0] = 10 ** 30  #!", "more than 64 bits"),
    ("a[0] = sorted(a)[0]  #!", "it makes a list"),
    (
        "t = cuda.local.array(helpers.TILE, float32)  #!\nt[0] = 1",
        "the shape of cuda.local.array is not a compile-time constant",
    ),
    ("a[0] = Thing.value  #!", "Thing is a class"),
    ("a[0] = THING.value  #!", "THING is a Thing"),
    ("a[0] = fails_inside(a[0])", "a GPU has no open()"),
    ("a[0] = down(n)", "it calls itself"),
    ("a[0] = np.sqrt(a[0])  #!", "no np.sqrt"),
    ("t = part(a, n)  #!\na[0] = t[0]", "a device function returns a part"),
]
CORRECT = re.findall(r"def (ok_\w+)\(", (DATA / "correct_kernels.py").read_text())
FLOATS = np.arange(8, dtype=np.float32)
ARGUMENTS = {
    "ok_records": (np.zeros(4, np.dtype([("x", np.float32), ("y", np.int16)])), FLOATS, 3),
    "ok_complex": (np.zeros(4, np.complex64), FLOATS, 3),
    "ok_none": (FLOATS, FLOATS, None),
    "ok_tuple_of_arrays": ((FLOATS, FLOATS), FLOATS, 3),
    "ok_text": (FLOATS, FLOATS, "fast"),
}


def indented(body):
    return "".join(f"    {line}\n" for line in body.splitlines())


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """Return the text of a module of all these kernels, and the question and answer of each."""
    refused = [
        f"@cuda.jit\ndef refused_{n}(a, b, n):\n{indented(body)}" for n, (body, _) in enumerate(REFUSED)
    ]
    text = (DATA / "correct_kernels.py").read_text() + "\n".join(refused)
    path = tmp_path_factory.mktemp("kernels") / "kernels_of_test.py"
    path.write_text(text)
    module = imported(path)
    given = {n: (f"refused_{n}", (FLOATS, FLOATS, 3)) for n in range(len(REFUSED))}
    given |= {name: (name, ARGUMENTS.get(name, (FLOATS, FLOATS, 3))) for name in CORRECT}
    given["ok_random_states"] = (
        "ok_random_states",
        (np.zeros(4, module.xoroshiro128p_dtype), FLOATS, 3),
    )
    questions = [question_of_call(getattr(module, name), arguments) for name, arguments in given.values()]
    answers = TypeInference(seconds=300).answers_to(questions)
    return text.splitlines(), dict(zip(given, zip(questions, answers, strict=True), strict=True))


def imported(path):
    """Return a file as a module of the tracer's kernels."""
    numba_patch.install()
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numba.cuda.random, in the simulator
        patch.syspath_prepend(str(DATA))
        spec = importlib.util.spec_from_file_location("kernels_of_test", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not HAS_NUMBA_CUDA, reason="Numba's own target ends in an error of its own")
def test_a_misspelt_function_of_cuda_gets_a_suggestion(answered):
    number = [body for body, _ in REFUSED].index(MISSPELT)
    assert answered[1][number][1].refusal.remedy == "write cuda.grid"


@pytest.mark.parametrize("number", range(len(REFUSED)), ids=[body.partition("\n")[0] for body, _ in REFUSED])
def test_errors_of_numba_are_reported_at_their_line(answered, number):
    lines, known_names = answered
    refusal = known_names[number][1].refusal
    if not HAS_NUMBA_CUDA and refusal is None:
        pytest.skip("Numba's own target ends in an error of its own")
    assert refusal is not None, known_names[number][0].missing()
    if HAS_NUMBA_CUDA:  # else it has other reasons for some
        assert REFUSED[number][1] in refusal.reason
    wanted = (
        "#!!"
        if "#!" not in REFUSED[number][0]
        else REFUSED[number][0].partition("#!")[0].splitlines()[-1].strip()
    )
    assert wanted in lines[refusal.line - 1]
    message = refusal_message("kernel", refusal)
    assert len(message) < 220 and "\n" not in message and message.endswith(".") and message.count(". ") == 0


# What is beyond a description: nothing is asked then.
NOT_ASKED = ("ok_overloaded", "ok_text")


@pytest.mark.parametrize("name", CORRECT)
def test_correct_kernels_have_no_errors(answered, name):
    question, answer = answered[1][name]
    assert answer.refusal is None
    assert bool(question.missing()) == (name in NOT_ASKED), question.missing()


class Awkward:
    """Something that answers nothing."""

    def __getattr__(self, name):
        raise OSError(name)


def test_no_argument_of_a_program_ends_it(tmp_path):
    """What can't be described is not asked about, and says why; the program goes on."""
    path = tmp_path / "kernels_of_test.py"
    path.write_text((DATA / "correct_kernels.py").read_text())
    module, known_names = imported(path), LaunchedKernels()
    for arguments in [
        (),
        (FLOATS,),
        (Awkward(), FLOATS, 3),
        (FLOATS, FLOATS, object()),
        (FLOATS, [FLOATS], 3),
    ]:
        assert known_names.question(module.ok_guarded, arguments).missing()
    assert known_names.question(Awkward(), ()).missing() and known_names.question(None, ()).missing()
    assert known_names.question(module.ok_guarded, (FLOATS, FLOATS, 3)) is known_names.question(
        module.ok_guarded, (FLOATS[:4], FLOATS[1:], 5)
    )
    assert not known_names.question(module.ok_guarded, (FLOATS, FLOATS, 3)).missing()
