"""Trace files whose source text would do something: nothing of it may run when the file is opened.

The text goes through the commands, through the type inference that the window asks on its own, and in the window.
python code_in_files.py [SECONDS that the window gets for each]
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import common
from msgspec.structs import replace

common.as_tilescope()


MARK = "MARK"
PAYLOADS = {
    "module": '__import__("os").system("touch MARK")\n',
    "decorator": '@(lambda f: (__import__("os").system("touch MARK"), f)[1])\ndef g(x):\n    return x\n',
    "default": 'def g(x=__import__("os").system("touch MARK")):\n    return x\n',
    "kernel-default": None,
    "class": 'class A:\n    __import__("os").system("touch MARK")\n',
    "annotation": '@cuda.jit\ndef g(x: __import__("os").system("touch MARK")) -> __import__("os").system("touch MARK"):\n    return x\n',
    "vararg-annotation": '@cuda.jit\ndef g(x, *a: __import__("os").system("touch MARK"), **b: __import__("os").system("touch MARK")):\n    return x\n',
    "assigned": 'X = __import__("os").system("touch MARK")\n',
    "keyword": 'X = float64(x=__import__("os").system("touch MARK"))\n',
    "named-type-exec": "float64 = exec\nX = float64(\"open('MARK', 'w')\")\n",
    "named-type-eval": "int8 = eval\nX = int8(\"open('MARK', 'w')\")\n",
    "os-of-numba": 'import numba\nfloat64 = numba.core.config.os.system\nX = float64("touch MARK")\n',
    "imported-os": 'from numba.core.config import os as o\nhalf = o.system\nX = half("touch MARK")\n',
    "imported-as-type": 'from numba.core.config import os\nfrom operator import methodcaller as float32\nX = float32("system", "touch MARK")\nfloat32 = X\nY = float32(os)\n',
    "attribute": "import numba\nnumba.float64 = exec\nX = numba.float64(\"open('MARK', 'w')\")\n",
    "tuple": "float64, y = exec, 1\nX = float64(\"open('MARK', 'w')\")\n",
    "device-decorator": "_tilescope_device = exec\n@cuda.jit\ndef g(x):\n    return x\n",
    "numpy": 'import numpy\nfloat64 = numpy.os.system\nX = float64("touch MARK")\n',
    "overload": 'from numba.extending import overload\n@overload(abs)\ndef g(x):\n    open("MARK", "w")\n    return lambda x: x\n',
    "beside": "import attack_beside\n",
}


def files(folder: Path) -> dict[str, Path]:
    """Return a trace file for each payload; what runs touches a file of the payload's name in `marks`."""
    from tilescope.tracer.model.launch import decode, encode
    from tilescope.tracer.storage.trace_file import load, save

    (folder / "program").mkdir()
    common.run([common.binary(), "run", "--out", str(folder / "run"), str(_program(folder))], 60)
    trace = load(folder / "run" / "000-reverse.npz")
    launch, results = decode(trace.launch), {}
    (folder / "program" / "attack_beside.py").write_text(f"open({str(folder / 'marks' / 'beside')!r}, 'w')\n")
    for name, payload in PAYLOADS.items():
        mark = str(folder / "marks" / name)
        source = launch.source
        if payload is None:
            source = source.replace(
                "def reverse(a, out)", f"def reverse(a, out=__import__('os').system('touch {mark}'))"
            )
        else:
            source = source.replace(
                "@cuda.jit\ndef reverse", payload.replace(MARK, mark) + "@cuda.jit\ndef reverse"
            )
        evil = replace(
            trace,
            launch=encode(replace(launch, source=source)),
            sources=dict.fromkeys(trace.sources, source),
        )
        results[name] = folder / f"{name}.npz"
        save(evil, results[name])
    return results


def _program(folder: Path) -> Path:
    path = folder / "program" / "kernels.py"
    path.write_text(common.KERNELS)
    return path


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 12
    folder = common.scratch("code")
    marks = folder / "marks"
    marks.mkdir()
    built = files(folder)
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    tally = common.Tally("code_in_files")

    def judge(name: str, where: str) -> None:
        if (marks / name).exists():
            tally.fail(f"executed in {where}", f"{name}.npz: {PAYLOADS[name]!r}")
            (marks / name).unlink()
        else:
            tally.fine("not executed")

    for name, path in built.items():
        common.run([common.binary(), "counters", str(path)], 60)
        judge(name, "counters")
        common.run([common.binary(), "snapshot", str(path), "-o", str(folder / "x.png")], 60)
        judge(name, "snapshot")
        common.run([common.python(), "-c", INFER, str(path)], 90)
        judge(name, "type inference")
    for name in ("named-type-exec", "os-of-numba", "module", "default"):
        window = subprocess.Popen([common.binary(), str(built[name])], stderr=subprocess.DEVNULL)
        common.waits(seconds, lambda: (marks / name).exists())
        window.send_signal(signal.SIGINT)
        try:
            window.wait(10)
        except subprocess.TimeoutExpired:
            common.end(common.family(window.pid))
        judge(name, "the window")
    return tally.summary() or time.sleep(0) or 0


INFER = """
import sys
from tilescope.tracer.storage.trace_file import load
from tilescope.tracer.model.launch import decode
from tilescope.tracer.type_inference.client import TypeInference, source_question
TypeInference(None, 30).answers_to([source_question(decode(load(sys.argv[1]).launch))])
"""

if __name__ == "__main__":
    sys.exit(main())
