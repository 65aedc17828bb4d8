"""The processor time of a process: how long it works."""

from __future__ import annotations

import subprocess
import sys

import pytest

from patience import until
from tilescope.tracer.processes.work_time import work_seconds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is the time of a clock")


def test_the_work_of_a_process_counts_until_it_has_ended():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        until(lambda: work_seconds(process.pid) > work_seconds(None) + 0.2)
        process.kill()
        process.wait()
        assert work_seconds(None) <= work_seconds(process.pid) <= work_seconds(None)
