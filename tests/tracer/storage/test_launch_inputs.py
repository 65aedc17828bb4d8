"""A traced launch run again: its arrays hold what they held before, and what the catalogue fills stays as it is."""

import msgspec
import numpy as np

from launching import Array, Scalar, launch
from tilescope.tracer.model.launch import decode
from tilescope.tracer.simulator.numba_patch import run
from tilescope.tracer.storage.launch_inputs import with_inputs

SOURCE = "@cuda.jit\ndef kernel(a, out, n):\n    i = cuda.grid(1)\n    if i < n:\n        out[i] = a[i]\n"


def trace(made):
    return run(made, lambda done, of: None)


def traced(folder):
    arrays = (Array((40,), "int32", fill="arange"), Array((40,), "int32", fill="ones"))
    made = launch(folder, SOURCE, (*arrays, Scalar(40)), grid=(2, 1, 1), block=(32, 1, 1))
    return trace(made)


def test_arrays_hold_what_they_held_when_it_was_traced(tmp_path):
    found = traced(tmp_path)
    own = decode(found.launch)
    bare = msgspec.structs.replace(
        own, arguments=(Array((40,), "int32"), Array((40,), "int32"), own.arguments[2])
    )
    again = with_inputs(bare, found, tmp_path)
    assert np.load(again.arguments[0].path).tolist() == list(range(40))
    assert np.load(again.arguments[1].path).tolist() == [1] * 40
    assert again.arguments[2] == own.arguments[2]
    assert trace(again).value.tolist() == found.value.tolist()
    assert with_inputs(bare, found, tmp_path) == again  # equal launches have equal keys


def test_the_catalogue_and_what_is_unknown_stay_as_they_are(tmp_path):
    found = traced(tmp_path)
    own = decode(found.launch)
    assert with_inputs(own, found, tmp_path) == own  # which says by itself what it is given
    bare = msgspec.structs.replace(own, arguments=(Array((41,), "int32"), *own.arguments[1:]))
    assert with_inputs(bare, found, tmp_path) == bare
    assert with_inputs(msgspec.structs.replace(bare, source="?"), found, tmp_path).arguments == bare.arguments
