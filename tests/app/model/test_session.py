"""What a session holds goes with it: no circle of objects keeps a trace until Python looks for circles."""

import gc
import weakref

from launching import Array, launch
from tilescope.app.model.session import build_session
from tilescope.tracer.simulator.numba_patch import run

SOURCE = """
@cuda.jit
def kernel(a, out):
    s = cuda.shared.array(32, float32)
    i = cuda.grid(1)
    s[cuda.threadIdx.x] = a[i]
    cuda.syncthreads()
    out[i] = s[31 - cuda.threadIdx.x]
"""


def test_a_trace_goes_with_the_last_that_looks_at_it(tmp_path):
    launched = launch(
        tmp_path, SOURCE, (Array((64,), fill="arange"), Array((64,))), grid=(2, 1, 1), block=(32, 1, 1)
    )
    session = build_session(launched, run(launched, lambda done, total: None), None)
    gc.collect()
    gc.disable()
    try:
        session.prepared().with_findings()
        for buffer in range(len(session.trace.buffers)):
            session.memory.reads(buffer, session.end), session.memory.values(buffer, session.end)
        gone = weakref.ref(session.trace)
        del session
        assert gone() is None
    finally:
        gc.enable()
