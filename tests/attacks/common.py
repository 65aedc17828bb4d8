"""What the attacks share: the program under attack, processes with limits, real traces, one summary line.

The tilescope on PATH is attacked. Scripts that need its modules go on in its own Python (`as_tilescope`).
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = os.sysconf("SC_PAGE_SIZE")
PATIENCE = 240.0  # seconds after which what has not ended hangs, however busy the machine is
SEED = (
    int(os.environ.get("ATTACK_SEED", "0")) * 1_000_003
)  # another one gives other attacks of the same kinds

os.environ.pop("PYTHONUNBUFFERED", None)  # programs print through a buffer, as they do for most users


def binary() -> str:
    """Return the tilescope on PATH."""
    executable = shutil.which("tilescope")
    if not executable:
        sys.exit("there is no tilescope on PATH")
    return executable


def python() -> str:
    """Return the Python that tilescope runs in."""
    return Path(binary()).read_text(errors="replace").splitlines()[0].removeprefix("#!").strip()


def as_tilescope() -> None:
    """Go on in tilescope's own Python, where its modules can be imported, with a home of our own."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if os.environ.get("ATTACK_PYTHON") != python():
        os.environ["ATTACK_PYTHON"] = python()
        os.execv(python(), [python(), *sys.argv])


def scratch(name: str) -> Path:
    """Return a new folder, removed when the script ends."""
    import atexit

    folder = Path(tempfile.mkdtemp(prefix=f"tilescope-attack-{name}-"))
    own = os.getpid()
    atexit.register(lambda: os.getpid() == own and shutil.rmtree(folder, ignore_errors=True))
    return folder


@dataclass
class Ended:
    """How a process ended. peak: MB of all its processes together, as far as sampled. code: None where it hung.

    busy: seconds of processor time of all its processes.
    """

    code: int | None
    out: str
    err: str
    seconds: float
    peak: float
    busy: float


def family(pid: int) -> list[int]:
    """Return a process and all that descend from it."""
    parents: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            parents.setdefault(int(stat.rsplit(")", 1)[1].split()[1]), []).append(int(entry))
    results, waiting = [], [pid]
    while waiting:
        item = waiting.pop()
        results.append(item)
        waiting += parents.get(item, [])
    return results


def command_line(pid: int) -> str:
    """Return the command of a process, or its name after its end."""
    try:
        words = (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        )
        return words or Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return f"process {pid}"


def rss(pid: int) -> float:
    """Return MB of memory of a process, 0 if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 1e6
    except (OSError, IndexError):
        return 0.0


def end(pids: list[int]) -> None:
    """Kill processes of ours."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def run(
    words: list[str], timeout: float = PATIENCE, env: dict[str, str | None] | None = None, cwd: Path | str | None = None,
    memory: float = 6000, stdin: int | None = subprocess.DEVNULL,
) -> Ended:  # fmt: skip
    """Run a command with limits on its time (seconds) and on the memory of its process tree (MB)."""
    environment = dict(os.environ)
    for key, value in (env or {}).items():
        if value is None:
            environment.pop(key, None)
        else:
            environment[key] = value
    begun, busy, peak, over = time.monotonic(), busy_seconds(), 0.0, False
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(words, stdin=stdin, stdout=out, stderr=err, env=environment, cwd=cwd)
        while process.poll() is None:
            members = family(process.pid)
            peak = max(peak, sum(map(rss, members)))
            over = time.monotonic() - begun > timeout or peak > memory
            if over:
                end(members)
                process.wait()
                break
            time.sleep(0.05)
        texts = []
        for file in (out, err):
            file.seek(0)
            written_in = environment.get("PYTHONIOENCODING", "utf-8").partition(":")[0]
            texts.append(file.read(4_000_000).decode(written_in, errors="replace"))
    code = None if over else process.returncode
    return Ended(code, *texts, time.monotonic() - begun, peak, busy_seconds() - busy)


def busy_seconds() -> float:
    """Return the processor time of all processes that have ended, which a busy machine does not change."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


EXAMPLES = 6  # of each kind of failure that are printed
TRACEBACK = re.compile(
    r"Traceback \(most recent call last\)|Fatal Python error|Segmentation fault|core dumped"
)


@dataclass
class Tally:
    """Counts what came out, and prints examples of each failure."""

    name: str
    tries: int = 0
    good: Counter[str] = field(default_factory=Counter)
    bad: Counter[str] = field(default_factory=Counter)

    def fine(self, kind: str) -> None:
        self.tries += 1
        self.good[kind] += 1

    def fail(self, kind: str, example: str) -> None:
        self.tries += 1
        self.bad[kind] += 1
        if self.bad[kind] <= EXAMPLES:
            print(f"FAILURE {kind}: {example}", file=sys.stderr, flush=True)

    def summary(self) -> int:
        """Print the one line; return the exit status."""
        fine = ", ".join(f"{k} {n}" for k, n in self.good.most_common())
        bad = "; ".join(f"{k} {n}" for k, n in self.bad.most_common())
        print(
            f"{self.name}: {self.tries} tries, {sum(self.bad.values())} failures ({bad or 'none'}); fine: {fine}"
        )
        return 1 if self.bad else 0


def judge(tally: Tally, label: str, ended: Ended, seconds: float = 20, memory: float = 2000) -> None:
    """Judge a command of tilescope's: one sentence and status 2, or status 0 without a traceback."""
    tail = f"{label}: {ended.err.strip()[-300:]}"
    if ended.code is None:
        tally.fail("hang or memory", f"{label}: {ended.seconds:.0f} s, {ended.peak:.0f} MB")
    elif ended.code < 0:
        tally.fail(f"crash by signal {-ended.code}", tail)
    elif TRACEBACK.search(ended.err):
        tally.fail("traceback", tail)
    elif ended.busy > seconds:
        tally.fail("slow", f"{label}: {ended.busy:.0f} s")
    elif ended.peak > memory:
        tally.fail("memory", f"{label}: {ended.peak:.0f} MB")
    elif ended.code == 0:
        tally.fine("done")
    elif not ended.err.strip().startswith("tilescope") or len(ended.err.strip().splitlines()) > 1:
        tally.fail("no sentence", f"{label}: status {ended.code}, {ended.err!r:.300}")
    else:
        tally.fine("refused")


def limited(call, seconds: int = 20, megabytes: int = 4000) -> tuple[str, str, float, float]:
    """Call in a forked child with limits; return (kind, text, seconds, peak MB) of what came out.

    Seconds are processor time.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reader)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(PATIENCE))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        status = b""
        try:
            status = call().encode(errors="replace")
        except BaseException as error:
            import traceback

            frames = traceback.extract_tb(error.__traceback__)
            where = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in frames[::-1][:4])
            status = f"raised {type(error).__name__}\0{error!s:.200} at {where}".encode(errors="replace")
        os.write(writer, status[:60000])
        os._exit(0)
    os.close(writer)
    output = b""
    while chunk := os.read(reader, 65536):
        output += chunk
    os.close(reader)
    _, status, usage = os.wait4(pid, 0)
    seconds_taken, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        hangs = number in (signal.SIGALRM, signal.SIGXCPU) or seconds_taken >= seconds
        kind = "hang" if hangs else f"signal {number}"
        return kind, "", seconds_taken, peak
    kind, _, text = output.decode(errors="replace").partition("\0")
    return kind, text, seconds_taken, peak


KERNELS = """
import numpy as np
from numba import cuda, float32

@cuda.jit
def reverse(a, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    out[t] = tile[63 - t] * 0.1

@cuda.jit
def good(a, out, n):
    tile = cuda.shared.array(64, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i < n:
        tile[t] = a[i]
    cuda.syncthreads()
    if i < n:
        out[i] = tile[cuda.blockDim.x - 1 - t]

@cuda.jit
def hist(data, bins):
    i = cuda.grid(1)
    if i < data.size:
        cuda.atomic.add(bins, data[i], 1)

@cuda.jit
def warpy(a, out):
    i = cuda.grid(1)
    v = a[i]
    v += cuda.shfl_down_sync(0xffffffff, v, 1)
    cuda.syncwarp()
    cuda.threadfence()
    out[i] = v

@cuda.jit
def two(a):
    mine = cuda.local.array(2, float32)
    x, y = cuda.grid(2)
    if x < 8 and y < 8:
        mine[0] = x
        a[y, x] = mine[0] * y + a[x, y]

@cuda.jit
def recs(r):
    i = cuda.grid(1)
    if i < r.size:
        r[i].x = i
        r[i].y = i

@cuda.jit
def early(a):
    t = cuda.threadIdx.x
    if t < 8:
        cuda.syncthreads()
    a[t] = t

@cuda.jit
def outside(a, out):
    i = cuda.grid(1)
    out[i] = a[i + 3]

a, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
reverse[1, 64](a, out)
good[2, 32](a, out, 60)
hist[2, 32](np.random.default_rng(1).integers(0, 8, 64).astype(np.int32), np.zeros(8, np.int32))
warpy[1, 64](a, out)
two[(2, 2), (4, 4)](np.zeros((8, 8), np.float64))
recs[1, 8](np.zeros(8, np.dtype([("x", "<f4"), ("y", "<i2")])))
early[1, 16](a)
outside[1, 64](a, out)
"""
SCENARIOS = (
    "matmul-tiled:m=8,k=8,n=8,tile=8", "matmul-naive-col-on-x:m=8,k=8,n=8,tile=8,schedule=random,seed=3",
    "histogram-private:count=64,num_blocks=2,threads=32,bins=8", "transpose-padded:rows=32,cols=32",
    "python-threads:m=4,k=4,n=4,tile=8", "sum-sequential:count=64,threads=32", "count-racing:num_blocks=2,threads=32",
)  # fmt: skip


def real_traces(folder: Path) -> list[Path]:
    """Return real trace files: of a program's launches, and of scenarios, packed and plain."""
    (folder / "kernels.py").write_text(KERNELS)
    run([binary(), "run", "--out", str(folder / "run"), str(folder / "kernels.py")])
    paths = sorted((folder / "run").glob("*.npz"))
    from tilescope.tracer.model.plan import launch_of, parse_spec
    from tilescope.tracer.run.worker_client import Worker
    from tilescope.tracer.storage.trace_file import load, save

    for path in paths[::2]:
        save(load(path), path, compress=True)
    worker = Worker()
    for number, spec in enumerate(SCENARIOS):
        scenario, values, options = parse_spec(spec)
        try:
            trace = worker.run(launch_of(scenario, values, **options))
        except Exception as error:
            print(f"{spec}: {error}", file=sys.stderr)
            continue
        path = folder / f"{scenario.name}.npz"
        save(trace, path, compress=number % 2 == 0)
        paths.append(path)
    worker.close()
    assert len(paths) > 8, paths
    return paths


def waits(seconds: float, condition) -> bool:
    """Wait until a condition holds; return whether it did."""
    last = time.monotonic() + seconds
    while time.monotonic() < last:
        if condition():
            return True
        time.sleep(0.05)
    return bool(condition())


class Reader(threading.Thread):
    """Collects what a pipe says, so that it never fills."""

    def __init__(self, pipe) -> None:
        super().__init__(daemon=True)
        self.pipe, self.text = pipe, b""
        self.start()

    def run(self) -> None:
        while chunk := os.read(self.pipe.fileno(), 65536):
            self.text = (self.text + chunk)[-2_000_000:]

    def output(self) -> str:
        return self.text.decode(errors="replace")
