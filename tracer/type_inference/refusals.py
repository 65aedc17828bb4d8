"""Why Numba does not compile a kernel, in a sentence and at its line, out of the error that it raised.

Numba's messages run over many lines, and some of its errors are those of its own code (an attribute that its CUDA
target lacks where its CPU target has it). Known ones are said in plain words; of other errors of Numba's the first
line is; of errors that are not Numba's verdict on the code (a driver or library that lacks) nothing is.
"""

from __future__ import annotations

import dis
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from .question import Refusal

GLOBAL = r"Untyped global name '(\w+)'"
LONGEST = 160  # characters of a message that is not known
# What an error says where a GPU's driver or compiler is missing, or what we put in the place of a device, or what the
# simulator has None for.
ELSEWHERE = re.compile(
    r"libNVVM|NVVM|libdevice|CUDA driver|CUDA_ERROR|CudaSupportError|SimpleNamespace|compute capability|No module named"
    r"|Invalid use of none with"
)
RECURSION = "it calls itself"
NO_MEMORY = "it makes an array, list or text while it runs, for which a kernel gets no memory"
LOCAL = "use cuda.local.array or cuda.shared.array"
OPCODES = {
    "IMPORT_NAME": "it imports a module",
    "STORE_GLOBAL": "it sets a global variable",
    "DELETE_GLOBAL": "it deletes a global variable",
    "LOAD_BUILD_CLASS": "it defines a class",
}
AT_SIGHT = {
    "BEFORE_WITH": "it has a with statement",
    "SETUP_WITH": "it has a with statement",
    "YIELD_VALUE": "it yields, and a kernel is no generator",
}
WRITABLE = "give a number, or the name of one from outside the kernel"
# Numba's words, what is said of them, with the groups of the match in it, and what helps. The first that fits counts.
KNOWN: tuple[tuple[str, str, str], ...] = (
    (r"Untyped global name '(threadIdx|blockIdx|blockDim|gridDim|shared|local|const|atomic|laneid|warpsize)':"
     r".*?<class 'type'>", "Numba knows {0} as cuda.{0} alone", "write cuda.{0}"),
    (GLOBAL + r":.*?<class 'function'>", "{0} is a Python function, which a kernel can't call",
     "decorate {0} with @cuda.jit(device=True)"),
    (GLOBAL + r":.*?<class 'builtin_function_or_method'>", "a GPU has no {0}()", ""),
    (GLOBAL + r":.*?<class 'type'>", "{0} is a class of Python, which a kernel can't use", ""),
    (GLOBAL + r":.*?<class '(?:\w+\.)*(\w+)'>", "{0} is a {1}, of which Numba knows no type", ""),
    (r"Unknown attribute '\w+' of type list", "a kernel has no lists that grow", LOCAL),
    (r"DictType\[|of type DictType", "a kernel has no dictionaries", LOCAL),
    (r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'", "a GPU has no {1}.{0}", ""),
    (r"Unknown attribute '(\w+)' of type (?:Literal\[str\]|unicode_type)", "a kernel has no text with .{0}", ""),
    (r"Unknown attribute '(\w+)' of type array\(", "an array has no .{0} in a kernel", ""),
    (r"Unknown attribute '_allocate' of type typeref", NO_MEMORY, LOCAL),
    (r"Unknown attribute '(\w+)' of type ([^\n]+)", "there is no .{0} of {1}", ""),
    (r"module '(?!numba\.cuda\.core)([\w.]+)' has no attribute '(\w+)'", "there is no {0}.{1}", ""),
    (r"Function\(<function (shared|local)\.array[\s\S]*?>>> array\((?:shape=)?(?:UniTuple\(|Tuple\([^\n]*?)?u?int\d",
     "the shape of cuda.{0}.array is no number that Numba knows when it compiles", WRITABLE),
    (r"Untyped global name 'list'", "it makes a list", LOCAL),
    (r"Only accept returning of array passed[\s\S]*resolving callee type: type\(CUDADispatcher",
     "a device function returns a part of an array, where Numba returns only arrays that were passed to it",
     "let the function return an element, or take the part where it is called"),
    (r"NRT required but not enabled|Only accept returning of array passed", NO_MEMORY, LOCAL),
    (r"No conversion from ([^\n]+?) to none for '[^']*return",
     "it returns a value, and a kernel has none to give it to", "store it in an array"),
    (r"Cannot unify ([^\n]+?) and ([^\n]+?) for '([\w$]+)[^']*'", "{2} is once {0} and once {1}",
     "give it values of one type"),
    (r"Cannot bind 'args=[^\n]*?due to \"TypeError: ([^\n]+?)\.?\"", "a function is called with other arguments: {0}",
     ""),
    (r"\(List\(", "it uses a list from outside the kernel", "use a tuple or cuda.const.array_like"),
    (r"Function\(<built-in function (add|mod|mul)>\)[\s\S]*?(?:Literal\[str\]|unicode_type)",
     "a kernel can't put text together", ""),
    (r"Unsupported array index type ([^\n]+?) in", "an index is {0}", "use whole numbers"),
    (r"cannot index array\((\w+), (\d)d, \w+\) with (\d) indices", "an array of {1} dimensions gets {2} indices", ""),
    (r"(?:Function\(<built-in function getitem>\)|static_getitem)[\s\S]*?getitem\(Tuple\(",
     "a tuple of several types gets an index that is computed", "use an array, or a tuple of one type"),
    (r"compiler re-entrant|insert_unresolved_ref", RECURSION, ""),
    (r"KeyError: \"?<ufunc '(\w+)'>", "Numba's CUDA target has no np.{0} of numbers", "use the math module"),
    (r"[Rr]unaway recursion|cannot type infer", "a function calls itself without an end that Numba can type", ""),
    (r"Cannot modify readonly array", "it writes to an array that is read-only", ""),
    (r"Use of unsupported opcode \((\w+)\)", "{opcode}", ""),
    (r"set_try_status|CallConv' object has no attribute 'check_try", "it catches exceptions",
     "test for what may go wrong instead"),
    (r"return_dynamic_user_exc", "it raises an exception with a text that is computed", "give it a fixed text"),
    (r"has no attribute 'build_set'", "it makes a set", ""),
    (r"dyn globals disabled", "it calls a function of a C library", ""),
    (r"Record\([^\n]*\)\.(\w+) of type (\w+) is not aligned", "the field {0} of a record, a {1}, is not aligned",
     "make the record's dtype with align=True"),
    (r"printing unimplemented for values of type ([^\n]+)", "it prints a value of type {0}", "print numbers"),
    (r"NameError: name '(\w+)' is not defined", "nothing is named {0}", ""),
    (r"Int value is too large: (\d+)", "{0} has more than 64 bits", ""),
    (r"Illegal IR, del found at: ([^\n]+)", "it has {0}", ""),
    (r"No implementation of function "
     r"Function\(<(?:built-in function|class|function|ufunc|intrinsic) '?([\w.]+)'?[^>]*>\)"
     r" found for signature:\s*>>> ([^\n]+)", "there is no {1} for a GPU", ""),
)  # fmt: skip
NUMBA_ERRORS = ("NumbaError", "UnsupportedBytecodeError", "UnsupportedError")
OPTIONAL = re.compile(r"\x1b\[[\d;]*m")
AT = re.compile(r"\b(?:at|Raised from) ([^\n]+?) \((\d+)\)|File \"([^\"\n]+)\", line (\d+)")


def refusal_at_sight(codes: Sequence[CodeType]) -> Refusal | None:
    """Return why Numba does not compile functions, where it says something else itself, or nothing."""
    for code in codes:
        for instruction in dis.get_instructions(code):
            if instruction.opname in AT_SIGHT:
                line = instruction.positions.lineno if instruction.positions else None
                return Refusal(code.co_filename, line or code.co_firstlineno, AT_SIGHT[instruction.opname])
    return None


def refusal_of(error: BaseException, codes: Sequence[CodeType]) -> Refusal | None:
    """Return why Numba does not compile the functions of these codes, the kernel's first.

    None where the error is that of a driver or library that is missing here.
    """
    text = OPTIONAL.sub("", str(error))
    chain = list(_chain(error))
    if any(ELSEWHERE.search(f"{type(one).__name__} {one}") for one in chain):
        return None
    is_numbas = any(kind.__name__ in NUMBA_ERRORS for kind in type(error).__mro__)
    name = type(error).__name__
    known = _known(text if is_numbas else f"{name}: {text}", codes)
    if known is None:
        known = _first_line(text) if is_numbas else f"its compiler fails with {name}: {_first_line(text)}", ""
    file, line = _place(text, chain, codes)
    return Refusal(file, line, *known, name if is_numbas else "")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _known(text: str, codes: Sequence[CodeType]) -> tuple[str, str] | None:
    names = {name for code in codes for name in (*code.co_names, *code.co_freevars)}
    for pattern, reason, remedy in KNOWN:
        found = re.search(pattern, text)
        if found and (
            not pattern.startswith(GLOBAL) or found[1] in names
        ):  # else a name in Numba's own functions
            groups = [_plainer(group or "") for group in found.groups()]
            opcode = OPCODES.get(
                groups[0] if groups else "", f"it needs {groups[0] if groups else ''} of Python's"
            )
            return reason.format(*groups, opcode=opcode), remedy.format(*groups)
    return None


def _plainer(text: str) -> str:
    """Return a type as a reader knows it: int64 for Literal[int](1)."""
    text = re.sub(r"Literal\[(\w+)\]\([^()]*\)", r"\1", text)
    return re.sub(r"UniTuple\((\w+) x (\d+)\)", r"\2 x \1", text).strip()


def _first_line(text: str) -> str:
    for line in text.splitlines():
        line = line.strip()
        if line and not line.startswith(("Failed in", "-", ">>>")):
            return line[:LONGEST].rstrip(".:")
    return "it is not compiled"


def _place(text: str, chain: list[BaseException], codes: Sequence[CodeType]) -> tuple[str, int]:
    """Return (file, line) of what is refused: the innermost line of the user's that the error names."""
    unknown = re.search(r"NameError: name '(\w+)'", text)  # of which Numba says no line
    if unknown and (named := _line_of(unknown[1], codes)):
        return named
    files = {_absolute(code.co_filename): code.co_filename for code in codes}
    for found in AT.finditer(text):
        file, line = (found[1], found[2]) if found[1] else (found[3], found[4])
        if _absolute(file) in files:
            return files[_absolute(file)], int(line)
    untyped = re.search(GLOBAL, text)
    placed = _in_frames(chain, files) or (untyped and _line_of(untyped[1], codes))
    return placed or (codes[0].co_filename, _first_statement(codes[0]))


def _in_frames(chain: list[BaseException], files: dict[str, str]) -> tuple[str, int] | None:
    """Return the line that Numba was at when it raised, from what its own functions hold."""
    last = None
    for error in chain:
        step = error.__traceback__
        while step is not None:
            for value in [*step.tb_frame.f_locals.values()]:
                name, line = _location(value)
                if _absolute(name) in files:
                    last = files[_absolute(name)], line
            step = step.tb_next
        if last:
            return last
    return None


def _absolute(name: str) -> str:
    """Return the path of a file as Numba names it, from the working folder or in full."""
    return str(Path(name).absolute().resolve())


def _location(value: Any) -> tuple[str, int]:
    """Return where in a source something of Numba's representation is; ("", 0) for anything else."""
    try:
        return str(value.loc.filename), int(value.loc.line)
    except Exception:  # noqa: BLE001  # whatever an object of Numba's raises that has none
        return "", 0


def _line_of(name: str, codes: Sequence[CodeType]) -> tuple[str, int] | None:
    for code in codes:
        line = code.co_firstlineno
        for instruction in dis.get_instructions(code):
            line = instruction.positions.lineno or line if instruction.positions else line
            if instruction.argval == name:
                return code.co_filename, line
    return None


def _first_statement(code: CodeType) -> int:
    lines = [line for _, _, line in code.co_lines() if line and line > code.co_firstlineno]
    return min(lines, default=code.co_firstlineno)
