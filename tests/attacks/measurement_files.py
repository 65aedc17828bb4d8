"""Mutants of measurement files: through the reading function and the charts, and a sample through `export timings`.

python measurement_files.py [COUNT [CLI]]. With a right digest too, so that what lies behind it is reached.
"""

import hashlib
import json
import os
import random
import sys
from pathlib import Path

import common

common.as_tilescope()

from mutants import NASTY_INTS, NASTY_TEXTS, _put, flip_bytes, foreign, splice, truncate  # noqa: F401


def base() -> bytes:
    """Return a small measurement: some rows of the recorded one, since complete ones are large."""
    from tilescope.tracer.hardware.times.measurement import recorded_measurements

    file = json.loads(recorded_measurements()[0].read_bytes())
    rows, kept = file["measurement"]["rows"], []
    for row in rows:
        if (row["scenario"].startswith("matmul") and len(kept) < 12) or row["timings"] == []:
            kept.append(row)
            for timing in row["timings"]:
                timing["microseconds"] = timing["microseconds"][:20]
    file["measurement"]["rows"] = kept[:14]
    return sealed(file)


def sealed(file: dict) -> bytes:
    """Return a file with the digest that its measurement has."""
    content = json.dumps(file["measurement"])
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    head = {"format": file.get("format"), "version": file.get("version"), "digest": digest}
    return (json.dumps(head)[:-1] + ', "measurement": ' + content + "}").encode("utf-8", "surrogatepass")


def mutant(number: int, content: bytes) -> tuple[str, bytes]:
    rng = random.Random(number + common.SEED)
    if rng.random() < 0.25:
        change = rng.choice([flip_bytes, truncate, splice, foreign])
        return f"#{number} {change.__name__}", change(rng, content)
    file = json.loads(content)
    if rng.random() < 0.1:
        deep = rng.choice([1000, 100_000])
        return (
            f"#{number} deep",
            b'{"format":"tilescope measurement","version":2,"digest":"","measurement":'
            + b"[" * deep
            + b"]" * deep
            + b"}",
        )
    place = rng.choice(
        [file["measurement"], {"r": file["measurement"]["rows"]}, rng.choice(file["measurement"]["rows"])]
    )
    _put(rng, place, rng.choice([1, 1, 2]))
    if "r" in place:
        file["measurement"]["rows"] = place["r"]
    return f"#{number} content", sealed(file)


def examine(path: Path) -> str:
    """Open a file as `export timings --from` does, and build every chart of it."""
    from tilescope.app.timings.model.build import build
    from tilescope.app.timings.model.choice import CHARTS, DEFAULT_SUBJECTS, LADDER, Choice, subject_of_key
    from tilescope.app.timings.model.sources import Source
    from tilescope.app.timings.model.vocabulary import terminology_of, with_terminology
    from tilescope.tracer.hardware.times.measurement import TIMING_KINDS, MeasurementError, load

    try:
        measurement = load(path)
    except MeasurementError as error:
        return f"{'refused' if str(error).endswith('.') else 'strange sentence'}\0{error}"
    source = Source(path, measurement)
    str(source.line)
    for chart in CHARTS:
        for kind in TIMING_KINDS:
            names = LADDER if chart == "ladder" else DEFAULT_SUBJECTS
            choice = Choice(chart=chart, subjects=tuple(map(subject_of_key, names)), kind=kind)
            with_terminology(build([source], choice), terminology_of("own", choice.subjects))
    return "opened\0"


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    sample = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    folder = common.scratch("measurements")
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    content, target, tally = base(), folder / "mutant.json", common.Tally("measurement_files")
    import tilescope.app.timings.model.build  # noqa: F401

    target.write_bytes(content)
    kind, text, *_ = common.limited(lambda: examine(target))
    assert kind == "opened", (kind, text)
    opened = []
    for number in range(count):
        label, mutated = mutant(number, content)
        target.write_bytes(mutated)
        kind, text, seconds, peak = common.limited(lambda: examine(target))
        if kind in ("opened", "refused") and seconds < 20 and peak < 2000:
            tally.fine(kind)
            if kind == "opened":
                opened.append(number)
        else:
            tally.fail(
                f"{kind} in {text.rpartition(' at ')[2].partition(' <')[0]}",
                f"{label}: {text} {seconds:.0f} s {peak:.0f} MB",
            )
    for number in [*opened[: sample // 2], *range(sample - len(opened[: sample // 2]))]:
        label, mutated = mutant(number, content)
        target.write_bytes(mutated)
        words = [
            "export",
            "timings",
            "--from",
            str(target),
            "--chart",
            "bars",
            "-o",
            str(folder / random.Random(number + common.SEED).choice(["x.png", "x.svg", "x.csv"])),
        ]
        common.judge(tally, f"export of {label}", common.run([common.binary(), *words]))
    return tally.summary()


if __name__ == "__main__":
    sys.exit(main())
