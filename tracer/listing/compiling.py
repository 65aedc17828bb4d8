"""Compile a kernel to PTX and SASS, and find the source line of each instruction."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from llvmlite import binding

from ..as_compiled.compiler.numba_ir import CodeSite, KernelIR, kernel_ir
from ..as_compiled.compiler.nvidia import libnvvm_ptx
from ..as_compiled.compiler.optimise import compiler_name, optimise, target_machine
from ..recording import nvidia_files
from ..type_inference.question import SourceQuestion
from .listing import INSTALL, CodeLine, Listing, ListingJob

ARCHITECTURE = "sm_90"
SECONDS = 60.0  # time limit of NVIDIA's programs
MOST = 20_000  # lines kept
_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")
_LABEL = re.compile(r"(\$L__BB\w+|\.L_x_\w+):")
_LINE = re.compile(r'\s*//## File "[^"]*", line (\d+)')
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?;)")
_LIVE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/.*//\s*\|\s*(\d*)\s*\|")
_SPILL = re.compile(r"\b(LDL|STL)\b")
_NAME = re.compile(r"\b_Z\w{40,}")  # of a function, made long by its types' names


def listing(job: ListingJob) -> Listing:
    """Return the code of a job's kernel, or the reason for its absence."""
    try:
        return _compiled(kernel_ir(SourceQuestion(job.launch)))
    except Exception as error:  # noqa: BLE001  # Numba, LLVM and a kernel's text can fail in many ways
        lines = str(error).strip().splitlines()
        return Listing(
            reason=f"It can't be compiled ({type(error).__name__}: {lines[0][:120] if lines else ''})."
        )


def _compiled(ir: KernelIR) -> Listing:
    ptx, ptx_compiler = _ptx(ir)
    listing_so_far = Listing(ptx=_ptx_lines(ptx, ir.sites), ptx_by=ptx_compiler, missing=INSTALL)
    ptxas, nvdisasm = nvidia_files.ptxas(), nvidia_files.nvdisasm()
    if ptxas is None or nvdisasm is None:
        return listing_so_far
    with tempfile.TemporaryDirectory(prefix="tilescope-sass-") as folder:
        source, code = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        try:
            report = _run(
                str(ptxas), f"-arch={ARCHITECTURE}", "-lineinfo", "-v", str(source), "-o", str(code)
            )
            listed = _run(str(nvdisasm), "-g", "-c", str(code))
            live = _run(str(nvdisasm), "-c", "-plr", "-lrm", "count", str(code))
        except (OSError, subprocess.SubprocessError) as error:
            return _without(listing_so_far, f"NVIDIA's programs can't compile it ({type(error).__name__}).")
    registers = re.search(r"Used (\d+) registers", report)
    spills = [int(number) for number in re.findall(r"(\d+) bytes spill (?:stores|loads)", report)]
    return Listing(
        listing_so_far.ptx, _sass_lines(listed, live, ir.sites), ptx_compiler, f"ptxas {nvidia_files.ptxas_version()}",
        int(registers[1]) if registers else None, sum(spills) if spills else None,
    )  # fmt: skip


def _without(listing_so_far: Listing, reason: str) -> Listing:
    return Listing(ptx=listing_so_far.ptx, ptx_by=listing_so_far.ptx_by, missing=reason)


def _ptx(ir: KernelIR) -> tuple[str, str]:
    """Return PTX and its compiler: libNVVM, which Numba uses with a GPU, else LLVM."""
    libdevice = nvidia_files.libdevice()
    if nvidia_files.libnvvm() is not None and libdevice is not None:
        ptx = f"{libnvvm_ptx(ir)}\n"
        version = re.search(r"release (\d+\.\d+)", ptx)
        return ptx, f"libNVVM {version[1]}" if version else "libNVVM"
    module = binding.parse_assembly(str(optimise(ir, libdevice)))
    return target_machine().emit_assembly(module), compiler_name().partition(" of ")[0]


def _run(*command: str) -> str:
    result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    return result.stdout + result.stderr


def _ptx_lines(ptx: str, sites: tuple[CodeSite, ...]) -> tuple[CodeLine, ...]:
    """Return the instructions and labels of functions, without debug data."""
    lines: list[CodeLine] = []
    inside, site = False, sites[0]
    for text in ptx.split("\n"):
        if match := _LOC.match(text):
            site = _site(sites, int(match[1]))
        elif text.startswith("{"):
            inside, site = True, sites[0]
        elif text.startswith("}"):
            inside = False
        elif inside and (label := _LABEL.match(text)):
            lines.append(CodeLine(f"{label[1]}:"))
        elif inside and text.startswith("\t") and not text.startswith("\t."):
            lines.append(CodeLine(_shortened(text.split("//")[0]), site.file, max(site.line, 0)))
    return tuple(lines[:MOST])


def _sass_lines(listed: str, live: str, sites: tuple[CodeSite, ...]) -> tuple[CodeLine, ...]:
    registers = {match[1]: int(match[2] or 0) for text in live.split("\n") if (match := _LIVE.match(text))}
    lines: list[CodeLine] = []
    site = sites[0]
    begun = False  # the first location is the function's own, whose line is no site number
    for text in listed.split("\n"):
        if match := _LINE.match(text):
            site, begun = _site(sites, int(match[1])) if begun else sites[0], True
        elif label := _LABEL.match(text):
            lines.append(CodeLine(f"{label[1]}:"))
        elif match := _INSTRUCTION.match(text):
            code = _shortened(match[2].removesuffix(";"))
            spilled = _SPILL.search(code) is not None
            lines.append(CodeLine(code, site.file, max(site.line, 0), registers.get(match[1], 0), spilled))
    while lines and re.match(
        r"(NOP|BRA|\.L_x)", lines[-1].text
    ):  # padding of the last instruction cache line
        lines.pop()
    return tuple(lines[:MOST])


def _site(sites: tuple[CodeSite, ...], number: int) -> CodeSite:
    return sites[number] if number < len(sites) else sites[0]


def _shortened(text: str) -> str:
    """Shorten an instruction to one line, with single blanks and without the types in a function's name."""
    return _NAME.sub(lambda name: f"{name[0][:24]}…", " ".join(text.split())).removesuffix(";").strip()
