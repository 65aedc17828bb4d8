"""Random kernels whose loops make accesses in some rounds only.

No branch has an `else` with accesses: LLVM would merge those of both arms.
"""

import random

SIZE = 4096  # elements of `a` that a site reads or writes
TEST_DEPTH = 3


class RandomLoops:
    """Writes the text of a kernel `kernel(a, out, n)` for one warp, from a seed; `a` and `out` are of int64.

    n: 3, which the compiler does not know, so that it keeps the loops.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._sites = self._loops = 0
        self._devices: list[str] = []

    def text(self) -> str:
        """Return the kernel and its device functions; call it once."""
        body = self._block(0, 1)
        helpers = "\n".join(self._devices)
        return (
            f"{helpers}\n@cuda.jit\ndef kernel(a, out, n):\n    t = cuda.threadIdx.x\n    s = 0\n    x = t\n"
            f"{body}    out[t] = s\n"
        )

    @property
    def elements(self) -> int:
        """Elements that each array must have."""
        return SIZE * (self._sites + 1)

    def _index(self) -> str:
        self._sites += 1
        factor, step = self._random.choice((1, 2, 3, 33)), self._random.choice((1, 32, 97, 128))
        return f"(t * {factor} + x * {step}) % {SIZE} + {self._sites * SIZE}"

    def _condition(self) -> str:
        pick = self._random.choice
        kind = self._random.randrange(5)
        if kind == 0:
            return f"(x + t) % {pick((2, 3, 5))} == {pick((0, 1))}"
        if kind == 1:
            return f"(x * 7 + t * 3) % 8 < {pick((2, 4, 6))}"
        if kind == 2:
            return f"t < {pick((5, 16, 31))}"
        if kind == 3:
            return f"x % 2 == {pick((0, 1))}"
        return f"a[{self._index()}] % 2 == 0"

    def _block(self, depth: int, level: int, loops: tuple[str, ...] = ()) -> str:
        count = self._random.randint(1, 3)
        return "".join(self._statement(depth, level, loops) for _ in range(count))

    def _statement(self, depth: int, level: int, loops: tuple[str, ...]) -> str:
        pad = "    " * level
        kinds = ["load", "store", "if", "for", "while", "while", "expression", "call"]
        kinds += ["leave"] * 2 if loops else []
        kind = self._random.choice(kinds) if depth < TEST_DEPTH else self._random.choice(("load", "store"))
        if kind == "load":
            return f"{pad}s += a[{self._index()}]\n"
        if kind == "store":
            return f"{pad}out[{self._index()}] = s\n"
        if kind == "if":
            return f"{pad}if {self._condition()}:\n{self._block(depth + 1, level + 1, loops)}"
        if kind == "leave":
            # LLVM makes two loops of one whose rounds are unlike and end in several places.
            word = self._random.choice(("continue", "break")) if loops[-1] == "for" else "break"
            return f"{pad}if {self._condition()}:\n{pad}    s += {level}\n{pad}    {word}\n"
        if kind == "expression":
            left, right = self._index(), self._index()
            if self._random.random() < 0.5:
                return f"{pad}s += a[{left}] if {self._condition()} else s + {level}\n"
            return f"{pad}if {self._condition()} and a[{left}] % 3 == 0:\n{pad}    s += a[{right}]\n"
        if kind == "call":
            return f"{pad}s += {self._device()}(a, t, x, n)\n"
        return self._loop(kind, depth, level, loops)

    def _loop(self, kind: str, depth: int, level: int, loops: tuple[str, ...]) -> str:
        self._loops += 1
        pad, name = "    " * level, f"i{self._loops}"
        body = self._block(depth + 1, level + 1, (*loops, kind))
        keep, back = f"{pad}x_{name} = x\n", f"{pad}x = x_{name}\n"
        if kind == "for":
            rounds = self._random.choice(("3", "n + 1"))
            head = f"{pad}for {name} in range({rounds}):\n{pad}    x = x * 5 % 61 + {name}\n"
            return keep + head + body + back
        # With the condition on x, LLVM does not unroll loops whose lanes make different numbers of rounds.
        rounds = self._random.choice(("t % n", "(t + x) % (n + 1)", f"x_{name} % n + 1"))
        head = f"{pad}{name} = 0\n{pad}while {name} < {rounds} and x < 99:\n{pad}    {name} += 1\n"
        return keep + head + f"{pad}    x = x * 3 % 59 + {name}\n" + body + back

    def _device(self) -> str:
        name = f"f{len(self._devices)}"
        self._devices.append("")  # keeps its number
        inner = self._block(TEST_DEPTH - 1, 1)
        stores = inner.replace("out[", "a[")
        self._devices[int(name[1:])] = (
            f"@cuda.jit(device=True)\ndef {name}(a, t, x, n):\n    s = 0\n{stores}    return s\n"
        )
        return name
