"""Translates the errors of Numba's compiler: why a kernel does not compile, in a sentence and at its line.

Numba's messages run over many lines, and some errors come from its internals, such as an attribute that only its CPU
target has. Known errors become plain sentences, and other errors of Numba their first line. Errors that are not about
the code, such as a missing driver or library, are ignored.
"""

from __future__ import annotations

import dis
import re
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import CodeType
from typing import Any

from .question import Refusal

GLOBAL = r"Untyped global name '(\w+)'"
NO_ATTRIBUTE = r"module '(?!numba\.cuda\.core)([\w.]+)' has no attribute '(\w+)'"
MAX_MESSAGE = 160  # characters of an unknown message
# Errors about a missing driver or compiler, our replacement of a device, or an object that is None in the simulator.
UNRELATED = re.compile(
    r"libNVVM|NVVM|libdevice|CUDA driver|CUDA_ERROR|CudaSupportError|StandIn|compute capability|No module named"
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
REFUSED_OPCODES = {
    "BEFORE_WITH": "it has a with statement",
    "SETUP_WITH": "it has a with statement",
    "YIELD_VALUE": "it yields, but a kernel can't be a generator",
}
WRITABLE = "give a number, or the name of one from outside the kernel"
# Patterns of Numba's messages, reasons with the groups of the match, and remedies. The first match counts.
TRANSLATIONS: tuple[tuple[str, str, str], ...] = (
    (r"Untyped global name '(threadIdx|blockIdx|blockDim|gridDim|shared|local|const|atomic|laneid|warpsize)':"
     r".*?<class 'type'>", "Numba knows {0} only as cuda.{0}", "write cuda.{0}"),
    (GLOBAL + r":.*?<class 'function'>", "{0} is a Python function, which a kernel can't call",
     "decorate {0} with @cuda.jit(device=True)"),
    (GLOBAL + r":.*?<class 'builtin_function_or_method'>", "a GPU has no {0}()", ""),
    (GLOBAL + r":.*?<class 'type'>", "{0} is a class of Python, which a kernel can't use", ""),
    (GLOBAL + r":.*?<class '(?:\w+\.)*(\w+)'>", "{0} is a {1}, which Numba has no type for", ""),
    (r"Unknown attribute '\w+' of type list", "a kernel has no lists that grow", LOCAL),
    (r"DictType\[|of type DictType", "a kernel has no dictionaries", LOCAL),
    (r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'", "a GPU has no {1}.{0}", ""),
    (r"Unknown attribute '(\w+)' of type (?:Literal\[str\]|unicode_type)", "a kernel has no text with .{0}", ""),
    (r"Unknown attribute '(\w+)' of type array\(", "an array has no .{0} in a kernel", ""),
    (r"Unknown attribute '_allocate' of type typeref", NO_MEMORY, LOCAL),
    (r"Unknown attribute '(\w+)' of type ([^\n]+)", "there is no .{0} of {1}", ""),
    (NO_ATTRIBUTE, "there is no {0}.{1}", "{2}"),
    (r"Function\(<function (shared|local)\.array[\s\S]*?>>> array\((?:shape=)?(?:UniTuple\(|Tuple\([^\n]*?)?u?int\d",
     "the shape of cuda.{0}.array is not a compile-time constant", WRITABLE),
    (r"Untyped global name 'list'", "it makes a list", LOCAL),
    (r"Only accept returning of array passed[\s\S]*resolving callee type: type\(CUDADispatcher",
     "a device function returns a part of an array, where Numba returns only arrays that were passed to it",
     "let the function return an element, or take the part where it is called"),
    (r"NRT required but not enabled|Only accept returning of array passed", NO_MEMORY, LOCAL),
    (r"No conversion from ([^\n]+?) to none for '[^']*return",
     "it returns a value, but a kernel can't return one", "store it in an array"),
    (r"Cannot unify ([^\n]+?) and ([^\n]+?) for '([\w$]+)[^']*'", "{2} is sometimes {0} and sometimes {1}",
     "give it values of one type"),
    (r"Cannot bind 'args=[^\n]*?due to \"TypeError: ([^\n]+?)\.?\"", "a function is called with other arguments: {0}",
     ""),
    (r"\(List\(", "it uses a list from outside the kernel", "use a tuple or cuda.const.array_like"),
    (r"Function\(<built-in function (add|mod|mul)>\)[\s\S]*?(?:Literal\[str\]|unicode_type)",
     "a kernel can't concatenate text", ""),
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
    (r"NameError: name '(\w+)' is not defined", "{0} is not defined", ""),
    (r"Int value is too large: (\d+)", "{0} has more than 64 bits", ""),
    (r"Illegal IR, del found at: ([^\n]+)", "it has {0}", ""),
    (r"No implementation of function "
     r"Function\(<(?:built-in function|class|function|ufunc|intrinsic) '?([\w.]+)'?[^>]*>\)"
     r" found for signature:\s*>>> ([^\n]+)", "there is no {1} for a GPU", ""),
)  # fmt: skip
NUMBA_ERRORS = ("NumbaError", "UnsupportedBytecodeError", "UnsupportedError")
TERMINAL_COLOURS = re.compile(r"\x1b\[[\d;]*m")
LOCATION = re.compile(r"\b(?:at|Raised from) ([^\n]+?) \((\d+)\)|File \"([^\"\n]+)\", line (\d+)")


def refusal_in_bytecode(codes: Sequence[CodeType]) -> Refusal | None:
    """Find a reason against compiling in the bytecode, for constructs that Numba reports badly or not at all."""
    for code in codes:
        for instruction in dis.get_instructions(code):
            if instruction.opname in REFUSED_OPCODES:
                line = instruction.positions.lineno if instruction.positions else None
                return Refusal(
                    code.co_filename, line or code.co_firstlineno, REFUSED_OPCODES[instruction.opname]
                )
    return None


def refusal_of(error: BaseException, codes: Sequence[CodeType]) -> Refusal | None:
    """Translate an error of compiling these code objects, the kernel's first.

    Returns None for an error about a driver or library that is missing here.
    """
    text = TERMINAL_COLOURS.sub("", str(error))
    chain = list(_chain(error))
    if any(UNRELATED.search(f"{type(cause).__name__} {cause}") for cause in chain):
        return None
    is_from_numba = any(kind.__name__ in NUMBA_ERRORS for kind in type(error).__mro__)
    name = type(error).__name__
    translation = _translate(text if is_from_numba else f"{name}: {text}", codes)
    if translation is None:
        translation = (
            _first_line(text) if is_from_numba else f"its compiler fails with {name}: {_first_line(text)}",
            "",
        )
    file, line = _error_position(text, chain, codes)
    return Refusal(file, line, *translation, name if is_from_numba else "")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _translate(text: str, codes: Sequence[CodeType]) -> tuple[str, str] | None:
    names = {name for code in codes for name in (*code.co_names, *code.co_freevars)}
    for pattern, reason, remedy in TRANSLATIONS:
        match = re.search(pattern, text)
        if match and (
            not pattern.startswith(GLOBAL) or match[1] in names
        ):  # otherwise a name in Numba's functions
            groups = [_simplify_type(group or "") for group in match.groups()]
            opcode = OPCODES.get(
                groups[0] if groups else "", f"it needs {groups[0] if groups else ''} of Python's"
            )
            near = _near_attribute(*groups) if pattern == NO_ATTRIBUTE else ""
            return reason.format(*groups, opcode=opcode), remedy.format(*groups, near)
    return None


def _near_attribute(module: str, name: str) -> str:
    """Propose the attribute of a module with a name like a misspelt one; "" if there is none."""
    near = get_close_matches(name, dir(sys.modules.get(module)), 1)
    return f"write {module.removeprefix('numba.')}.{near[0]}" if near else ""


def _simplify_type(text: str) -> str:
    """Simplify the name of a type: int64 for Literal[int](1)."""
    text = re.sub(r"Literal\[(\w+)\]\([^()]*\)", r"\1", text)
    return re.sub(r"UniTuple\((\w+) x (\d+)\)", r"\2 x \1", text).strip()


def _first_line(text: str) -> str:
    for line in text.splitlines():
        line = line.strip()
        if line and not line.startswith(("Failed in", "-", ">>>")):
            return line[:MAX_MESSAGE].rstrip(".:")
    return "it is not compiled"


def _error_position(text: str, chain: list[BaseException], codes: Sequence[CodeType]) -> tuple[str, int]:
    """Return (file, line) of the error: the innermost line of the user's code that it names."""
    undefined = re.search(r"NameError: name '(\w+)'", text)  # Numba reports no line for it
    if undefined and (position := _line_of(undefined[1], codes)):
        return position
    files = {_absolute(code.co_filename): code.co_filename for code in codes}
    for match in LOCATION.finditer(text):
        file, line = (match[1], match[2]) if match[1] else (match[3], match[4])
        if _absolute(file) in files:
            return files[_absolute(file)], int(line)
    untyped = re.search(GLOBAL, text)
    position = _in_frames(chain, files) or (untyped and _line_of(untyped[1], codes))
    return position or (codes[0].co_filename, _first_statement(codes[0]))


def _in_frames(chain: list[BaseException], files: dict[str, str]) -> tuple[str, int] | None:
    """Find the line that Numba was processing when it raised, from the local variables of its functions."""
    last = None
    for error in chain:
        traceback = error.__traceback__
        while traceback is not None:
            for value in [*traceback.tb_frame.f_locals.values()]:
                name, line = _location(value)
                if _absolute(name) in files:
                    last = files[_absolute(name)], line
            traceback = traceback.tb_next
        if last:
            return last
    return None


def _absolute(name: str) -> str:
    """Resolve a file name of Numba, which may be relative to the working folder."""
    return str(Path(name).absolute().resolve())


def _location(value: Any) -> tuple[str, int]:
    """Return the (file, line) of an object of Numba's IR; ("", 0) for anything else."""
    try:
        return str(value.loc.filename), int(value.loc.line)
    except Exception:  # noqa: BLE001  # objects without a location may raise anything
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
