"""Translates inline PTX to C++: arithmetic, bits, loads and stores, barriers, fences and special registers.

The source of each operation is NVIDIA's "PTX ISA", chapter "Instructions". What is not in the tables is named.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_TYPES = {
    "b8": "unsigned char", "u8": "unsigned char", "s8": "signed char", "b16": "unsigned short", "u16": "unsigned short",
    "s16": "short", "b32": "unsigned", "u32": "unsigned", "s32": "int", "b64": "unsigned long long",
    "u64": "unsigned long long", "s64": "long long", "f32": "float", "f64": "double", "pred": "bool",
}  # fmt: skip
_ROUNDING = r"(?:\.(?:rn|rz|rm|rp|approx|full|ftz|sat))*"
_COMPARISONS = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "lo": "<",
    "ls": "<=",
    "hi": ">",
    "hs": ">=",
}
# The opcode without its type, as a pattern, and the value of the operands A, B, C and D, which have the type T.
_OPERATIONS = tuple(
    (re.compile(pattern), value)
    for pattern, value in {
        "mov": "A",
        rf"add{_ROUNDING}": "A + B",
        rf"sub{_ROUNDING}": "A - B",
        rf"mul\.lo|mul{_ROUNDING}": "A * B",
        rf"div{_ROUNDING}": "A / B",
        "rem": "A % B",
        r"mad\.lo": "A * B + C",
        rf"fma{_ROUNDING}|mad{_ROUNDING}": "std::fma(A, B, C)",
        "min": "A < B ? A : B",
        "max": "A > B ? A : B",
        "abs": "A < 0 ? -A : A",
        "neg": "-A",
        "and": "A & B",
        "or": "A | B",
        "xor": "A ^ B",
        "not": "~A",
        "shl": "tilescope_ptx_shl(A, (unsigned)B)",
        "shr": "tilescope_ptx_shr(A, (unsigned)B)",
        r"mul\.hi": "tilescope_ptx_high(A, B)",
        "bfe": "tilescope_ptx_extract(A, (unsigned)B, (unsigned)C)",
        "bfi": "tilescope_ptx_insert(A, B, (unsigned)C, (unsigned)D)",
        "popc": "sizeof(A) == 8 ? __popcll(A) : __popc((unsigned)A)",
        "clz": "sizeof(A) == 8 ? __clzll(A) : __clz((int)A)",
        "brev": "sizeof(A) == 8 ? __brevll(A) : __brev((unsigned)A)",
        "lop3": "tilescope_ptx_lop3(A, B, C, (unsigned)D)",
        "prmt": "__byte_perm(A, B, C)",
        r"shf\.l\.wrap": "__funnelshift_l(A, B, C)",
        r"shf\.r\.wrap": "__funnelshift_r(A, B, C)",
        r"shf\.l\.clamp": "__funnelshift_lc(A, B, C)",
        r"shf\.r\.clamp": "__funnelshift_rc(A, B, C)",
        rf"sqrt{_ROUNDING}": "std::sqrt(A)",
        rf"rsqrt{_ROUNDING}": "1 / std::sqrt(A)",
        rf"rcp{_ROUNDING}": "1 / A",
        rf"ex2{_ROUNDING}": "std::exp2(A)",
        rf"lg2{_ROUNDING}": "std::log2(A)",
        rf"sin{_ROUNDING}": "std::sin(A)",
        rf"cos{_ROUNDING}": "std::cos(A)",
        rf"tanh{_ROUNDING}": "std::tanh(A)",
    }.items()
)
# Instructions without a result.
_ACTIONS = tuple(
    (re.compile(pattern), call)
    for pattern, call in {
        r"bar(?:rier)?\.(?:cta\.)?sync(?:\.aligned)?\s+0|bar\.sync\.aligned\s+0": "__syncthreads()",
        r"bar\.warp\.sync\s+(?:0xffffffff|-1)": "__syncwarp()",
        r"membar\.cta|fence\.(?:acq_rel|sc)\.cta": "__threadfence_block()",
        r"membar\.(?:gl|sys)|fence\.(?:acq_rel|sc)\.(?:gpu|sys)": "__threadfence()",
        r"trap": "__trap()",
        r"(?:griddepcontrol|prefetch|discard|applypriority)\b.*": "(void)0",
    }.items()
)
_REGISTERS = re.compile(
    r"%(laneid|warpid|nwarpid|smid|nsmid|clock|clock64|clock_hi|globaltimer|dynamic_smem_size|lanemask_(?:eq|lt|le|gt|ge))"
)
_INDEX = re.compile(r"%(n?tid|n?ctaid)\.([xyz])")
_INDICES = {"tid": "threadIdx", "ntid": "blockDim", "ctaid": "blockIdx", "nctaid": "gridDim"}
_MEMORY = re.compile(
    r"(ld|st)(?:\.volatile|\.relaxed(?:\.\w+)?|\.weak)?(?:\.(?:global|shared))?(?:\.(?:ca|cg|cs|cv|lu|nc|wb|wt|L1::\w+))*\.(\w+)"
)
_CONVERSION = re.compile(rf"cvt(?:\.\w+i)?{_ROUNDING}\.(\w+)\.(\w+)")
_COMPARISON = re.compile(r"setp\.(\w+)\.(\w+)")
_SELECTION = re.compile(r"selp\.(\w+)")
_DECLARATION = re.compile(r"\.reg\s+\.(\w+)\s+(.+)")


class MissingPtxError(Exception):
    """An instruction is not known; the text is the instruction's name."""


def translate(code: str, operands: Sequence[str]) -> str:
    """Translate PTX to C++ statements; operands: the C++ expressions of %0, %1, ...; raises MissingPtxError."""
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", " ", code, flags=re.DOTALL)
    statements = [" ".join(statement.split()) for statement in re.split(r"[;{}]", plain)]
    return " ".join(_statement(statement, operands) for statement in statements if statement)


def _statement(text: str, operands: Sequence[str]) -> str:
    if guard := re.match(r"@(!?)(\w+)\s+(.*)", text):
        return f"if ({guard[1]}{guard[2]}) {{ {_statement(guard[3], operands)} }}"
    if declaration := _DECLARATION.fullmatch(text):
        if declaration[1] not in _TYPES or "<" in declaration[2]:
            raise MissingPtxError(text)
        return f"{_TYPES[declaration[1]]} {declaration[2]};"
    for pattern, call in _ACTIONS:
        if pattern.fullmatch(text):
            return f"{call};"
    opcode, _, rest = text.partition(" ")
    words = [_operand(word.strip(), operands) for word in rest.split(",")]
    if memory := _MEMORY.fullmatch(opcode):
        return _memory(memory, words, opcode)
    if (conversion := _CONVERSION.fullmatch(opcode)) and {conversion[1], conversion[2]} <= set(_TYPES):
        to, source = _TYPES[conversion[1]], _TYPES[conversion[2]]
        is_rounded = conversion[1][0] in "su" and conversion[2][0] == "f" and ".rzi" not in opcode
        value = f"std::nearbyint(({source}){words[1]})" if is_rounded else f"({source}){words[1]}"
        return f"{words[0]} = ({to}){value};"
    if (comparison := _COMPARISON.fullmatch(opcode)) and comparison[1] in _COMPARISONS and len(words) == 3:
        kind = _type(comparison[2], opcode)
        return f"{words[0]} = ({kind})({words[1]}) {_COMPARISONS[comparison[1]]} ({kind})({words[2]});"
    if (selection := _SELECTION.fullmatch(opcode)) and len(words) == 4:
        kind = _type(selection[1], opcode)
        return f"{words[0]} = {words[3]} ? ({kind})({words[1]}) : ({kind})({words[2]});"
    name, _, suffix = opcode.rpartition(".")
    kind = _type(suffix, opcode)
    for pattern, value in _OPERATIONS:
        if pattern.fullmatch(name):
            return f"{words[0]} = ({kind})({_filled(value, kind, words[1:], opcode)});"
    raise MissingPtxError(opcode)


def _filled(value: str, kind: str, words: Sequence[str], opcode: str) -> str:
    """Put operands of a type in the place of the letters A, B, C and D."""

    def operand(match: re.Match[str]) -> str:
        index = ord(match[0]) - ord("A")
        if index >= len(words):
            raise MissingPtxError(opcode)
        return f"(({kind})({words[index]}))"

    return re.sub(r"\b[ABCD]\b", operand, value)


def _type(suffix: str, opcode: str) -> str:
    if suffix not in _TYPES:
        raise MissingPtxError(opcode)
    return _TYPES[suffix]


def _memory(memory: re.Match[str], words: Sequence[str], opcode: str) -> str:
    """Translate a load or store of one element, whose address is "[register]" or "[register+offset]"."""
    kind = _type(memory[2], opcode)
    if len(words) != 2:
        raise MissingPtxError(opcode)
    address, value = (words[1], words[0]) if memory[1] == "ld" else words
    inner = re.fullmatch(r"\[(.+)\]", address)
    if inner is None:
        raise MissingPtxError(opcode)
    pointer = f"({kind}*)((uintptr_t)({inner[1]}))"
    if "+" in inner[1]:
        base, _, offset = inner[1].rpartition("+")
        pointer = f"({kind}*)((uintptr_t)({base}) + {offset})"
    return f"{value} = *{pointer};" if memory[1] == "ld" else f"*{pointer} = ({kind})({value});"


def _operand(word: str, operands: Sequence[str]) -> str:
    """Return the C++ expression of an operand: of the program, a special register, a local one, or a number."""
    if register := _REGISTERS.fullmatch(word):
        return f"tilescope_register_{register[1]}()"
    if index := _INDEX.fullmatch(word):
        return f"{_INDICES[index[1]]}.{index[2]}"
    if re.search(r"%[a-z]", word) or "|" in word or word.startswith("!"):
        raise MissingPtxError(word)
    word = re.sub(r"\b0[fF]([0-9a-fA-F]{8})\b", r"__uint_as_float(0x\1u)", word)

    def expression(match: re.Match[str]) -> str:
        if int(match[1]) >= len(operands):
            raise MissingPtxError(match[0])
        return f"({operands[int(match[1])]})"

    return re.sub(r"%(\d+)", expression, word)
