"""Files and messages that several threads read at once, before anybody has read one."""

from __future__ import annotations

import subprocess
import sys

from patience import PATIENCE

READING = """
import sys, threading
from tilescope.tracer.hardware.times.measurement import load, recorded_measurements
from tilescope.tracer.model.launch import decode, encode
from tilescope.tracer.model.plan import launch_of
from tilescope.kernels.scenarios.catalogue import find

text = encode(launch_of(find("matmul-tiled"), {}))
ready = threading.Barrier(8)

def read(what, given):
    ready.wait()
    what(given)

sys.setswitchinterval(1e-5)
pairs = [(load, recorded_measurements()[0]), (decode, text)] * 4
threads = [threading.Thread(target=read, args=pair) for pair in pairs]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_threads_that_are_the_first_to_read_may_do_it_at_once():
    readers = [subprocess.Popen([sys.executable, "-P", "-c", READING]) for _ in range(6)]
    assert [reader.wait(timeout=PATIENCE) for reader in readers] == [0] * 6
