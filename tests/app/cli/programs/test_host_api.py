"""Each name of numba.cuda on the host works, is approximated, or is refused, as the documentation's table states."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys

import pytest

from folders import ROOT
from programs import HEAD, run_tilescope

with (ROOT / "tests" / "data" / "host_api.csv").open(encoding="utf-8", newline="") as file:
    ROWS = [*csv.DictReader(file)]
PROGRAM = """
import json

@cuda.jit
def double(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= 2

@cuda.jit
def fill(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = 7

def host():
    return np.arange(4, dtype=np.int32)

def there():
    return cuda.to_device(host())

def doubled(wrap):
    a = host()
    double[1, 4](wrap(a))
    return a.tolist() == [0, 2, 4, 6]

def written(wrap):
    a = host()
    fill[1, 4](wrap(a))
    return a.tolist() == [7, 7, 7, 7]

def plus_one(a):
    return a + 1

def copy(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i]

KEPT = there()

def recorded():
    event = cuda.event()
    event.record()
    return event

outcomes = {}
for name, example in json.loads(sys.argv[1]):
    try:
        outcomes[name] = "true" if eval(example) else "false"
    except Exception as error:
        outcomes[name] = f"{type(error).__name__}: {error}"
print(json.dumps(outcomes))
"""
NAMES = """
import types
from numba import cuda

modules = ("api", "args", "compiler", "cudadrv", "decorators", "device_init", "errors", "kernels", "np")
for name, value in vars(cuda).items():
    parts = (getattr(value, "__module__", None) or type(value).__module__).split(".")
    is_host = parts[:2] == ["numba", "cuda"] and parts[2:] and parts[2] in modules
    if is_host and not name.startswith("_") and not isinstance(value, types.ModuleType):
        print(name)
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Run all examples in one program; return "true", "false" or the error of each."""
    folder = tmp_path_factory.mktemp("host")
    (folder / "host.py").write_text(HEAD + PROGRAM)
    examples = json.dumps([[row["name"], row["example"]] for row in ROWS])
    done = run_tilescope("run", "--quiet", "host.py", examples, folder=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_name_does_what_the_table_states(row, outcomes):
    outcome = outcomes[row["name"]]
    if row["verdict"] == "refused":
        subject = "jit(link=...)" if "link=" in row["example"] else row["name"]
        assert re.match(
            rf"(NotImplemented|Attribute)Error: Tilescope has no cuda\.{re.escape(subject)}: ", outcome
        )
    else:
        assert outcome == "true"
    assert bool(row["remark"]) == (row["verdict"] == "approximated")


@pytest.mark.skipif(sys.platform == "darwin", reason="without numba-cuda")
def test_the_table_has_every_name_of_the_host():
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    command = [sys.executable, "-c", NAMES]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    internal = {"prepare_shape_strides_dtype"}
    assert {row["name"] for row in ROWS} == {*done.stdout.split()} - internal
