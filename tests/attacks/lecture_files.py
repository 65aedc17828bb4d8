"""Mutants of the shipped lectures, and ones that are hostile from the start: read, checked, and drawn as a handout.

python lecture_files.py [COUNT [COMMANDS]]: so many are checked in this process, then so many by the command, of which
one in four writes a handout or pictures. Reported are tracebacks, reads of over 5 s, and sentences that are none.
"""

import os
import random
import sys
import threading
import time
from pathlib import Path

import common

common.as_tilescope()

SECONDS = 5.0  # of work for one lecture, its launches aside
LONGEST = 4000  # characters of a sentence
HOSTILE = "<b>x</b><img src='/nowhere'>\x1b]0;owned\x07\x1b[31m\u202e&amp;\x85"
SPECS = (
    "matmul-tiled:m=4,k=4,n=4,tile=2", "matmul-naive-col-on-x:m=8,k=8,n=8,tile=4", "count-racing", "transpose-padded",
    "barrier-three-threads", "histogram-private", "matmul-tiled:m=-1", "matmul-tiled:m=99999999999999999999",
    "matmul-tiled:m=4,m=4", "matmul-tiled:tile=nan", "matmul-tiled:blocks=0+99999", "matmul-tiled:resident=0", ":", "",
    "x.npz", "../x.npz", "/dev/zero.npz", "link.npz", "pipe.npz", "folder.npz", "pipe.py", "x.py:launch=999999",
    f"matmul-{HOSTILE}", "matmul-tiled:input=" + "9" * 300,
)  # fmt: skip
PLACES = (
    "start", "end", "first load", "moment 999999999", "moment 3", "phase 99", "middle of phase 1", "next phase",
    "end of this phase", "previous phase", "next block", "previous block", "-999999999 moments", "+1 moment", 'line "="',
    'line "("', f'line "{HOSTILE}"', "finding", "finding race", "finding " + "a " * 200, "moment ٣", "",
)  # fmt: skip
NUMBERS = ("1e308*1e308", "1e400-1e400", "-7 % 1e400", "7 % -3", "-7.5 // 1e-320", "9" * 390, "round(5,-999999999)",
           "round(1.5, 10**9)", "left.C[" + "9" * 300 + ", 0]", "left.C[-1, 0]", "left.C[True, 1]", "left.C[0]", "left",
           "left.C", "left.C.sum*1e308*1e308", "((" * 150 + "1" + "))" * 150, "-" * 390 + "1", "1" + "+1" * 190,
           "left" + ".A" * 190, "'\\d'", "1if left.m else 2", f"'{HOSTILE}'", "left.now.global_bytes*" + "9" * 350,
           "left.request.minimum", "left.measured.rate", 'measured("matmul-tiled", m=1e400).time', "measured(left)",
           "measured('matmul-tiled', **left).time", "[x for x in left]", "lambda: 1", "().__class__", "left.__class__",
           "1e400 == 1e400", "left.findings", "left.correct:.1f", "min(5)", "left.C[0, 0] if left else 2", "")  # fmt: skip
SPECIFIERS = ("", "", ":.1f", ":d", ":.0%", ":,", ":.9f", ":.99f", ":x", ":e")
NAMES = (
    "A", "C[2, 3]", "C[99999999999, 0]", "C[-1]", "C[0:99999999]", "C[::2]", "A[" + "0," * 300 + "0]", "thread 999999999",
    "thread (1, 0)", "warp 999999999", "block 999999999", "line 999999999", 'line "("', "counter global sectors",
    f"counter {HOSTILE}", "left", "right", "[" * 900, '"' * 401, ",,,", "line '" + "a" * 500, "ﬀ[0]",
)  # fmt: skip
LINES = {
    "show": SPECS, "at": PLACES, "focus": ("left", "right"), "block": ("0", "99", "2147483648", "9" * 400, "²"),
    "thread": ("0", "31", "1024", "-1", "٣"), "element": ("C[0, 0]", "C[99999999999999999999, 0]", "C[]", "Z[0]", "C[,]"),
    "panel": ("source", "thread", "warp", "findings", "explain", "none", HOSTILE), "picture": ("memory", "histogram"),
    "colour": ("auto", "value", "reads", "waste", "conflicts", "races", "wasted"), "zoom": ("A", "C, A", "all", "Z", ","),
    "chart": ("scaling matmul-tiled", "bars " + "matmul-tiled " * 60, "none", "", "scaling", "roofline matmul-tiled",
              "gpu", "gpu block=9999999/9999999 warp=77", "gpu range=0:1e-9", "gpu size=/" + "/" * 900),
    "link": ("moment", "progress"), "time": ("measured", "1 s"),
    "speed": ("8", "nan", "1e400", "-1", "1e-320"), "words": ("own", "cuda", "work-item"),
    "spotlight": NAMES, "ask": ("How many?", HOSTILE, "Q" * 900), "answer": NUMBERS,
    "choices": ("1 | 2", "x|" * 400, "{1} | 1", "nan | inf", f"{HOSTILE} | 1", "| |", "{9 | 9}"),
    "play": ("to end over 600 s", "to start over 0.1 s", "to end over 601 s", "to end at 1000000", "to moment 3", "to"),
}  # fmt: skip
PARAGRAPHS = (
    "word " * 20_000, "x" * 100_000, "> " * 5000, "- " * 3000, "*a **b _c " * 3000, "[" * 40_000, "![" * 40_000, "`" * 9999,
    "> a\n\nb\n\n" * 9000, "- a\n" * 20_000, "1. a\n" * 9000, "## s\n" * 500, "|a|b|\n|-|-|\n|1|2|", "<script>x</script>",
    "![x](file:///etc/passwd)", "[x](javascript:alert(1))", "<http://x>", "```\n" + "y\n" * 9000, "```tilescope\nat: end",
    f"# {'t' * 10_000}", f"## {'t' * 10_000}", f"## {HOSTILE}", f"> {HOSTILE}", HOSTILE, "\0\ufeff\u2028\x0c", "{{", "{", "}}{",
)  # fmt: skip
CHUNKS = (
    b"\0",
    b"\xff\xfe",
    b"\r\n",
    b"\r",
    b"\xef\xbb\xbf",
    b"\x1b[2J",
    b"```",
    b"\n\n",
    b"{",
    b"}",
    b"## ",
    b"`",
    b"9" * 500,
)


def lectures() -> list[str]:
    """Return the texts of the shipped lectures."""
    from tilescope.app.lectures.model.library import shipped_lectures

    return [path.read_text("utf-8") for path in shipped_lectures()]


def mutant(texts: list[str], number: int) -> tuple[str, bytes]:
    """Mutate a lecture; return a description and its bytes."""
    rng = random.Random(common.SEED + number)
    kind = rng.choice(("bytes", "lines", "values", "made", "made", "numbers", "paragraphs"))
    text = rng.choice(texts)
    if kind == "bytes":
        raw = bytearray(text.encode())
        for _ in range(rng.randrange(1, 9)):
            position = rng.randrange(len(raw))
            raw[position : position + rng.randrange(9)] = rng.choice(
                (*CHUNKS, b"", bytes([rng.randrange(256)]))
            )
        return kind, bytes(raw)
    if kind == "made":
        return kind, random_lecture(rng).encode()
    lines = text.split("\n")
    for _ in range(rng.randrange(1, 7)):
        position = rng.randrange(len(lines))
        if kind == "lines":
            others = rng.choice(texts).split("\n")
            lines[position : position + rng.randrange(3)] = rng.choice(
                ([], [lines[position]] * 2, rng.sample(others, 3))
            )
        elif kind == "paragraphs":
            lines[position:position] = ["", rng.choice(PARAGRAPHS), ""]
        else:
            changes = [i for i, line in enumerate(lines) if line.partition(":")[0] in LINES]
            position, key = rng.choice(changes), rng.choice(list(LINES))
            if kind == "values":
                lines[position] = (
                    f"{rng.choice((key, lines[position].partition(':')[0]))}: {rng.choice(LINES[key])}"
                )
            else:
                lines[position:position] = [f"answer: {number_text(rng)}"] * rng.randrange(2)
                lines += ["", f"{{{number_text(rng)}}} and {{{number_text(rng)}}}", ""]
    return kind, "\n".join(lines).encode()


def number_text(rng: random.Random) -> str:
    """Return an expression, as it may stand between braces."""
    parts = [rng.choice(NUMBERS) for _ in range(rng.choice((1, 1, 2)))]
    return rng.choice((" * ", " % ", " - ", " if ", " == ")).join(parts) + rng.choice(SPECIFIERS)


def random_lecture(rng: random.Random) -> str:
    """Return a lecture of arbitrary steps."""
    steps = [f"# {rng.choice(('T', HOSTILE))}"]
    for _ in range(rng.choice((1, 2, 5, 12))):
        keys = rng.sample(list(LINES), rng.randrange(6))
        lines = [f"{key}: {rng.choice(LINES[key])}" for key in keys]
        if rng.random() < 0.8:
            lines = [
                f"show: {rng.choice(SPECS[:6])}",
                *(line for line in lines if not line.startswith("show")),
            ]
        steps.append(
            "\n".join(["## S", "", "```tilescope", *lines, "```", "", f"Caption {{{number_text(rng)}}}."])
        )
    return "\n\n".join(steps)


def surroundings(folder: Path) -> None:
    """Write the files that a lecture may name."""
    (folder / "x.npz").write_bytes(b"PK\3\4nothing")
    (folder / "x.py").write_text("open(__file__ + '.ran', 'w')\n")
    (folder / "folder.npz").mkdir()
    (folder / "link.npz").symlink_to("/etc/hostname")
    for name in ("pipe.npz", "pipe.py"):
        os.mkfifo(folder / name)


class Watch:
    """Ends this process where one lecture takes far too long, and says which."""

    def __init__(self) -> None:
        self.name, self.since = "", time.monotonic()
        threading.Thread(target=self._look, daemon=True).start()

    def begin(self, name: str) -> None:
        self.name, self.since = name, time.monotonic()

    def _look(self) -> None:
        while True:
            time.sleep(1)
            if time.monotonic() - self.since > 120:
                print(f"FAILURE hang: {self.name}", file=sys.stderr, flush=True)
                os._exit(1)


def check_here(folder: Path, texts: list[str], count: int, tally: common.Tally) -> None:
    """Check mutants in this process, one worker for all their launches."""
    from tilescope.app.lectures.model.check import check_lecture
    from tilescope.app.lectures.model.document import read_lecture
    from tilescope.app.lectures.model.problems import LectureError
    from tilescope.app.lectures.model.sessions import Sessions
    from tilescope.tracer.run.worker_client import Worker

    worker, watch = Worker(), Watch()
    sessions = Sessions(worker, None)
    path = folder / "lecture.md"
    for number in range(count):
        kind, raw = mutant(texts, number)
        path.write_bytes(raw)
        watch.begin(f"{kind} {number}")
        begun = time.process_time()
        try:
            results = [p.sentence for p in check_lecture(read_lecture(path), sessions.session_of)]
        except LectureError as error:
            results = [str(error)]
        except BaseException as error:
            where = error.__traceback__
            while where and where.tb_next:
                where = where.tb_next
            position = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}" if where else ""
            tally.fail(f"raised {type(error).__name__} {position}", f"{kind} {number}: {error!s:.200}")
            continue
        strange = [
            output
            for output in results
            if not output.strip() or "\n" in output or "\x1b" in output or len(output) > LONGEST
        ]
        if strange:
            tally.fail("no sentence", f"{kind} {number}: {strange[0]!r:.200}")
        elif time.process_time() - begun > SECONDS:
            tally.fail("slow", f"{kind} {number}: {time.process_time() - begun:.1f} s of this process")
        else:
            tally.fine("mistakes told" if results else "no mistakes")
    worker.close()
    if list(folder.glob("*.ran")):
        tally.fail("a program ran", "nobody agreed to x.py")


def check_by_command(folder: Path, texts: list[str], first: int, count: int, tally: common.Tally) -> None:
    """Check mutants by the command, and draw some."""
    path = folder / "command.md"
    for number in range(first, first + count):
        kind, raw = mutant(texts, number)
        path.write_bytes(raw)
        output = {0: ["-o", str(folder / f"out-{number}.pdf")], 2: ["-o", f"{folder}/out-{number}/"]}.get(
            number % 8
        )
        ended = common.run([common.binary(), "lecture", str(path), *(output or ["--check"])], 180)
        printed = ended.out + ended.err
        if (
            ended.code == 1
            and all(line.startswith(str(path)) for line in ended.out.splitlines())
            and not ended.err
        ):
            tally.fine("mistakes printed")
        else:
            common.judge(tally, f"{kind} {number} {output}", ended, seconds=120)
        if "\x1b" in printed or "\x07" in printed or "\u202e" in printed:
            tally.fail("terminal sequence printed", f"{kind} {number}")


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    commands = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    folder = common.scratch("lectures")
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    surroundings(folder)
    tally, texts = common.Tally("lecture_files"), lectures()
    check_here(folder, texts, count, tally)
    check_by_command(folder, texts, count, commands, tally)
    return tally.summary()


if __name__ == "__main__":
    sys.exit(main())
