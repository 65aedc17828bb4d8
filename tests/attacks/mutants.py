"""Mutants of trace files: bytes flipped, members and metadata changed, bombs, foreign content."""

from __future__ import annotations

import copy
import io
import json
import pickle
import random
import struct
import zipfile
from pathlib import Path

import common
import numpy as np

Members = dict[str, bytes]
NASTY_INTS = [-1, 0, 1, 2, 3, 31, 32, 33, 255, 256, 1023, 1024, 1025, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32,
              2**33, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**12, 10**30, -(2**63), -(2**31)]  # fmt: skip
NASTY_TEXTS = ["", "x" * 10_000, "x" * 10_001, "../../../../etc/passwd", "/etc/passwd", "\0", "\n", "a\nb", "\x1b]0;x\x07", "<b>x</b>",
               "<img src='/etc/passwd'>", "%s%n", "{0.__class__}", "\u202e", "\ud800", "🦊" * 50, "float32", "object",
               "O", "V0", "|V9999", "<f2", "<M8[ns]", "shared", "global", "local", "constant", "lockstep", "matmul-tiled",
               "tilescope.kernels.matmul:tiled", "a:b:c", ":", "C:\\x.py:k", "__import__('os').system('touch pwned')"]  # fmt: skip


class Pickled:
    """Runs when it is unpickled."""

    def __reduce__(self):
        return (open, ("pwned-by-pickle", "w"))


def read_members(path: Path) -> Members:
    with zipfile.ZipFile(path) as members:
        return {info.filename: members.read(info) for info in members.infolist()}


def written(members: Members, rng: random.Random | None = None) -> bytes:
    out = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if rng is None or rng.random() < 0.7 else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w", method) as built:
        for name, content in members.items():
            built.writestr(zipfile.ZipInfo(name), content, method)
    return out.getvalue()


def array_of(content: bytes) -> np.ndarray:
    return np.load(io.BytesIO(content), allow_pickle=False)


def content_of(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=(1, 0), allow_pickle=True)
    return out.getvalue()


def header(descr: str, shape: str, data: bytes = b"", order: str = "False") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def meta_of(members: Members) -> dict:
    return json.loads(array_of(members["meta.npy"]).tobytes())


def put_meta(members: Members, meta: dict) -> None:
    text = json.dumps(meta).encode("utf-8", "surrogatepass")
    members["meta.npy"] = content_of(np.frombuffer(text, np.uint8))


# A mutation takes (rng, members) and changes the members in place; those of bytes take the file's content.


def flip_bytes(rng, content: bytes) -> bytes:
    built = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 5, 30, 300])):
        built[rng.randrange(len(built))] ^= 1 << rng.randrange(8)
    return bytes(built)


def truncate(rng, content: bytes) -> bytes:
    return content[: rng.randrange(len(content))]


def splice(rng, content: bytes) -> bytes:
    a, b = sorted(rng.randrange(len(content)) for _ in range(2))
    return rng.choice(
        [content[:a] + content[b:], content[:b] + content[a:], content[:a] + bytes(b - a) + content[b:]]
    )


def headers_of_zip(rng, content: bytes) -> bytes:
    """Change a number of a header of the archive."""
    built = bytearray(content)
    marks = [
        i for i in range(len(built) - 4) if built[i : i + 4] in (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06")
    ]
    position = rng.choice(marks) + rng.randrange(4, 46)
    if position + 4 < len(built):
        built[position : position + rng.choice([1, 2, 4])] = rng.choice(
            [b"\xff\xff\xff\xff", bytes(4), b"\x01\0\0\0", rng.randbytes(4)]
        )[: rng.choice([1, 2, 4])]
    return bytes(built)


def foreign(rng, content: bytes) -> bytes:
    return rng.choice([
        b"", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), rng.randbytes(3000), pickle.dumps(Pickled()), b"\x93NUMPY\x01\x00",
        b"{}" * 100, content * 2, b"junk" * 100 + content, content + b"junk" * 100, b"\x1f\x8b" + content,
    ])  # fmt: skip


BYTES = (flip_bytes, flip_bytes, truncate, splice, headers_of_zip, foreign)


def column(rng, members: Members) -> str:
    return rng.choice([name for name in members if name != "meta.npy"])


def swap_columns(rng, members: Members) -> None:
    a, b = column(rng, members), column(rng, members)
    members[a], members[b] = members[b], members[a]


def change_numbers(rng, members: Members) -> None:
    name = column(rng, members)
    array = array_of(members[name]).copy()
    if not len(array):
        return
    raw = array.view(np.uint8).reshape(len(array), -1)
    for _ in range(rng.choice([1, 3, 10])):
        raw[rng.randrange(len(array))] = rng.choice([0, 255, 127, 128, rng.randrange(256)])
    members[name] = content_of(array)


def dtype_of_column(rng, members: Members) -> None:
    name = column(rng, members)
    array = array_of(members[name])
    kind = rng.choice(
        [
            "u1",
            "u2",
            "u4",
            "u8",
            "i1",
            "i2",
            "i4",
            "i8",
            "f2",
            "f4",
            "f8",
            "c8",
            "c16",
            "b1",
            "S3",
            "U2",
            "M8[ns]",
            ">u4",
            ">f8",
            "V3",
        ]
    )
    try:
        if array.dtype.kind == "V":
            array = array.view(np.uint8)
        members[name] = content_of(
            array.astype(kind)
            if rng.random() < 0.7
            else array.view(np.uint8)[
                : len(array.view(np.uint8)) // np.dtype(kind).itemsize * np.dtype(kind).itemsize
            ].view(kind)
        )
    except (TypeError, ValueError):
        members[name] = content_of(np.zeros(3, kind))


def length_of_column(rng, members: Members) -> None:
    name = column(rng, members)
    array = array_of(members[name])
    members[name] = content_of(
        rng.choice(
            [
                array[:-1],
                array[:0],
                np.concatenate([array, array]),
                array[::-1].copy(),
                array.reshape(1, -1),
                np.concatenate([array] * 50),
            ]
        )
    )


def all_columns(rng, members: Members) -> None:
    """Repeat, shorten or reverse every column of the accesses alike."""
    names = [
        f"{n}.npy" for n in ("block", "thread", "phase", "op", "buffer", "site", "index", "step", "value")
    ]
    change = rng.choice(
        [
            lambda a: a[:0],
            lambda a: a[::-1].copy(),
            lambda a: a[: len(a) // 2],
            lambda a: np.concatenate([a] * 30),
        ]
    )
    for name in names:
        if name in members:
            members[name] = content_of(change(array_of(members[name])))


def objects(rng, members: Members) -> None:
    members[column(rng, members)] = content_of(np.array([Pickled(), {}, None], dtype=object))


def huge_header(rng, members: Members) -> None:
    descr = rng.choice(
        [
            "'<u1'",
            "'|u1'",
            "'<f8'",
            "'|O'",
            "'|V0'",
            "'|V9999'",
            "'<V1'",
            "[('a', '<f4')]",
            "__import__('os').system('touch pwned')",
            "'<u" + "9" * 50 + "'",
        ]
    )
    shape = rng.choice(
        [
            "(1000000000000,)",
            "(10,)",
            "(-1,)",
            "()",
            "(0,)",
            "(2, 3)",
            "(999999999999,)",
            "(9223372036854775807,)",
            "(" + "9" * 400 + ",)",
            "(1" + ", 1" * 40 + ")",
        ]
    )
    members[column(rng, members)] = header(
        descr, shape, rng.choice([b"", bytes(10), bytes(80)]), rng.choice(["False", "True", "1"])
    )


def names_of_members(rng, members: Members) -> None:
    name = column(rng, members)
    content = members[name]
    if rng.random() < 0.5:
        del members[name]
    members[
        rng.choice(
            [
                "../../../tmp/pwned.npy",
                "/tmp/pwned.npy",
                "..\\pwned.npy",
                "initial.99999.npy",
                "initial.-1.npy",
                "initial.00.npy",
                "initial.0.npy",
                "value.npy",
                "x.py",
                "meta",
                "block",
                "",
                "a/b.npy",
                "block.npy.npy",
                "\0.npy",
                "initial.1.npy",
                "x" * 5000 + ".npy",
            ]
        )
    ] = content


def drop_member(rng, members: Members) -> None:
    del members[rng.choice(list(members))]


def _places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list):
        for i in range(min(len(value), 6)):
            yield from _places(value[i], (*path, i))


def _nasty(rng, old):
    if isinstance(old, bool):
        return not old
    if isinstance(old, int) and rng.random() < 0.75:
        return rng.choice([*NASTY_INTS, old + 1, old - 1, old * 2, old * 1000])
    if isinstance(old, float) and rng.random() < 0.75:
        return rng.choice([float("nan"), float("inf"), -1.0, 1e308, 0.0])
    if isinstance(old, str) and rng.random() < 0.75:
        return rng.choice([*NASTY_TEXTS, old[::-1], old * 3, old[: len(old) // 2]])
    if isinstance(old, list) and rng.random() < 0.75:
        return rng.choice(
            [
                [],
                old[:-1],
                old * 2,
                old[::-1],
                [*old, 0],
                [old],
                [-n if isinstance(n, int) else n for n in old],
                [rng.choice(NASTY_INTS) for _ in old],
            ]
        )
    if isinstance(old, dict) and rng.random() < 0.75:
        built = dict(old)
        if built and rng.random() < 0.5:
            del built[rng.choice(list(built))]
        else:
            built[rng.choice(NASTY_TEXTS)] = rng.choice([*NASTY_INTS, "x", None])
        return built
    return rng.choice([None, True, 0, -1, 1.5, "x", [], {}, [1, 2, 3], {"a": 1}, float("nan"), 10**30])


def _put(rng, value, times):
    for _ in range(times):
        path = rng.choice(list(_places(value))[1:])
        place = value
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = _nasty(rng, place[path[-1]])


def metadata(rng, members: Members) -> None:
    meta = meta_of(members)
    _put(rng, meta, rng.choice([1, 1, 1, 2, 3]))
    put_meta(members, meta)


def buffers_of_metadata(rng, members: Members) -> None:
    meta = meta_of(members)
    if meta["buffers"]:
        _put(rng, meta["buffers"], 1)
    if rng.random() < 0.3 and meta["sites"]:
        _put(rng, meta["sites"], 1)
    put_meta(members, meta)


def launch_of_metadata(rng, members: Members) -> None:
    meta = meta_of(members)
    launch = json.loads(meta["launch"])
    if rng.random() < 0.3:
        launch["scenario"] = rng.choice(
            [
                "matmul-tiled",
                "histogram-private",
                "transpose-padded",
                "count-racing",
                "python-threads",
                "sum-sequential",
                "nothing",
                "cuda-c-naive",
                "barrier-three-threads",
                "vector-double",
            ]
        )
    elif rng.random() < 0.3:
        launch["kernel"] = rng.choice(
            [
                "tilescope.kernels.emulation:run",
                "tilescope.kernels.emulation:x",
                "/etc/passwd:k",
                "x",
                "",
                ":",
            ]
        )
    else:
        _put(rng, launch, 1)
    meta["launch"] = json.dumps(launch)
    if rng.random() < 0.3:
        meta["grid"], meta["block_dim"] = launch.get("grid"), launch.get("block")
    put_meta(members, meta)


def shape_of_launch(rng, members: Members) -> None:
    """Another grid and block, in the launch too."""
    meta = meta_of(members)
    launch = json.loads(meta["launch"])
    pick = lambda: rng.choice([1, 2, 3, 7, 32, 64, 100, 1024, 65535, 2**20, 2**31 - 1])  # noqa: E731
    meta["grid"] = launch["grid"] = [pick(), rng.choice([1, 1, pick()]), rng.choice([1, 1, pick()])]
    if rng.random() < 0.5:
        meta["block_dim"] = launch["block"] = rng.choice(
            [[1024, 1, 1], [1, 1024, 1], [1, 1, 1024], [16, 16, 4], [5, 7, 3], [64, 1, 1], [1, 1, 1]]
        )
    meta["launch"] = json.dumps(launch)
    put_meta(members, meta)


def shape_of_buffers(rng, members: Members) -> None:
    """Other shapes, sizes, units, strides, addresses of buffers, that may well fit together."""
    meta = meta_of(members)
    for buffer in meta["buffers"]:
        if rng.random() < 0.5:
            continue
        kind = rng.randrange(7)
        if kind == 0:
            buffer["size"] = rng.choice(
                [2**20, 2**28, 2**31, 2**31 // max(buffer["unit"], 1), buffer["size"] * 1000]
            )
        elif kind == 1:
            buffer["shape"], buffer["strides"] = rng.choice(
                [
                    ([1] * 32, [0] * 32),
                    ([1] * 33, [0] * 33),
                    ([0], [4]),
                    ([], []),
                    ([0, 2**31], [0, 0]),
                    ([buffer["size"]], [buffer["unit"]]),
                    ([buffer["size"], 1, 1, 1], [buffer["unit"], 0, 0, 0]),
                    ([1, buffer["size"]], [0, buffer["unit"]]),
                ]
            )
        elif kind == 2:
            buffer["address"] = rng.choice([0, 1, 3, 2**62 - 1, 255, buffer["address"] + 2])
        elif kind == 3:
            buffer["unit"] = rng.choice([1, 2, 3, 8, 16, 1000, 2**20])
        elif kind == 4:
            buffer["dtype"] = rng.choice(
                ["float16", "complex128", "bool", "int8", "uint64", "<c8", "|V3", "|V9999", "float64"]
            )
        elif kind == 5:
            buffer["space"] = rng.choice(["global", "shared", "local", "constant"])
        else:
            buffer["strides"] = [rng.choice([0, 1, -s, s, s * 2]) for s in buffer["strides"]]
            if len(buffer["shape"]) == 2 and rng.random() < 0.5:
                buffer["shape"] = buffer["shape"][::-1]
    if rng.random() < 0.6:
        for name in [n for n in members if n.startswith("initial.")]:
            del members[name]
    put_meta(members, meta)


SOURCES = [
    "", "(" * 5000, "x" * 1_000_000, "1" + "+1" * 50_000, "-" * 50_000 + "1", "a" + ".a" * 50_000, "if 1:\n" + " " * 10 + "x", "\0", "\f\n" * 1000,
    "\n" * 200_000, "@" * 100, "'''", "'''" + "a" * 100_000, "\t" * 5000 + "x", "def f(" + "a," * 3000 + "): pass", "\ufeffx=1", "# -*- coding: utf-7 -*-\n",
    "x = " + "[" * 90 + "]" * 90, "x = " + "9" * 100_000, "f'{" * 50 + "}'" * 50, "\r\r\n\n\r", "lambda: " * 3000 + "0", "\n".join(" " * i + "if 1:" for i in range(99)) + "\n" + " " * 99 + "x",
    "x\u2028y\u2029z\x85w\x0b\x0cv", "é" * 1000, "\ud800",
]  # fmt: skip


def sources_of_metadata(rng, members: Members) -> None:
    meta = meta_of(members)
    launch = json.loads(meta["launch"])
    text = rng.choice(SOURCES)
    if rng.random() < 0.3:
        text = launch["source"].replace(
            "\n", rng.choice(["\r\n", "\r", "\n\n\n", "\x0b", "\u2028", "\x0c\n"])
        )
    if rng.random() < 0.7:
        launch["source"] = text
    meta["sources"] = dict.fromkeys(meta["sources"], text)
    if rng.random() < 0.2:
        meta["sources"] = {}
    meta["launch"] = json.dumps(launch)
    put_meta(members, meta)


def sites_of_metadata(rng, members: Members) -> None:
    meta = meta_of(members)
    for site in meta["sites"]:
        site["line"] = rng.choice([0, 1, 5, 10**6, 2**31 - 1, site["line"]])
        site["column"] = rng.choice([0, 1, 500, 2**31 - 1, site["column"]])
        if rng.random() < 0.3:
            site["file"] = rng.choice(NASTY_TEXTS)
            site["function"] = rng.choice(NASTY_TEXTS)
    put_meta(members, meta)


def parts_and_totals(rng, members: Members) -> None:
    meta = meta_of(members)
    meta["accesses"] += rng.choice([0, 1, 10, 2**40, 2**62])
    meta["totals"] = rng.choice(
        [
            {},
            {"x": 1},
            {"global_load_requests": 5},
            {"": 0},
            {"global_load_requests": 2**63 - 1, "shared_load_wavefronts": 2**63 - 1},
        ]
    )
    meta["error"] = rng.choice(
        [
            None,
            None,
            {
                "type": "ValueError",
                "message": "m",
                "block": [0, 0, 0],
                "thread": [0, 0, 0],
                "file": "f",
                "line": 3,
            },
            {
                "type": "",
                "message": "",
                "block": [-1, 9**9, 0],
                "thread": [10**9, -5, 0],
                "file": "",
                "line": -7,
            },
        ]
    )
    meta["check"] = rng.choice(
        [
            None,
            {
                "largest_error": float("nan"),
                "tolerance": -1.0,
                "equal": True,
                "differing": -5,
                "elements": 10**30,
            },
            {"largest_error": float("inf"), "tolerance": 0.0, "equal": False, "differing": 1, "elements": 0},
        ]
    )
    meta["resident"] = rng.choice([1, 2, 10**6, 2**62])
    meta["schedule"] = rng.choice(["lockstep", "x", "random", ""])
    meta["missing"] = rng.choice(
        [
            [],
            [
                {
                    "block": 0,
                    "warp": 0,
                    "site": 0,
                    "mask": 2**32 - 1,
                    "missing": 1,
                    "step": 0,
                    "why": w,
                    "other": o,
                }
                for w in ("waiting", "apart")
                for o in (-1, 0)
            ],
            [
                {
                    "block": 0,
                    "warp": 0,
                    "site": 0,
                    "mask": 0,
                    "missing": 2**31,
                    "step": 0,
                    "why": "unnamed",
                    "other": -1,
                }
            ],
        ]
    )
    put_meta(members, meta)


def deep_json(rng, members: Members) -> None:
    depth = rng.choice([500, 5000, 200_000])
    text = rng.choice(
        [
            b"[" * depth,
            b'{"format": "tilescope trace", "version": 2, "x": ' + b"[" * depth + b"]" * depth + b"}",
            b'{"format": "tilescope trace", "version": 2, "launch": '
            + b'{"a":' * depth
            + b"1"
            + b"}" * depth
            + b"}",
            b"1" * depth,
            b'{"format": "tilescope trace", "version": ' + b"9" * min(depth, 100_000) + b"}",
        ]
    )
    members["meta.npy"] = content_of(np.frombuffer(text, np.uint8))


def deep_launch(rng, members: Members) -> None:
    meta = meta_of(members)
    depth = rng.choice([500, 5000, 100_000])
    launch = json.loads(meta["launch"])
    launch["source"] = ""
    text = json.dumps(launch)
    meta["launch"] = text[:-1] + ', "zzz": ' + "[" * depth + "]" * depth + "}"
    put_meta(members, meta)


def initial_contents(rng, members: Members) -> None:
    """NaNs and infinities in the contents and the values."""
    for name in list(members):
        if name.startswith(("initial.", "value")):
            array = array_of(members[name]).copy()
            if array.dtype.kind in "fc" and len(array):
                array[rng.randrange(len(array)) :] = rng.choice([np.nan, np.inf, -np.inf, 1e38, -0.0])
            elif array.dtype.kind in "iu" and len(array):
                info = np.iinfo(array.dtype)
                array[rng.randrange(len(array)) :] = rng.choice([info.min, info.max])
            members[name] = content_of(array)


def barriers(rng, members: Members) -> None:
    """Barriers in other orders, of other threads, sites and phases."""
    table = rng.choice(["barriers", "warp_barriers", "outside"])
    names = [n for n in members if n.startswith(f"{table}.")]
    how = rng.randrange(4)
    for name in names:
        array = array_of(members[name]).copy()
        if how == 0:
            array = array[: len(array) // 2]
        elif how == 1:
            array = array[::-1].copy()
        elif how == 2 and len(array):
            array = np.concatenate([array] * 3)
        elif how == 3 and len(array) and rng.random() < 0.4:
            array[rng.randrange(len(array))] = rng.choice([0, 1, int(array.max())])
        members[name] = content_of(array)
    if table == "outside" and rng.random() < 0.5:
        meta = meta_of(members)
        count = len(array_of(members["outside.cell.npy"]))
        meta["outside"] = [rng.choice(NASTY_TEXTS) for _ in range(count)]
        put_meta(members, meta)


def unpacked(rng, members: Members) -> None:
    """Say that packed columns are plain, or the other way round."""
    meta = meta_of(members)
    meta["packed"] = not meta["packed"]
    put_meta(members, meta)


def shuffle_plain(rng, members: Members) -> None:
    """In a plain file, give accesses other owners, sites, buffers and times, within the bounds."""
    meta = meta_of(members)
    if meta["packed"]:
        return metadata(rng, members)
    for name in rng.sample(
        ["block", "thread", "phase", "op", "buffer", "site", "index", "value"], rng.choice([1, 2, 5])
    ):
        if f"{name}.npy" in members:
            array = array_of(members[f"{name}.npy"]).copy()
            if len(array):
                order = np.random.default_rng(rng.randrange(2**32)).permutation(len(array))
                array = (
                    array[order]
                    if rng.random() < 0.6
                    else np.full_like(array, array[rng.randrange(len(array))])
                )
            members[f"{name}.npy"] = content_of(array)
    return None


STRUCTURE = (
    swap_columns, change_numbers, change_numbers, dtype_of_column, length_of_column, all_columns, objects, huge_header, names_of_members,
    drop_member, metadata, metadata, metadata, metadata, buffers_of_metadata, buffers_of_metadata, launch_of_metadata, launch_of_metadata, shape_of_launch,
    shape_of_buffers, shape_of_buffers, shape_of_buffers, sources_of_metadata, sources_of_metadata, sites_of_metadata, parts_and_totals, parts_and_totals,
    deep_json, deep_launch, initial_contents, barriers, barriers, unpacked, shuffle_plain, shuffle_plain, shuffle_plain,
)  # fmt: skip


def mutant(paths: list[Path], number: int) -> tuple[str, bytes]:
    """Return mutant `number`: what was done to which file, and its content. The same number gives the same mutant."""
    rng = random.Random(number + common.SEED)
    path = rng.choice(paths)
    if rng.random() < 0.2:
        change = rng.choice(BYTES)
        return f"#{number} {change.__name__} of {path.stem}", change(rng, path.read_bytes())
    members = read_members(path)
    changes = rng.choices(STRUCTURE, k=rng.choice([1, 1, 1, 2]))
    for change in changes:
        try:
            change(rng, members)
        except Exception:  # what a change before has made unfit for this one
            pass
    return f"#{number} {'+'.join(c.__name__ for c in changes)} of {path.stem}", written(
        copy.copy(members), rng
    )
