"""Input files (a=, b=) that are damaged, foreign, huge, or code: through `counters` and through only the planning.

python npy_files.py [COUNT [CLI]]
"""

import io
import os
import pickle
import random
import sys
from pathlib import Path

import common

common.as_tilescope()

import numpy as np
from mutants import Pickled, flip_bytes, foreign, header, splice, truncate


def saved(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def special() -> dict[str, bytes]:
    ones = np.ones((8, 8), np.float32)
    results = {
        "fine": saved(ones),
        "nan": saved(ones * np.nan),
        "inf": saved(ones / np.zeros(1)),
        "fortran": saved(np.asfortranarray(ones + np.arange(8))),
        "big-endian": saved(ones.astype(">f4")),
        "pickle": saved(np.array([[Pickled()]], dtype=object)),
        "bare pickle": pickle.dumps(Pickled()),
        "one dimension": saved(ones[0]),
        "three dimensions": saved(np.ones((2, 2, 2), np.float32)),
        "none": saved(np.float32(1)),
        "empty": saved(np.empty((0, 8), np.float32)),
        "bool": saved(ones > 0),
        "text": saved(ones.astype("U3")),
        "bytes": saved(ones.astype("S3")),
        "time": saved(ones.astype("M8[s]")),
        "complex": saved(ones.astype("c8")),
        "record": saved(np.zeros((8, 8), [("x", "<f4")])),
        "half": saved(ones.astype("f2")),
        "longdouble": saved(ones.astype(np.longdouble)),
        "huge": header("'<f4'", "(1000000, 1000000)", bytes(400)),
        "huge sparse": header("'<f4'", "(4096, 4096)", bytes(10)),
        "too wide": saved(np.ones((4, 5000), np.float32)),
        "negative": header("'<f4'", "(-8, -8)", bytes(256)),
        "call": header("__import__('os').system('touch pwned')", "(8, 8)", bytes(256)),
        "long header": header("'<f4'", "(" + "9" * 9000 + ",)"),
        "nested": header("[" * 3000 + "]" * 3000, "(8, 8)"),
        "overflow": header("'<f4'", "(9223372036854775807, 2)"),
        "float shape": header("'<f4'", "(8.0, 8)", bytes(256)),
        "bool shape": header("'<f4'", "(True, True)", bytes(256)),
        "itemsize 0": header("'|V0'", "(8, 8)"),
        "npz": b"PK\x03\x04" + bytes(100),
        "version 9": b"\x93NUMPY\x09\x00" + bytes(200),
        "version 3": b"\x93NUMPY\x03\x00\xff\xff\xff\x7f" + bytes(100),
    }
    out = io.BytesIO()
    np.savez(out, a=ones)
    return results | {"real npz": out.getvalue(), "nothing": b""}


def plan(path: Path) -> str:
    from tilescope.kernels.scenarios.scenario import CatalogueError
    from tilescope.tracer.model.plan import launch_of, parse_spec

    try:
        scenario, values, options = parse_spec(f"matmul-tiled:m=8,k=8,n=8,tile=8,a={path}")
        launch_of(scenario, values, **options)
    except CatalogueError as error:
        return f"refused\0{error}"
    return "planned\0"


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    sample = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    folder = common.scratch("npy")
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    os.chdir(folder)
    tally, target = common.Tally("npy_files"), folder / "x.npy"
    import tilescope.tracer.model.plan  # noqa: F401

    fine, planned = saved(np.ones((8, 8), np.float32)), []
    for number in range(count):
        rng = random.Random(number + common.SEED)
        target.write_bytes(rng.choice([flip_bytes, flip_bytes, truncate, splice, foreign])(rng, fine))
        kind, text, seconds, peak = common.limited(lambda: plan(target))
        if kind in ("planned", "refused") and seconds < 20 and peak < 2000:
            tally.fine(kind)
            planned += [number] * (kind == "planned")
        else:
            tally.fail(kind, f"#{number}: {text} {seconds:.0f} s {peak:.0f} MB")

    def attack(label: str) -> None:
        words = ["counters", f"matmul-tiled:k=8,tile=8,a={target}"]
        common.judge(tally, label, common.run([common.binary(), *words], 60))
        if Path("pwned").exists() or Path("pwned-by-pickle").exists():
            tally.fail("executed code", label)
            Path("pwned").unlink(missing_ok=True), Path("pwned-by-pickle").unlink(missing_ok=True)

    for number in planned[:sample]:
        rng = random.Random(number + common.SEED)
        target.write_bytes(rng.choice([flip_bytes, flip_bytes, truncate, splice, foreign])(rng, fine))
        attack(f"#{number}")
    for name, content in special().items():
        target.write_bytes(content)
        attack(name)
    target.unlink()
    with target.open("wb") as file:  # a sparse file of 4 GB that says it is a matrix
        file.write(header("'<f4'", "(4096, 250000)"))
        file.truncate(file.tell() + 4096 * 250000 * 4)
    attack("sparse 4 GB")
    target.unlink()
    for name, make in (
        ("folder", lambda: target.mkdir()),
        ("pipe", lambda: os.mkfifo(target)),
        ("link to itself", lambda: target.symlink_to(target)),
        ("/dev/zero", lambda: target.symlink_to("/dev/zero")),
        ("tty", lambda: target.symlink_to("/dev/tty")),
    ):
        make()
        attack(name)
        target.rmdir() if target.is_dir() else target.unlink()
    return tally.summary()


if __name__ == "__main__":
    sys.exit(main())
