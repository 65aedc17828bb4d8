"""Reads a program's debug information: source positions, kernels' parameters, and the variables in memory."""

from __future__ import annotations

import bisect
import io
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from elftools.dwarf.descriptions import describe_form_class
from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile
from msgspec import Struct

from ..model.trace import Site

HEADERS = "/cuda_cpp/include/"  # a part of the paths of our headers
SKIPPED = (
    "/usr/",
    "/include/c++/",
    HEADERS,
)  # parts of the paths of files that are not the user's
_SCOPES = (
    "DW_TAG_namespace",
    "DW_TAG_subprogram",
    "DW_TAG_lexical_block",
    "DW_TAG_structure_type",
    "DW_TAG_class_type",
)
_FLOATS = {2: "<f2", 4: "<f4", 8: "<f8"}


class Layout(Struct, frozen=True):
    """The type of a value in memory: a number, an array of numbers, or a structure of them."""

    size: int  # bytes
    dtype: str = ""  # of a number, as NumPy writes it; "" for others
    shape: tuple[int, ...] = ()  # of an array
    fields: tuple[tuple[str, int, Layout], ...] = ()  # of a structure: name, offset in bytes, layout
    target: Layout | None = None  # of a pointer


class Variable(Struct, frozen=True):
    """A variable of the program. offset: from the start of the image, or of thread-local memory."""

    name: str
    offset: int
    size: int
    layout: Layout
    file: str
    line: int


class DebugInfo:
    """The debug information of an executable."""

    def __init__(self, program: Path) -> None:
        """Read it; raises OSError, or ELFError for a file that is no executable."""
        elf = ELFFile(io.BytesIO(program.read_bytes()))
        self.shared: list[Variable] = []
        self.variables: list[Variable] = []
        self.parameters: dict[str, list[list[tuple[str, Layout]]]] = {}  # of each function's versions
        self._lines: list[tuple[int, int, str, int, int]] = []  # first address, end, file, line, column
        self._functions: list[tuple[int, int, str]] = []
        self._layouts: dict[int, Layout] = {}
        self.files: dict[str, None] = {}  # that the user wrote, in the order of the units
        self._segments = [
            (segment["p_vaddr"], segment.data())
            for segment in elf.iter_segments()
            if segment["p_type"] == "PT_LOAD"
        ]
        if elf.has_dwarf_info():
            info = elf.get_dwarf_info()
            for unit in info.iter_CUs():
                self._read_lines(info, unit)
                self._read_entries(unit)
        self._lines.sort()
        self._functions.sort()
        self._starts = [entry[0] for entry in self._lines]
        self._function_starts = [entry[0] for entry in self._functions]
        self.shared.sort(key=lambda variable: variable.offset)
        self.variables.sort(key=lambda variable: variable.offset)

    def site(self, address: int) -> Site | None:
        """Return the source position of a return address, counted from the start of the image; None if unknown."""
        address -= 1
        index = bisect.bisect_right(self._starts, address) - 1
        if index < 0 or not self._lines[index][0] <= address < self._lines[index][1]:
            return None
        _, _, file, line, column = self._lines[index]
        return Site(self.function(address), file, line, max(0, column - 1))

    def parameters_of(self, function: str, count: int) -> list[tuple[str, Layout]]:
        """Return the parameters of a function, of the version with this number of them if there are several."""
        versions = self.parameters.get(function, [])
        return next(
            (version for version in versions if len(version) == count), versions[0] if versions else []
        )

    def initial_content(self, variable: Variable) -> bytes:
        """Return the content of a variable at the start of the program."""
        for start, content in self._segments:
            if start <= variable.offset < start + len(content):
                piece = content[variable.offset - start :][: variable.size]
                return piece + bytes(variable.size - len(piece))
        return bytes(variable.size)

    def function(self, address: int) -> str:
        """Return the name of the function at an address, without template arguments; "" if it is unknown."""
        index = bisect.bisect_right(self._function_starts, address) - 1
        if index >= 0 and address < self._functions[index][1]:
            return self._functions[index][2]
        return ""

    def _read_lines(self, info: Any, unit: Any) -> None:
        program = info.line_program_for_CU(unit)
        if program is None:
            return
        version, files = program["version"], program["file_entry"]
        folders = program["include_directory"]
        folder = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
        base = folder.value.decode("utf-8", "replace") if folder else ""

        def path(number: int) -> str:
            entry = files[number if version >= 5 else number - 1]
            name: str = entry.name.decode("utf-8", "replace")
            if name.startswith("/"):
                return name
            index = entry.dir_index if version >= 5 else entry.dir_index - 1
            parent = folders[index].decode("utf-8", "replace") if 0 <= index < len(folders) else base
            return str(Path(base, parent, name))

        names: dict[int, str] = {}
        last: tuple[int, str, int, int] | None = None
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if last and last[0] < state.address:
                self._lines.append((last[0], state.address, *last[1:]))
            if state.end_sequence:
                last = None
            else:
                if state.file not in names:
                    names[state.file] = file = path(state.file)
                    if not any(part in file for part in SKIPPED):
                        self.files[file] = None
                last = (state.address, names[state.file], state.line, state.column)
        self._path = path

    def _read_entries(self, unit: Any) -> None:
        for entry in self._user_entries(unit.get_top_DIE()):
            if entry.tag == "DW_TAG_subprogram":
                self._read_function(entry)
            elif entry.tag == "DW_TAG_variable":
                self._read_variable(entry)

    def _user_entries(self, parent: DIE) -> Iterator[DIE]:
        """Yield the functions and variables that the user's files declare."""
        for child in parent.iter_children():
            if child.tag == "DW_TAG_namespace":
                name = child.attributes.get("DW_AT_name")
                if name and name.value in (b"std", b"__gnu_cxx", b"__cxxabiv1"):
                    continue
                yield from self._user_entries(child)
            elif child.tag in ("DW_TAG_subprogram", "DW_TAG_variable"):
                yield child
                if child.tag == "DW_TAG_subprogram" and "DW_AT_low_pc" in child.attributes:
                    yield from self._user_entries(child)
            elif child.tag in _SCOPES:
                yield from self._user_entries(child)

    def _read_function(self, entry: DIE) -> None:
        attributes = entry.attributes
        if "DW_AT_low_pc" not in attributes:
            return
        name = _name(entry)
        low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
        end = low + high.value if describe_form_class(high.form) == "constant" else high.value
        plain = name.partition("<")[0]
        self._functions.append((low, end, plain))
        parameters = [
            (_name(child), self._layout(child))
            for child in entry.iter_children()
            if child.tag == "DW_TAG_formal_parameter"
        ]
        self.parameters.setdefault(plain, []).append(parameters)

    def _read_variable(self, entry: DIE) -> None:
        location = entry.attributes.get("DW_AT_location")
        if location is None or not isinstance(location.value, list):
            return
        operation, *rest = location.value
        declared = _declaration(entry)
        file = declared.attributes.get("DW_AT_decl_file")
        line = declared.attributes.get("DW_AT_decl_line")
        path = self._path(file.value) if file else ""
        if any(part in path for part in SKIPPED):
            return
        layout = self._layout(declared if "DW_AT_type" in declared.attributes else entry)
        variable = Variable(
            _name(entry),
            int.from_bytes(bytes(rest[:8]), "little"),
            layout.size,
            layout,
            path,
            line.value if line else 0,
        )
        if operation == 0x03 and len(rest) == 8:  # DW_OP_addr
            self.variables.append(variable)
        elif operation == 0x0E and rest[8:9] in (
            [0xE0],
            [0x9B],
        ):  # DW_OP_const8u, then a thread-local address
            self.shared.append(variable)

    def _layout(self, entry: DIE) -> Layout:
        """Return the layout of the type that an entry refers to."""
        attribute = entry.attributes.get("DW_AT_type")
        if attribute is None:
            return Layout(0)
        target = entry.get_DIE_from_attribute("DW_AT_type")
        if target.offset not in self._layouts:
            self._layouts[target.offset] = Layout(0)  # a structure may point to itself
            self._layouts[target.offset] = self._layout_of(target)
        return self._layouts[target.offset]

    def _layout_of(self, entry: DIE) -> Layout:
        size = entry.attributes["DW_AT_byte_size"].value if "DW_AT_byte_size" in entry.attributes else 0
        if entry.tag == "DW_TAG_base_type":
            return Layout(size, _number(entry.attributes["DW_AT_encoding"].value, size))
        if entry.tag == "DW_TAG_enumeration_type":
            return Layout(size, f"<u{size}" if size > 1 else "|u1")
        if entry.tag in ("DW_TAG_pointer_type", "DW_TAG_reference_type"):
            return Layout(8, "<u8", target=self._layout(entry))
        if entry.tag == "DW_TAG_array_type":
            inner = self._layout(entry)
            shape = tuple(
                _length(child) for child in entry.iter_children() if child.tag == "DW_TAG_subrange_type"
            )
            count = int(np.prod(shape)) if shape else 0
            if inner.dtype:
                return Layout(count * inner.size, inner.dtype, shape + inner.shape)
            return Layout(count * inner.size, "", shape + inner.shape, inner.fields)
        if entry.tag in ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type"):
            return Layout(size, fields=tuple(self._fields(entry)))
        if entry.tag in (
            "DW_TAG_typedef",
            "DW_TAG_const_type",
            "DW_TAG_volatile_type",
            "DW_TAG_restrict_type",
            "DW_TAG_atomic_type",
        ):
            return self._layout(entry)
        return Layout(size)

    def _fields(self, entry: DIE) -> Iterator[tuple[str, int, Layout]]:
        for child in entry.iter_children():
            attributes = child.attributes
            if child.tag not in ("DW_TAG_member", "DW_TAG_inheritance") or "DW_AT_type" not in attributes:
                continue
            place = attributes.get("DW_AT_data_member_location")
            if place is None and entry.tag != "DW_TAG_union_type":
                continue  # a static member
            offset = place.value if place is not None and isinstance(place.value, int) else 0
            layout = self._layout(child)
            if child.tag == "DW_TAG_inheritance":
                yield from ((name, offset + inner, part) for name, inner, part in layout.fields)
            else:
                yield _name(child), offset, layout


def _declaration(entry: DIE) -> DIE:
    """Return the entry that declares a variable: itself, or the one that it refers to."""
    for key in ("DW_AT_specification", "DW_AT_abstract_origin"):
        if key in entry.attributes:
            return entry.get_DIE_from_attribute(key)
    return entry


def _name(entry: DIE) -> str:
    for _ in range(4):
        if "DW_AT_name" in entry.attributes:
            return str(entry.attributes["DW_AT_name"].value.decode("utf-8", "replace"))
        declared = _declaration(entry)
        if declared is entry:
            break
        entry = declared
    return ""


def _number(encoding: int, size: int) -> str:
    """Return the NumPy type of a base type, by DWARF's encoding (DWARF 5, table 7.11); "" for others."""
    if encoding == 4:
        return _FLOATS.get(size, "")
    kind = {2: "b", 5: "i", 6: "i", 7: "u", 8: "u", 0x10: "u"}.get(encoding)
    if kind is None or size not in (1, 2, 4, 8):
        return ""
    return np.dtype(f"{kind}{size}").str


def _length(entry: DIE) -> int:
    if "DW_AT_count" in entry.attributes:
        return int(entry.attributes["DW_AT_count"].value)
    bound = entry.attributes.get("DW_AT_upper_bound")
    return int(bound.value) + 1 if bound is not None and isinstance(bound.value, int) else 0


@lru_cache(maxsize=16)
def _read(program: Path, changed: int) -> DebugInfo:
    return DebugInfo(program)


def debug_info_of(program: Path) -> DebugInfo:
    """Return the debug information of an executable, read once; raises as `DebugInfo` does."""
    return _read(program, program.stat().st_mtime_ns)
