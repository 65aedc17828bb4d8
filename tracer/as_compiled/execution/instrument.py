"""Translate a kernel's optimised IR into code for this computer that stops before each of its accesses.

Each access gets a code, an index of `HostCode.accesses`. Codes ascend in the order in which a warp's lanes go through
the code (`block_order.py`): of lanes at several codes, those at the lowest are furthest behind. The ends of loops
have codes too if lanes may repeat a loop without the same accesses, so that they wait for each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import msgspec
from llvmlite import binding

from ...model.trace import Op
from ...nvidia_math.contraction import with_halves_of_doubles
from ..compiler.generated import Emitted
from ..compiler.llvm_text import split_list, type_of_operand
from ..compiler.numbered import Numbered
from ..not_countable import NotCountableError
from .assembly import replace_assembly
from .block_order import Loop, dominators, order_blocks
from .shared_loops import PREFIX as LOOP_PREFIX
from .shared_loops import with_shared_loops
from .stand_ins import PREFIX, Table, core, definition, entry

MEMORY = {"load": Op.LOAD, "store": Op.STORE, "atomicrmw": Op.ATOMIC, "cmpxchg": Op.ATOMIC}
LOOP_END, MARK = 4, 5  # used like an `Op`: at the end of a loop, and before a branch
SHORT = 4  # most instructions of a branch that ptxas lets all warps execute
_SHARED = re.compile(r'^(@(?:"[^"]*"|[\w.$-]+)) = (.*?)addrspace\(3\) global (.*)$')
_LABEL = re.compile(r'^("[^"]*"|[\w.$-]+):')
_TARGET = re.compile(r'label %("[^"]*"|[\w.$-]+)')
_RESULT = re.compile(r'^\s*(%(?:"[^"]*"|[\w.$-]+)) = ')
_NAMES = re.compile(r'%(?:"[^"]*"|[\w.$-]+)')
_ATTRIBUTES = re.compile(
    r"\b(noundef|nonnull|align \d+|captures\([^)]*\)|readonly|writeonly|noalias|dereferenceable\(\d+\)) ?"
)
_LINKAGE = re.compile(
    r" = (internal|private|linkonce_odr|weak_odr)( dso_local)?( unnamed_addr| local_unnamed_addr)?"
)
_WAITS = ("barrier", "bar.warp", "shfl", "vote", "match", "activemask", "cudaCGSynchronize", "redux")


class Repeats(IntEnum):
    """Whether an access is in a loop that repeats a compare-and-swap, or is that."""

    NO, NEARBY, SWAP = range(3)


class Access(msgspec.Struct, frozen=True):
    """An instruction that accesses memory, or the end of a loop."""

    op: int  # an `Op`, LOOP_END or MARK
    size: int  # bytes
    site: int  # index of the kernel's `CodeSite`s
    parts: int = 1  # accesses of the source that it joins
    mark: int = -1  # code of the MARK that counts the warps executing it, if some have no active lane
    repeats: Repeats = Repeats.NO


class HostCode(msgspec.Struct, frozen=True):
    """A kernel as IR for this computer."""

    text: str
    accesses: tuple[Access, ...]
    parameters: tuple[str, ...]  # LLVM's types of the kernel's parameters
    shared: tuple[tuple[str, int], ...]  # names of its arrays in shared memory, and their sizes in bytes
    tables: tuple[tuple[str, int], ...]  # the same for constant arrays in global memory, such as libdevice's
    waits_for_grid: bool


def host_code(
    numbered: Numbered, kernel: str, table: Table, dynamic: int, generated: dict[int, Emitted]
) -> HostCode:
    """Translate an optimised module into code for this computer.

    dynamic: bytes of dynamic shared memory. generated: the instructions of its accesses in PTX, by their numbers.
    """
    locations = {
        match[1]: int(match[2])
        for match in re.finditer(
            r"^(!\d+) = (?:distinct )?!DILocation\(line: (\d+)", numbered.text, re.MULTILINE
        )
    }
    text = with_shared_loops(replace_assembly(numbered.text), locations, generated)
    text = text.replace("@llvm.nvvm.", f"@{PREFIX}nvvm.").replace("@llvm.trap", f"@{PREFIX}trap")
    text = re.sub(r"^declare [^@\n]*@ts\.trap.*$", f"declare void @{PREFIX}trap()", text, flags=re.MULTILINE)
    module = binding.parse_assembly(text)
    shared, tables = _shared_of(module, dynamic), _tables_of(module)
    machine = host_machine()
    accesses, lines = _Writer(module, text, locations, numbered, generated).written()
    lines = [_global_line(line, dict(shared), {table_name for table_name, _ in tables}) for line in lines]
    declarations = [
        function_declared
        for function_declared in module.functions
        if function_declared.is_declaration and not function_declared.name.startswith("llvm.")
    ]
    definitions = _definitions(declarations, table)
    function = module.get_function(kernel)
    parameters = tuple(str(argument.type) for argument in function.arguments)
    kept_lines = [
        line
        for line in lines
        if not _is_replaced(line, {function_declared.name for function_declared in declarations})
    ]
    body = "\n".join([*kept_lines, core(table), *definitions, entry(kernel, list(parameters), table)])
    waits = any(function_declared.name == "cudaCGSynchronize" for function_declared in declarations)
    header = (
        f'target datalayout = "{machine.target_data}"\ntarget triple = "{binding.get_process_triple()}"\n'
    )
    text = with_halves_of_doubles(header + body)
    return HostCode(text, accesses, parameters, tuple(shared), tuple(tables), waits)


def host_machine() -> Any:
    """Return LLVM's machine for this computer."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.initialize_native_asmparser()
    features = binding.get_host_cpu_features().flatten()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features, opt=1, jit=True, codemodel="large"
    )


def _definitions(declarations: list[Any], table: Table) -> list[str]:
    definitions, missing = [], []
    for function in declarations:
        kind = str(function.global_value_type)
        result = kind[: kind.rindex("(")].strip() if "(" in kind else kind
        parameters = [str(argument.type) for argument in function.arguments]
        text = definition(function.name, result, parameters, table)
        if text is None:
            missing.append(function.name.removeprefix(PREFIX))
        else:
            definitions.append(text)
    if missing:
        raise NotCountableError(f"It calls {', '.join(missing[:3])}, which is not supported here")
    called = {name for text in definitions for name in re.findall(r"call \w+ @([a-z]\w*)\(", text)}
    defined = {declaration.name for declaration in declarations}
    for text in definitions:
        for kind, name, argument_text in re.findall(r"call (\w+) @([a-z]\w*)\(([^)]*)\)", text):
            if name in called and name not in defined:
                called.discard(name)
                definitions.append(
                    f"declare {kind} @{name}({', '.join(part.split()[0] for part in argument_text.split(','))})"
                )
    return definitions


def _is_replaced(line: str, names: set[str]) -> bool:
    """Return True if a line declares a function that is defined here, or is not needed here."""
    if line.startswith(("target ", "source_filename", "!llvm.dbg.cu", "@llvm.used", "!nvvm")):
        return True
    if not line.startswith("declare "):
        return False
    match = re.search(r'@("[^"]*"|[\w.$-]+)\(', line)
    return bool(match) and match[1].strip('"') in names  # type: ignore[index]  # it has matched


def _shared_of(module: binding.ModuleRef, dynamic: int) -> list[tuple[str, int]]:
    """List the arrays in shared memory, and the size of each in bytes."""
    arrays = []
    data = binding.create_target_data(module.data_layout)
    for variable in module.global_variables:
        if str(variable.type) == "ptr addrspace(3)":
            size = int(data.get_abi_size(variable.global_value_type))
            arrays.append((variable.name, size or max(dynamic, 16)))
    return arrays


def _tables_of(module: binding.ModuleRef) -> list[tuple[str, int]]:
    """List the constant arrays that a GPU keeps in global memory."""
    data = binding.create_target_data(module.data_layout)
    return [
        (variable.name, int(data.get_abi_size(variable.global_value_type)))
        for variable in module.global_variables
        if str(variable.type) in ("ptr addrspace(1)", "ptr")
        and not variable.is_declaration
        and " constant " in str(variable)
    ]


def _global_line(line: str, shared: dict[str, int], tables: set[str]) -> str:
    """Adapt the line of a global variable to this computer; other lines stay as they are."""
    if not line.startswith("@"):
        return line
    name = line[1 : line.index(" = ")].strip('"')
    if name in shared:
        kind = line[line.index(" global ") + len(" global ") :]
        kind = type_of_operand(kind)
        if kind.startswith("[0 x "):
            kind = f"[{shared[name]} x i8]"
        return f'@"{name}" = addrspace(3) global {kind} zeroinitializer, align 128'
    if name in tables:
        return _LINKAGE.sub(" =", line).split(", align")[0] + ", align 256"
    return line.replace(" = common ", " = ")


class _Writer:
    """Rewrites a module's functions with a call before each access."""

    def __init__(
        self, module: binding.ModuleRef, text: str, locations: dict[str, int], numbered: Numbered,
        generated: dict[int, Emitted],
    ) -> None:  # fmt: skip
        self._module, self._lines = module, text.split("\n")
        self._data = binding.create_target_data(module.data_layout)
        self._locations, self._numbered, self._generated = locations, numbered, generated
        self._accesses: list[Access] = []
        self._site = 0  # of accesses without their own, in a function

    def written(self) -> tuple[tuple[Access, ...], list[str]]:
        """Return the accesses by their codes, and the module's lines."""
        functions = {
            function.name: function for function in self._module.functions if not function.is_declaration
        }
        pieces, order = self._pieces()
        called = self._calls(pieces)
        lines_of = {}
        for name in _callees_first(list(pieces), called):
            lines_of[name] = self._function(functions[name], pieces[name], called)
        lines: list[str] = []
        for part in order:
            lines += lines_of[part] if isinstance(part, str) else part
        return tuple(self._accesses), lines

    def _pieces(self) -> tuple[dict[str, list[str]], list[str | list[str]]]:
        """Split the module into the lines of each function, and a list of function names and the lines between them."""
        pieces: dict[str, list[str]] = {}
        order: list[str | list[str]] = []
        between: list[str] = []
        name = ""
        for line in self._lines:
            if line.startswith("define "):
                name = re.search(r'@("[^"]*"|[\w.$-]+)\(', line)[1].strip('"')  # type: ignore[index]  # LLVM's own text
                order += [between, name]
                between, pieces[name] = [], []
            if name:
                if not line.lstrip().startswith("#dbg_"):
                    pieces[name].append(line)
                if line == "}":
                    name = ""
            else:
                between.append(line)
        return pieces, [*order, between]

    @staticmethod
    def _calls(pieces: dict[str, list[str]]) -> dict[str, set[str]]:
        return {
            name: {
                called for line in lines if "call " in line
                for called in (quoted.strip('"') for quoted in re.findall(r'@("[^"]*"|[\w.$-]+)\(', line))
                if called in pieces
            }
            for name, lines in pieces.items()
        }  # fmt: skip

    def _function(self, function: Any, lines: list[str], called: dict[str, set[str]]) -> list[str]:
        head, blocks = _blocks(lines)
        is_loop = function.name.startswith(LOOP_PREFIX)
        self._site = self._numbered.site(int(function.name.removeprefix(LOOP_PREFIX))) if is_loop else 0
        numbers = {label: number for number, (label, _) in enumerate(blocks)}
        successors = [_successors(body, numbers) for _, body in blocks]
        order, loops = order_blocks(successors)
        dominating = dominators(successors)
        events = {
            number_
            for number_, (_, body) in enumerate(blocks)
            if any(_is_event(line, called) for line in body)
        }
        ends = _loop_ends(loops, events, dominating)
        memory = [
            [instruction for instruction in block.instructions if instruction.opcode in MEMORY]
            for block in function.blocks
        ]
        plans = [self._plan(body, memory[number_], lines) for number_, (_, body) in enumerate(blocks)]
        branches = _branches(successors, [body for _, body in blocks], plans)
        for loop in _all_loops(loops):
            _note_repeats(loop, [body for _, body in blocks], plans)
        marks: dict[int, int] = {}  # codes of the marks before branches, by block
        lines_of: dict[int, list[str]] = {}
        position = {block: index for index, block in enumerate(order)}
        closing: dict[int, list[Loop]] = {}
        for loop in _all_loops(loops):
            if loop.header in ends:
                closing.setdefault(max(loop.blocks, key=lambda b: position.get(b, -1)), []).append(loop)
        end_codes: dict[int, int] = {}  # code of the end of each loop, by header
        for block in order:
            mark = marks.get(branches[block], -1) if block in branches else -1
            lines_of[block] = self._block(blocks[block][1], plans[block], mark)
            if block in branches.values():
                marks[block] = len(self._accesses)
                lines_of[block].insert(len(lines_of[block]) - 1, self._event(Access(MARK, 0, 0), "ptr null"))
            for loop in sorted(closing.get(block, ()), key=lambda loop_here: len(loop_here.blocks)):
                end_codes[loop.header] = len(self._accesses)
                self._accesses.append(Access(LOOP_END, 0, 0))
        for loop in _all_loops(loops):
            if loop.header in end_codes:
                for latch in loop.latches:
                    end = f"  call void @ts.access0(i64 {end_codes[loop.header]}, ptr null)"
                    lines_of[latch].insert(len(lines_of[latch]) - 1, end)
        result = [head]
        for number, (label, body) in enumerate(blocks):
            result += [f"{label}:", *lines_of.get(number, [_without_debug(line) for line in body])]
        return [*result, "}"]

    def _plan(self, body: list[str], instructions: list[Any], function: list[str]) -> list[_Planned | None]:
        """Decide on the calls for each access of a block; None for an access that is part of another."""
        memory = iter(instructions)
        planned = [self._planned(line, next(memory), function) for line in body if _opcode(line) in MEMORY]
        joined: list[_Planned | None] = list(planned)
        for op in (Op.LOAD, Op.STORE):
            of_op = [index for index, planned_access in enumerate(planned) if planned_access.access.op == op]
            present = [emitted for index in of_op if (emitted := planned[index].emitted) is not None]
            source_size = sum(planned[index].access.size for index in of_op)
            emitted_size = sum(emitted.size for emitted in present)
            if len(present) == len(of_op) or emitted_size < source_size:
                continue
            for index in of_op:
                planned_access, emitted = planned[index], planned[index].emitted
                if emitted is None:
                    joined[index] = None
                elif emitted.size > planned_access.access.size:
                    parts = emitted.size // planned_access.access.size
                    joined[index] = _Planned(
                        msgspec.structs.replace(planned_access.access, size=emitted.size, parts=parts),
                        emitted,
                        planned_access.pointer,
                    )
        return joined

    def _planned(self, line: str, instruction: Any, function: list[str]) -> _Planned:
        operands = list(instruction.operands)
        opcode = instruction.opcode
        kind = instruction.type if opcode == "load" else operands[0 if opcode == "store" else 1].type
        op = MEMORY[opcode]
        text = _after_opcode(line)
        if opcode == "atomicrmw" and not _never_reduces(text) and not _is_used(line, function):
            op = Op.REDUCTION
        number = self._number(line)
        site = self._numbered.site(number) if number else self._site
        access = Access(op, int(self._data.get_abi_size(kind)), site)
        return _Planned(access, self._generated.get(number), _pointer_in(text, opcode))

    def _block(self, body: list[str], plan: list[_Planned | None], mark: int) -> list[str]:
        """Return a block's lines with a call before each access; mark: the code that counts its warps, or -1."""
        memory = iter(plan)
        result = []
        for line in body:
            opcode = _opcode(line)
            if opcode in MEMORY:
                planned = next(memory)
                if planned is not None:
                    access = (
                        msgspec.structs.replace(planned.access, mark=mark)
                        if planned.is_shared
                        else planned.access
                    )
                    result.append(self._event(access, planned.pointer))
            elif opcode == "call" and (
                copy_call := re.search(r"@llvm\.(memcpy|memmove|memset)\.[^(]*\(", line)
            ):
                result += self._copy(line, copy_call)
            result.append(_without_debug(line))
        return result

    def _copy(self, line: str, copy_call: re.Match[str]) -> Iterator[str]:
        """Yield the calls before a copy of bytes, which a GPU makes in words of up to 8."""
        arguments = split_list(line[copy_call.end() : line.rindex(")")])
        match = re.fullmatch(r"i\d+ (\d+)", arguments[2].strip())
        number = self._number(line)
        site = self._numbered.site(number) if number else self._site
        for index, op in ((1, Op.LOAD), (0, Op.STORE)):
            if match and (index == 0 or copy_call[1] != "memset"):
                size = next(width for width in (8, 4, 2, 1) if int(match[1]) % width == 0)
                yield self._event(Access(op, size, site), _ATTRIBUTES.sub("", arguments[index]))

    def _event(self, access: Access, pointer: str) -> str:
        space = re.match(r"ptr addrspace\((\d+)\)", pointer)
        self._accesses.append(access)
        return f"  call void @ts.access{space[1] if space else 0}(i64 {len(self._accesses) - 1}, {pointer})"

    def _number(self, line: str) -> int:
        match = re.search(r", !dbg (!\d+)", line)
        return self._locations.get(match[1], 0) if match else 0


class _Planned(msgspec.Struct, frozen=True):
    """A planned call: the access to count, its generated instruction, and its pointer."""

    access: Access
    emitted: Emitted | None
    pointer: str

    @property
    def is_shared(self) -> bool:
        """Whether it is certainly in shared memory."""
        return self.emitted is not None and self.emitted.space == "shared"


def _branches(
    successors: list[list[int]], bodies: list[list[str]], plans: list[list[_Planned | None]]
) -> dict[int, int]:
    """Find the blocks whose shared memory access is executed by all warps that reach the branch before.

    By block: the one with the branch. ptxas does not branch around so few instructions, but disables lanes, and
    Nsight Compute counts an instruction even if all lanes are disabled.
    """
    predecessors: dict[int, list[int]] = {}
    for block, following in enumerate(successors):
        for successor in following:
            predecessors.setdefault(successor, []).append(block)
    branch_of = {}
    for block, plan in enumerate(plans):
        planned = [successor for successor in plan if successor is not None]
        shared = [successor for successor in planned if successor.is_shared]
        if (
            len(predecessors.get(block, ())) != 1
            or not shared
            or len(successors[predecessors[block][0]]) != 2
        ):
            continue
        instructions = [line for line in bodies[block][:-1] if _opcode(line) not in ("phi", "getelementptr")]
        if (
            len(planned) == 1
            and len(instructions) <= SHORT
            and not any("call " in line for line in instructions)
        ):
            branch_of[block] = predecessors[block][0]
    return branch_of


def _blocks(lines: list[str]) -> tuple[str, list[tuple[str, list[str]]]]:
    """Return a function's first line, and its blocks as (label, lines)."""
    head = re.sub(r"\bptx_kernel |\blocal_unnamed_addr ?|!dbg !\d+ ?", "", lines[0])
    head = re.sub(r"define (internal |private |linkonce_odr |weak_odr )?", "define internal ", head, count=1)
    blocks: list[tuple[str, list[str]]] = []
    for line in lines[1:-1]:
        label = _LABEL.match(line)
        if label:
            blocks.append((label[1], []))
        elif line.strip() and not line.startswith(";"):
            if not blocks:
                blocks.append(("entry.0", []))
            blocks[-1][1].append(line)
    return head, _join_terminators(blocks)


def _join_terminators(blocks: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Join the lines of each switch."""
    result = []
    for label, body in blocks:
        joined: list[str] = []
        for line in body:
            if joined and joined[-1].lstrip().startswith("switch ") and "]" not in joined[-1]:
                joined[-1] += " " + line.strip()
            else:
                joined.append(line)
        result.append((label, joined))
    return result


def _note_repeats(loop: Loop, bodies: list[list[str]], plans: list[list[_Planned | None]]) -> None:
    """Mark the accesses of a loop where one of its branches depends on what a compare-and-swap in it finds."""
    lines = [line for block in sorted(loop.blocks) for line in bodies[block]]
    results = {match[1] for line in lines if " cmpxchg " in line and (match := _RESULT.match(line))}
    inner = {block for inner_loop in loop.inner for block in inner_loop.blocks}
    if not results or any(" cmpxchg " in line for block in inner for line in bodies[block]):
        return
    before = -1
    while len(results) > before:
        before = len(results)
        for line in lines:
            match = _RESULT.match(line)
            if match and results & set(_NAMES.findall(line[match.end() :])):
                results.add(match[1])
    if not any(line.lstrip().startswith("br i1") and results & set(_NAMES.findall(line)) for line in lines):
        return
    for block in loop.blocks:
        for n, plan in enumerate(plans[block]):
            if plan is not None:
                opcodes = [_opcode(line) for line in bodies[block] if _opcode(line) in MEMORY]
                kind = Repeats.SWAP if opcodes[n] == "cmpxchg" else Repeats.NEARBY
                access = msgspec.structs.replace(plan.access, repeats=kind)
                plans[block][n] = _Planned(access, plan.emitted, plan.pointer)


def _successors(body: list[str], numbers: dict[str, int]) -> list[int]:
    return [numbers[label] for label in dict.fromkeys(_TARGET.findall(body[-1])) if label in numbers]


def _opcode(line: str) -> str:
    text = re.sub(r'^\s*%(?:"[^"]*"|[\w.$-]+) = ', "", line).strip()
    text = re.sub(r"^(tail|musttail|notail) ", "", text)
    return text.split(" ", 1)[0]


def _after_opcode(line: str) -> str:
    text = re.sub(r'^\s*%(?:"[^"]*"|[\w.$-]+) = ', "", line).strip()
    return text.split(" ", 1)[1]


def _pointer_in(text: str, opcode: str) -> str:
    """Return the pointer of an access, with its type."""
    parts = split_list(text)
    if opcode in ("load", "store"):
        pointer = parts[1]
    elif opcode == "cmpxchg":
        pointer = re.sub(r"^(weak |volatile )*", "", parts[0])
    else:
        pointer = re.sub(r"^(volatile )?\w+ ", "", parts[0])
    return re.sub(r' (syncscope\("[^"]*"\)|unordered|monotonic|acquire|release|acq_rel|seq_cst)', "", pointer)


def _never_reduces(text: str) -> bool:
    """Return True if an atomic always returns its old value, since there is no reduction for it."""
    return re.match(r"(volatile )?xchg\b", text) is not None


def _is_used(line: str, function: list[str]) -> bool:
    match = re.match(r'\s*(%(?:"[^"]*"|[\w.$-]+)) = ', line)
    if not match:
        return False
    name = re.compile(re.escape(match[1]) + r"(?![\w.$-])")
    return any(name.search(other) for other in function if other is not line)


def _without_debug(line: str) -> str:
    return re.sub(r", !dbg !\d+", "", line) if "!dbg" in line else line


def _is_event(line: str, called: dict[str, set[str]]) -> bool:
    opcode = _opcode(line)
    if opcode in MEMORY:
        return True
    if opcode != "call":
        return False
    names = [name.strip('"') for name in re.findall(r'@("[^"]*"|[\w.$-]+)\(', line)]
    return any(name in called or any(word in name for word in _WAITS) for name in names)


def _loop_ends(loops: list[Loop], events: set[int], before: list[set[int]]) -> set[int]:
    """Find the headers of the loops at whose ends lanes must wait for each other; before: `dominators`.

    Skip loops without events, and loops in which each round makes the same accesses.
    """
    needed = set()
    for loop in _all_loops(loops):
        inside = events & loop.blocks
        is_uniform = not loop.inner and all(inside <= before[latch] for latch in loop.latches)
        if inside and not is_uniform:
            needed.add(loop.header)
    return needed


def _all_loops(loops: list[Loop]) -> list[Loop]:
    return [nested for loop in loops for nested in (loop, *_all_loops(list(loop.inner)))]


def _callees_first(names: list[str], called: dict[str, set[str]]) -> list[str]:
    """Order functions so that each comes after its callees: lanes in a call must finish it first."""
    order: list[str] = []

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in order or name in above:
            return
        for callee in sorted(called[name]):
            visit(callee, (*above, name))
        order.append(name)

    for name in names:
        visit(name, ())
    return order
