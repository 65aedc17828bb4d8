"""Full and read-only disks, strange homes, locales, clocks and file names; windows at once. Needs root for the disks.

python environment.py [disk|home|locale|names|windows ...]
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import common

common.as_tilescope()
os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ.pop("TILESCOPE_HOME", None)

SPEC = "matmul-tiled:m=8,k=8,n=8,tile=8"
LARGE = (
    common.KERNELS.split("a, out = np.arange")[0]
    + "b = np.random.default_rng(1).random(300_000, dtype=np.float32)\ngood[3000, 64](b, np.zeros(300_000, np.float32), 190_000)\n"
)


def window(
    tally: common.Tally,
    label: str,
    words: list[str],
    env: dict[str, str | None],
    seconds: float = 5,
    cwd: Path | None = None,
) -> str:
    """Start a window, leave it for a while, press Ctrl+C in its terminal; it must live till then and end well."""
    environment = {k: v for k, v in {**os.environ, **env}.items() if v is not None}
    error = subprocess.PIPE
    process = subprocess.Popen(
        [common.binary(), *words], env=environment, stderr=error, stdout=subprocess.DEVNULL, cwd=cwd
    )
    reader = common.Reader(process.stderr)
    common.waits(seconds, lambda: process.poll() is not None)
    alive = process.poll() is None
    if alive:
        process.send_signal(signal.SIGINT)
    try:
        code: int | None = process.wait(15)
    except subprocess.TimeoutExpired:
        common.end(common.family(process.pid))
        code = None
    output = reader.output()
    output = "\n".join(line for line in output.splitlines() if "This plugin does not" not in line)
    if common.TRACEBACK.search(output):
        tally.fail("traceback of the window", f"{label}: {output[-350:]}")
    elif not alive and (code != 2 or not output.strip().startswith("tilescope: ")):
        tally.fail("the window does not start", f"{label}: status {code} {output[-300:]}")
    elif alive and code != 0:
        tally.fail("the window does not end well", f"{label}: status {code} {output[-300:]}")
    else:
        tally.fine("window" if alive else "refused")
    return output


def command(
    tally: common.Tally,
    label: str,
    words: list[str],
    env: dict[str, str | None] | None = None,
    cwd: Path | None = None,
    timeout: float = 60,
) -> common.Ended:
    ended = common.run([common.binary(), *words], timeout, env, cwd)
    common.judge(tally, f"{label}: {' '.join(map(str, words))[:160]}", ended, 40)
    return ended


def disks(folder: Path, tally: common.Tally) -> None:
    """A disk of 2 MB, full; and one that can't be written."""
    large = folder / "large.py"
    large.write_text(LARGE)
    common.run([common.binary(), "run", "--out", str(folder / "large"), str(large)], 120)
    mount = folder / "mount"
    mount.mkdir()
    for kind in ("full", "read-only"):
        if subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(mount)], stderr=subprocess.DEVNULL
        ).returncode:
            print("no mount: the disks are left out", file=sys.stderr)
            return
        try:
            (mount / "home").mkdir()
            (mount / "tmp").mkdir()
            (mount / "out").mkdir()
            if kind == "full":
                with (mount / "filling").open("wb", buffering=0) as file:
                    try:
                        while True:
                            file.write(bytes(4096))
                    except OSError:
                        pass
            else:
                subprocess.run(["mount", "-o", "remount,ro", str(mount)], check=True)
            _on_disk(folder, mount, kind, tally, large)
        finally:
            subprocess.run(["umount", "-l", str(mount)], check=False)


def _on_disk(folder: Path, mount: Path, kind: str, tally: common.Tally, large: Path) -> None:
    out, home = mount / "out", {"HOME": str(mount / "home")}
    before = set(mount.rglob("*"))
    for words in (
        ["run", "--out", str(out), str(large)], ["run", "--out", str(out / "new"), str(large)], ["run", "--quiet", "--json", str(out / "x.json"), str(large)],
    ):  # fmt: skip
        ended = common.run([common.binary(), *words], 90)
        # The program is the user's, so a traceback of it would be right; one of ours is not.
        if ended.code == 0:
            tally.fail("run says all is well", f"{kind}: {words} {ended.err[-200:]}")
        elif "Traceback" in ended.err:
            tally.fail(
                "run: our error is raised in the user's program",
                f"{kind}: {' '.join(words[:3])}: status {ended.code}, {ended.err.strip()[-260:]}",
            )
        else:
            tally.fine("refused")
    for words in (
        ["snapshot", SPEC, "-o", str(out / "x.png")], ["frames", SPEC, "-o", str(out)], ["frames", SPEC, "-o", str(out / "new")],
        *(["export", "timings", "-o", str(out / f"x.{end}")] for end in ("png", "svg", "pdf", "csv", "json")),
        ["measure", "vector-increment", "--json", str(out / "m.json")],
    ):  # fmt: skip
        ended = command(tally, kind, words)
        if ended.code == 0:
            tally.fail("says that it wrote", f"{kind}: {words} {ended.out[-100:]}")
    # On such a home everything that needs no home still works.
    for words in (
        ["counters", SPEC],
        ["snapshot", SPEC, "-o", str(folder / "y.png")],
        ["counters", str(folder / "large" / "000-good.npz")],
    ):
        ended = command(tally, f"{kind} home", words, home)
        if ended.code != 0:
            tally.fail("does not work without a home", f"{kind}: {words}: {ended.err[-200:]}")
    for engine in ("compiled", "simulator"):
        ended = common.run(
            [common.binary(), "check", "--engine", engine, str(large)],
            120,
            {**home, "TMPDIR": str(mount / "tmp")},
        )
        if ended.code not in (0, 1) or "Traceback" in ended.err:
            tally.fail(
                "check does not work without a home",
                f"{kind}, {engine}: status {ended.code} {ended.err.strip()[-300:]}",
            )
        else:
            tally.fine("checked")
    output = window(tally, f"{kind} home", [SPEC], home, 6)
    if "could not be written" not in output:
        tally.fail("nothing said of settings that were lost", f"{kind}: {output[-200:]}")
    window(tally, f"{kind} folder for temporary files", [SPEC], {"TMPDIR": str(mount / "tmp")}, 6)
    command(
        tally,
        f"{kind} folder for temporary files",
        ["counters", "matmul-tiled:m=256,k=256,n=256,seed=7"],
        {"TMPDIR": str(mount / "tmp"), "HOME": str(folder / "fresh")},
    )
    left = set(mount.rglob("*")) - before
    litter = [
        path
        for path in left
        if path.suffix == ".tmp" or (path.parent == out and path.is_file() and path.name != "x.json")
    ]
    tally.fail("half files are left", f"{kind}: {sorted(map(str, litter))[:5]}") if litter else tally.fine(
        "no litter"
    )


def homes(folder: Path, tally: common.Tally) -> None:
    """Homes that are not there, no folders, or oddly named."""
    (folder / "a file").write_text("x")
    odd = {
        "spaces and letters": {"HOME": str(folder / "häme mit  Leer \u2603 🦊")}, "a line end": {"HOME": str(folder / "a\nb")}, "quotes": {"HOME": str(folder / "a'\"$(x)`y`;&")}, "bytes": {"HOME": os.fsdecode(os.fsencode(folder) + b"/\xff\xfe")},
        "unset": {"HOME": None}, "empty": {"HOME": ""}, "relative": {"HOME": "x/y"}, "a file": {"HOME": str(folder / "a file")}, "/dev/null": {"HOME": "/dev/null"}, "missing": {"HOME": "/nowhere/at/all"}, "/proc": {"HOME": "/proc"},
        "TILESCOPE_HOME a file": {"TILESCOPE_HOME": str(folder / "a file")}, "TILESCOPE_HOME relative": {"TILESCOPE_HOME": "z"}, "TILESCOPE_HOME empty": {"TILESCOPE_HOME": ""},
        "XDG relative": {"XDG_CACHE_HOME": "c", "XDG_CONFIG_HOME": "d", "XDG_DATA_HOME": "e"}, "XDG nowhere": {"XDG_CACHE_HOME": "/nowhere", "XDG_CONFIG_HOME": "/proc/x", "XDG_DATA_HOME": "/dev/null"},
        "TMPDIR nowhere": {"TMPDIR": "/nowhere"}, "TMPDIR odd": {"TMPDIR": str(folder / "tmp ü\n🦊")}, "long": {"HOME": str(folder) + "/x" * 1500},
    }  # fmt: skip
    (folder / "tmp ü\n🦊").mkdir()
    place = folder / "place"
    place.mkdir()
    (place / "k.py").write_text(common.KERNELS.rpartition("outside[")[0])
    for name, env in odd.items():
        env = {"HOME": str(folder / "usual")} | env
        for words in (["counters", SPEC], ["snapshot", SPEC, "-o", "x.png"]):
            ended = command(tally, name, words, env, place)
            if ended.code != 0:
                tally.fail("refused for its home", f"{name}: {words}: {ended.err[-200:]}")
        ended = common.run([common.binary(), "check", "--engine", "compiled", "k.py"], 90, env, place)
        if ended.code != 1 or "Traceback" in ended.err:
            tally.fail("check", f"{name}: status {ended.code}, {ended.err.strip()[-300:]}")
        window(tally, name, [SPEC], env, 4, place)
    # A user that the system does not know, and no HOME.
    if not subprocess.run(
        ["unshare", "-U", "--map-user=12345", "true"], stderr=subprocess.DEVNULL
    ).returncode:
        for words in (
            ["counters", SPEC],
            ["list"],
            ["snapshot", SPEC, "-o", str(place / "x.png")],
            ["export", "timings", "-o", str(place / "x.csv")],
            ["check", str(place / "k.py")],
        ):
            ended = common.run(
                ["unshare", "-U", "--map-user=12345", common.binary(), *words], 60, {"HOME": None}
            )
            tally.fail(
                "no home, no name of the user", f"{' '.join(words)}: {ended.err.strip()[-200:]}"
            ) if common.TRACEBACK.search(ended.err) or ended.code not in (0, 1) else tally.fine(
                "unknown user"
            )


def locales(folder: Path, tally: common.Tally) -> None:
    """Locales and encodings, and a clock that goes back."""
    trace = folder / "run" / "001-good.npz"
    for env in (
        {"LC_ALL": "C"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}, {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}, {"LANG": "ar_EG.UTF-8", "LC_ALL": "ar_EG.UTF-8"},
        {"LC_ALL": "ja_JP.SJIS"}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "cp437"}, {"PYTHONIOENCODING": "cp1252"}, {"PYTHONIOENCODING": "utf-16"}, {"PYTHONWARNINGS": "error"}, {"PYTHONOPTIMIZE": "2"}, {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "3"}, {"PYTHONNOUSERSITE": "1", "COLUMNS": "3", "TERM": "dumb"},
        {"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_ENABLE_CUDASIM": "1"}, {"NUMBA_CACHE_DIR": "/nowhere"}, {"QT_SCALE_FACTOR": "3"}, {"QT_STYLE_OVERRIDE": "Windows"}, {"QT_QPA_PLATFORM": "nothing"}, {"OMP_NUM_THREADS": "0"},
    ):  # fmt: skip
        name = " ".join(f"{k}={v}" for k, v in env.items())
        env = {"HOME": str(folder / "usual")} | env
        for words in (
            ["list"],
            ["counters", str(trace)],
            ["counters", SPEC],
            ["counters", "matmul-tiled:nothing=ü🦊"],
            ["snapshot", SPEC, "-o", str(folder / "x.png")],
            ["export", "timings", "-o", str(folder / "x.csv")],
        ):
            if words[0] == "snapshot" and "QT_QPA_PLATFORM" in env and env["QT_QPA_PLATFORM"] == "nothing":
                continue  # Qt ends the process
            command(tally, name, words, env)
        ended = common.run([common.binary(), "check", str(folder / "kernels.py")], 90, env)
        if ended.code != 1 or (
            "Traceback (most recent call last)" in ended.err.replace("IndexError", "")
            and "UnicodeEncodeError" in ended.err
        ):
            tally.fail("check", f"{name}: status {ended.code}, {ended.err.strip()[-300:]}")
        if not env.get("QT_QPA_PLATFORM"):
            window(tally, name, [SPEC], env, 4)
    if shutil.which("cc") or shutil.which("gcc"):
        source = folder / "back.c"
        source.write_text(BACK)
        subprocess.run(
            [
                shutil.which("cc") or "gcc",
                "-shared",
                "-fPIC",
                "-O1",
                "-o",
                str(folder / "back.so"),
                str(source),
                "-ldl",
            ],
            check=True,
        )
        env = {"HOME": str(folder / "usual"), "LD_PRELOAD": str(folder / "back.so")}
        for words in (
            ["counters", SPEC],
            ["counters", f"{SPEC},seed=5,schedule=random"],
            ["snapshot", SPEC, "-o", str(folder / "x.png")],
            ["list"],
        ):
            command(tally, "clock goes back", words, env)
        window(tally, "clock goes back", [SPEC], env, 6)


BACK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <sys/time.h>
static long calls;  /* a clock that goes back an hour with every tenth call */
int clock_gettime(clockid_t which, struct timespec *t) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int r = real(which, t);
    if (which == CLOCK_REALTIME) t->tv_sec -= 3600 * (calls++ / 10);
    return r;
}
time_t time(time_t *out) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t); if (out) *out = t.tv_sec; return t.tv_sec; }
"""


def file_names(folder: Path, tally: common.Tally) -> None:
    """Files with odd names, in commands and in the window."""
    base, place = (folder / "run" / "001-good.npz").read_bytes(), folder / "names"
    place.mkdir()
    for name in (
        "a b.npz",
        "ü🦊.npz",
        "a\nb.npz",
        "-x.npz",
        "--help.npz",
        "a%sb{0}.npz",
        "a'b\"c.npz",
        "x.NPZ",
        "x",
        "x.npz.txt",
        os.fsdecode(b"\xff\xfe.npz"),
        "<b>x<br>.npz",
        "a:b=c,d.npz",
        "x" * 240 + ".npz",
        "000-k.npz",
        "matmul-tiled",
    ):
        (place / name).write_bytes(base)
        spelled = f"./{name}" if name.startswith("-") else name
        for words in (
            ["counters", spelled],
            ["counters", str(place / name)],
            ["snapshot", spelled, "-o", "x.png"],
            ["counters", spelled, spelled],
        ):
            ended = command(tally, f"file named {name!r}", words, {"HOME": str(folder / "usual")}, place)
            if ended.code != 0 and len(words) == 2:
                tally.fail("not opened", f"{name!r}: {ended.err[-200:]}")
        if len(name) < 20:
            window(tally, f"file named {name!r}", [spelled], {"HOME": str(folder / "usual")}, 3, place)
        out = f"out {name}.png" if len(name) < 200 else "x.png"
        ended = command(
            tally,
            f"picture named {out!r}",
            ["snapshot", SPEC, "-o", out],
            {"HOME": str(folder / "usual")},
            place,
        )
        if ended.code == 0 and not (place / out).exists():
            tally.fail("picture elsewhere", out)


def windows(folder: Path, tally: common.Tally) -> None:
    """Several windows on one home; windows killed while they save and while they trace."""
    env = {**os.environ, "HOME": str(folder / "several")}
    count = [
        subprocess.Popen([common.binary(), SPEC], env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for _ in range(4)
    ]
    readers = [common.Reader(process.stderr) for process in count]
    time.sleep(12)
    for process in count:
        process.send_signal(signal.SIGINT)
    for process, reader in zip(count, readers, strict=True):
        try:
            code = process.wait(20)
        except subprocess.TimeoutExpired:
            common.end(common.family(process.pid))
            code = None
        if code or common.TRACEBACK.search(reader.output()):
            tally.fail("several windows", f"status {code} {reader.output()[-200:]}")
        else:
            tally.fine("one of several")
    from tilescope.app.model.settings import load

    _, complaint = load(folder / "several" / ".config" / "tilescope" / "window.json")
    tally.fail("settings of several windows", complaint) if complaint else tally.fine("settings")
    for signalled in (signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGINT):
        before = set(_temporary())
        process = subprocess.Popen(
            [common.binary(), "matmul-tiled:m=64,k=64,n=64,engine=simulator,seed=11"],
            env=env,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        reader = common.Reader(process.stderr)
        time.sleep(4)
        members = common.family(process.pid)
        process.send_signal(signalled)
        process.wait(20)
        time.sleep(2)
        left = [pid for pid in members if Path(f"/proc/{pid}").exists() and common.rss(pid) > 0]
        litter = set(_temporary()) - before
        if left:
            tally.fail(
                "processes are left",
                f"{signalled.name}: {[Path(f'/proc/{p}/cmdline').read_bytes()[-80:] for p in left]}",
            )
            common.end(left)
        elif litter:
            tally.fail("files are left", f"{signalled.name}: {litter}")
        else:
            tally.fine("gone")
        program = folder / "endless.py"
        program.write_text("import time\nfrom numba import cuda\ntime.sleep(50)\n")
        before = set(_temporary())
        process = subprocess.Popen(
            [common.binary(), "open", str(program)],
            env=env,
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        time.sleep(5)
        members = common.family(process.pid)
        process.send_signal(signalled)
        process.wait(20)
        time.sleep(2)
        left = [pid for pid in members if Path(f"/proc/{pid}").exists() and common.rss(pid) > 0]
        litter = set(_temporary()) - before
        if left:
            tally.fail(
                "the program goes on after the window",
                f"{signalled.name}: {[Path(f'/proc/{p}/cmdline').read_bytes()[-60:] for p in left]}",
            )
            common.end(left)
        else:
            tally.fine("gone")
        if litter:
            tally.fail("files are left in /tmp", f"{signalled.name} with a program: {litter}")
            for path in litter:
                shutil.rmtree(path, ignore_errors=True)


def _temporary() -> list[str]:
    return [
        str(p)
        for parent in ("/tmp", "/var/tmp")
        for p in Path(parent).glob("tilescope-*")
        if not p.name.startswith("tilescope-attack")
    ]


def main() -> int:
    folder, tally = common.scratch("environment"), common.Tally("environment")
    os.environ["HOME"] = str(folder / "usual")
    (folder / "kernels.py").write_text(common.KERNELS)
    common.run([common.binary(), "run", "--out", str(folder / "run"), str(folder / "kernels.py")], 60)
    parts = {"disk": disks, "home": homes, "locale": locales, "names": file_names, "windows": windows}
    for name, part in parts.items():
        if len(sys.argv) < 2 or name in sys.argv[1:]:
            part(folder, tally)
    return tally.summary()


if __name__ == "__main__":
    sys.exit(main())
