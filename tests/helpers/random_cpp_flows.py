"""The random kernels of `random_flows` in CUDA C++, with the same accesses in the same order."""

from __future__ import annotations

import re

from random_flows import SIZE, random_kernel

HEAD = f"""
__device__ int mod(int value, int by) {{ return (value % by + by) % by; }}
__device__ int mixed(int p, int q) {{
    if (p > q)
        return p - q;
    return p + 2 * q;
}}
__device__ void put(int *target, int where, int what) {{ target[where] = what; }}

__global__ void kernel(int *a, int *b) {{
    int t = threadIdx.x, x = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int s[{SIZE}];
    int v = 0, w = t, k = 0, n0 = 0, n1 = 0, n2 = 0, z = 0;
"""
MAIN = f"""
int main() {{
    int *a, *b;
    cudaMallocManaged(&a, {SIZE} * sizeof(int));
    cudaMallocManaged(&b, {SIZE} * sizeof(int));
    for (int i = 0; i < {SIZE}; i++) a[i] = b[i] = i;
    kernel<<<2, 32>>>(a, b);
    cudaDeviceSynchronize();
}}
"""
_ADDED = re.compile(r"(\s*)(\w+\[.*\]) \+= (.*)")
_CHOICE = re.compile(r"(\w+) = (.*) if (.*) else (.*)")


def random_kernels(seed: int) -> tuple[str, str]:
    """Return the text of a random kernel in Python, and the program in CUDA C++."""
    head, _, body = random_kernel(seed).partition("def kernel(a, b):\n")
    lines = ["    t, x = cuda.threadIdx.x, cuda.grid(1)", f"    s = cuda.shared.array({SIZE}, int32)"]
    lines += [
        f"    if t < {SIZE}:",
        "        s[t] = t + 1",
        "    cuda.syncthreads()",
        "    v, w, k = 0, t, 0",
    ]
    for line in body.splitlines()[4:]:
        plain = line.replace("private", "b")
        added = _ADDED.fullmatch(plain)  # C++ computes the right side first
        lines += [f"{added[1]}z = {added[3]}", f"{added[1]}{added[2]} += z"] if added else [plain]
    cpp = [_cpp_line(line) for line in lines[2:5] + lines[6:]]
    return head + "def kernel(a, b):\n" + "\n".join(lines) + "\n", HEAD + _with_braces(cpp) + "}\n" + MAIN


def _with_braces(lines: list[str]) -> str:
    """Close the suites of a text whose statements are those of C++."""
    closed, depths = [], list[int]()
    for line in lines:
        indent = len(line) - len(line.lstrip())
        while depths and indent <= depths[-1]:
            closed.append(" " * depths.pop() + "}")
        closed.append(line)
        if line.endswith("{"):
            depths.append(indent)
    return "\n".join([*closed, *(" " * depth + "}" for depth in reversed(depths))]) + "\n"


def _cpp_line(line: str) -> str:
    """Translate one line."""
    indent, text = line[: len(line) - len(line.lstrip())], line.strip()
    if text == "v, w = w, v":
        return f"{indent}z = v, v = w, w = z;"
    if loop := re.fullmatch(r"for k in range\((.*), (.*)\):", text):
        return f"{indent}for (int i = {_expression(loop[1])}; i < {loop[2]} && (k = i) == i; ++i) {{"
    if text == "else:":
        return f"{indent}else {{"
    if suite := re.fullmatch(r"(if|while) (.*):", text):
        return f"{indent}{suite[1]} ({_expression(suite[2])}) {{"
    if choice := _CHOICE.fullmatch(text):
        parts = [_expression(choice[number]) for number in (3, 2, 4)]
        return f"{indent}{choice[1]} = {parts[0]} ? {parts[1]} : {parts[2]};"
    return f"{indent}{_expression(text)};"


def _expression(text: str) -> str:
    text = text.replace("cuda.syncthreads()", "__syncthreads()").replace("//", "/").replace(" and ", " && ")
    text = text.replace(" or ", " || ").replace("(-1, ", "(-1u, ")
    text = re.sub(r"cuda\.(shfl_\w+)", r"__\1", text)
    for name, other in {"max": "Max", "add": "Add", "exch": "Exch"}.items():
        text = re.sub(rf"cuda\.atomic\.{name}\((\w), (.*?\) % {SIZE}), ", rf"atomic{other}(&\1[\2], ", text)
    return _with_mod(text)


def _with_mod(text: str) -> str:
    """Replace each remainder by a call, which has Python's sign."""
    while (match := re.search(r" % (\d+)", text)) is not None:
        start = _operand_start(text, match.start())
        text = f"{text[:start]}mod({text[start : match.start()]}, {match[1]}){text[match.end() :]}"
    return text


def _operand_start(text: str, end: int) -> int:
    """Find the start of the name, the element or the brackets before a position."""
    position = end
    while position and text[position - 1] in ")]":
        depth = 0
        while True:
            position -= 1
            depth += (text[position] in ")]") - (text[position] in "([")
            if not depth:
                break
    while position and (text[position - 1].isalnum() or text[position - 1] in "_."):
        position -= 1
    return position
