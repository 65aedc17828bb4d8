"""Kernels of which only a source text is known, as the window knows those of trace files: what is said is right."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from tilescope.kernels.scenarios.catalogue import scenarios
from tilescope.tracer.model.launch import Array, Launch, Scalar, is_python_program
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.type_inference.client import TypeInference, source_question
from tilescope.tracer.type_inference.question import NOTHING
from tilescope.tracer.type_inference.source_kernel import question_of_source

TEXT = (Path(__file__).parents[2] / "data" / "compiler" / "correct_kernels.py").read_text()
FLOATS = (Array((4,)), Array((4,)), Scalar(3))
ASKED = ("guarded", "functional", "warps", "atomics", "nested", "signature", "global_shadowed")
NOT_ASKED = (
    "module",
    "factory",
    "enumeration",
    "records",
    "taught",
    "overloaded",
    "own_error",
    "defaults",
    "method",
)
HEAD = "from numba import cuda, float32, int32, void\n"
SIGNED = HEAD + "@cuda.jit({signature})\ndef kernel(a, b, n):\n    b[0] = a[n & 1]\n"
OPENS = HEAD + "\n\n@cuda.jit\ndef kernel(a, b, n):\n    f = open('x')\n"


def launch(text, name, arguments=FLOATS):
    return Launch(f"/kernels.py:{name}", text, arguments, (1, 1, 1), (1, 1, 1))


def answers(launches):
    return TypeInference(seconds=200).answers_to([source_question(launch) for launch in launches])


def test_correct_kernels_have_no_errors():
    for answer in answers([launch(TEXT, f"ok_{name}") for name in (*ASKED, *NOT_ASKED)]):
        assert answer.refusal is None


@pytest.mark.parametrize("name", ASKED)
def test_names_defined_in_a_text_are_resolved(name):
    assert not question_of_source(launch(TEXT, f"ok_{name}")).missing()


@pytest.mark.parametrize("name", NOT_ASKED)
def test_names_not_defined_in_a_text_are_missing(name):
    try:
        assert question_of_source(launch(TEXT, f"ok_{name}")).missing()
    except ValueError:
        assert name == "method"


def test_the_catalogue_compiles():
    launches = [launch_of(scenario, {}) for scenario in scenarios()]
    launches = [launch for launch in launches if not is_python_program(launch)]
    results = answers(launches)
    assert len(results) > 20 and all(answer.refusal is None for answer in results)


@pytest.mark.parametrize(
    ("signature", "is_complete"),
    [
        ("'void(float32[:], float32[::1], int32)'", True),
        ("void(float32[:], float32[::1], int32)", True),
        ("'(float32[:], float32[:], int32)'", True),
        ("['void(float32[:], float32[:], int32)']", True),
        ("'void(float32[:], other[:], int32)'", False),
        ("['void(int32)', 'void(float32)']", False),
        ("\"__import__('os').system('touch x')\"", False),
        ("SIGNATURE", False),
    ],
)
def test_a_signature_is_read_as_syntax(signature, is_complete):
    """The integer n & 1 of a float32, as the launch passes it, would be refused."""
    asked = launch(SIGNED.format(signature=signature), "kernel", (*FLOATS[:2], Scalar(0.5, "float32")))
    question = question_of_source(asked)
    assert bool(question.missing()) != is_complete
    if is_complete:
        assert question.functions[0].signature[0].layout == "A"


def test_the_types_of_a_signature_count():
    asked = launch(
        SIGNED.format(signature="'void(float32[:], float32[:], int32)'"), "kernel", (*FLOATS[:2], Scalar(0.5))
    )
    other = launch(SIGNED.format(signature=""), "kernel", (*FLOATS[:2], Scalar(0.5)))
    refused = launch(OPENS, "kernel")
    signed, unsigned, opens = answers([asked, other, refused])
    assert signed.refusal is None and unsigned.refusal is not None and unsigned.refusal.line == 4
    assert opens.refusal is not None and (opens.refusal.file, opens.refusal.line) == ("/kernels.py", 6)


def test_an_array_without_a_numba_type_is_not_asked():
    from tilescope.tracer.type_inference.client import has_known_types

    assert not has_known_types(launch(OPENS, "kernel", (Array((4,), "object"),)))
    assert has_known_types(launch(OPENS, "kernel", (Array((4,), str(np.dtype(np.float16))),)))


def test_an_impatient_caller_gets_the_answers_so_far():
    assert TypeInference(seconds=0.0).answers_to([source_question(launch(OPENS, "kernel"))]) == [NOTHING]


def test_answers_are_cached_by_question(tmp_path):
    asked = [source_question(launch(OPENS, "kernel")), source_question(launch(TEXT, "ok_guarded"))]
    first = TypeInference(tmp_path, 200).answers_to(asked)
    assert len(list(tmp_path.iterdir())) == 2
    assert TypeInference(tmp_path, seconds=0.0).answers_to(asked) == first  # without a process
    moved = source_question(launch("\n" + OPENS, "kernel"))
    assert TypeInference(tmp_path, seconds=0.0).answers_to([moved]) == [NOTHING]


def test_answers_waited_for_one_by_one_come_from_one_process_and_none_comes_of_one_that_died():
    inference = TypeInference(seconds=200)
    asked = [source_question(launch(text, name)) for text, name in ((OPENS, "kernel"), (TEXT, "ok_guarded"))]
    refused = inference.answer_to(asked[0])
    process = inference.client.pid
    assert refused.refusal is not None and process is not None
    assert inference.answer_to(asked[1]).refusal is None
    assert inference.client.pid == process and inference.answer_to(asked[0]) == refused
    os.kill(process, signal.SIGKILL)
    assert inference.answer_to(source_question(launch("\n" + OPENS, "kernel"))) == NOTHING
    inference.close()
    assert inference.answer_to(source_question(launch("\n\n" + OPENS, "kernel"))) == NOTHING
