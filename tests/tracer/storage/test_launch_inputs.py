"""A traced launch run again: its arrays hold what they held before, and what the catalogue fills stays as it is."""

import msgspec
import numpy as np

from launching import Array, Scalar, launch
from tilescope.tracer.model.launch import decode
from tilescope.tracer.simulator.numba_patch import run
from tilescope.tracer.storage.launch_inputs import with_inputs

SOURCE = "@cuda.jit\ndef kernel(a, out, n):\n    i = cuda.grid(1)\n    if i < n:\n        out[i] = a[i]\n"


def trace(built):
    return run(built, lambda done, total: None)


def traced(folder):
    arrays = (Array((40,), "int32", fill="arange"), Array((40,), "int32", fill="ones"))
    kernel_launch = launch(folder, SOURCE, (*arrays, Scalar(40)), grid=(2, 1, 1), block=(32, 1, 1))
    return trace(kernel_launch)


def test_arrays_hold_their_values_at_tracing(tmp_path):
    launch_trace = traced(tmp_path)
    own = decode(launch_trace.launch)
    bare = msgspec.structs.replace(
        own, arguments=(Array((40,), "int32"), Array((40,), "int32"), own.arguments[2])
    )
    again = with_inputs(bare, launch_trace, tmp_path)
    assert np.load(again.arguments[0].path).tolist() == list(range(40))
    assert np.load(again.arguments[1].path).tolist() == [1] * 40
    assert again.arguments[2] == own.arguments[2]
    assert trace(again).value.tolist() == launch_trace.value.tolist()
    assert with_inputs(bare, launch_trace, tmp_path) == again  # equal launches have equal keys


def test_catalogue_and_unknown_launches_are_unchanged(tmp_path):
    trace = traced(tmp_path)
    own = decode(trace.launch)
    assert with_inputs(own, trace, tmp_path) == own  # which says by itself what it is given
    bare = msgspec.structs.replace(own, arguments=(Array((41,), "int32"), *own.arguments[1:]))
    assert with_inputs(bare, trace, tmp_path) == bare
    assert with_inputs(msgspec.structs.replace(bare, source="?"), trace, tmp_path).arguments == bare.arguments
