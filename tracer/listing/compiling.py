"""Compile a kernel to PTX and SASS, and find out which line of the source each instruction comes from."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from llvmlite import binding

from ..as_compiled.compiler.numba_ir import CodeSite, KernelIR, kernel_ir
from ..as_compiled.compiler.nvidia import libnvvm_ptx
from ..as_compiled.compiler.optimised import compiler_name, optimised, target_machine
from ..recording import nvidia_files
from ..type_inference.question import SourceQuestion
from .listing import INSTALL, CodeLine, Listing, ListingJob

ARCHITECTURE = "sm_90"
SECONDS = 60.0  # that NVIDIA's programs may take
MOST = 20_000  # lines that are kept
_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")
_LABEL = re.compile(r"(\$L__BB\w+|\.L_x_\w+):")
_LINE = re.compile(r'\s*//## File "[^"]*", line (\d+)')
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?;)")
_LIVE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/.*//\s*\|\s*(\d*)\s*\|")
_SPILL = re.compile(r"\b(LDL|STL)\b")
_NAME = re.compile(r"\b_Z\w{40,}")  # of a function, as long as what its types are called


def listing(job: ListingJob) -> Listing:
    """Return the code of a job's kernel, or the reason why there is none."""
    try:
        return _compiled(kernel_ir(SourceQuestion(job.launch)))
    except Exception as error:  # noqa: BLE001  # what Numba, LLVM or a kernel's text make of each other
        lines = str(error).strip().splitlines()
        return Listing(
            reason=f"It can't be compiled ({type(error).__name__}: {lines[0][:120] if lines else ''})."
        )


def _compiled(ir: KernelIR) -> Listing:
    ptx, made_by = _ptx(ir)
    found = Listing(ptx=_ptx_lines(ptx, ir.sites), ptx_by=made_by, missing=INSTALL)
    ptxas, nvdisasm = nvidia_files.ptxas(), nvidia_files.nvdisasm()
    if ptxas is None or nvdisasm is None:
        return found
    with tempfile.TemporaryDirectory(prefix="tilescope-sass-") as folder:
        source, code = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        try:
            said = _run(str(ptxas), f"-arch={ARCHITECTURE}", "-lineinfo", "-v", str(source), "-o", str(code))
            listed = _run(str(nvdisasm), "-g", "-c", str(code))
            live = _run(str(nvdisasm), "-c", "-plr", "-lrm", "count", str(code))
        except (OSError, subprocess.SubprocessError) as error:
            return _without(found, f"NVIDIA's programs can't compile it ({type(error).__name__}).")
    registers = re.search(r"Used (\d+) registers", said)
    spills = [int(number) for number in re.findall(r"(\d+) bytes spill (?:stores|loads)", said)]
    return Listing(
        found.ptx, _sass_lines(listed, live, ir.sites), made_by, f"ptxas {nvidia_files.ptxas_version()}",
        int(registers[1]) if registers else None, sum(spills) if spills else None,
    )  # fmt: skip


def _without(found: Listing, why: str) -> Listing:
    return Listing(ptx=found.ptx, ptx_by=found.ptx_by, missing=why)


def _ptx(ir: KernelIR) -> tuple[str, str]:
    """Return PTX and what made it: libNVVM, as where Numba has a GPU, else LLVM."""
    libdevice = nvidia_files.libdevice()
    if nvidia_files.libnvvm() is not None and libdevice is not None:
        ptx = f"{libnvvm_ptx(ir)}\n"
        version = re.search(r"release (\d+\.\d+)", ptx)
        return ptx, f"libNVVM {version[1]}" if version else "libNVVM"
    module = binding.parse_assembly(str(optimised(ir, libdevice)))
    return target_machine().emit_assembly(module), compiler_name().partition(" of ")[0]


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    return done.stdout + done.stderr


def _ptx_lines(ptx: str, sites: tuple[CodeSite, ...]) -> tuple[CodeLine, ...]:
    """Return the instructions and labels of functions, without what debuggers read."""
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
    registers = {m[1]: int(m[2] or 0) for text in live.split("\n") if (m := _LIVE.match(text))}
    lines: list[CodeLine] = []
    site = sites[0]
    begun = False  # the first location is the function's own, whose line is no number of a site
    for text in listed.split("\n"):
        if match := _LINE.match(text):
            site, begun = _site(sites, int(match[1])) if begun else sites[0], True
        elif label := _LABEL.match(text):
            lines.append(CodeLine(f"{label[1]}:"))
        elif match := _INSTRUCTION.match(text):
            code = _shortened(match[2].removesuffix(";"))
            spilled = _SPILL.search(code) is not None
            lines.append(CodeLine(code, site.file, max(site.line, 0), registers.get(match[1], 0), spilled))
    while lines and re.match(r"(NOP|BRA|\.L_x)", lines[-1].text):  # what fills up the last line of the cache
        lines.pop()
    return tuple(lines[:MOST])


def _site(sites: tuple[CodeSite, ...], number: int) -> CodeSite:
    return sites[number] if number < len(sites) else sites[0]


def _shortened(text: str) -> str:
    """Return an instruction in one line, with single blanks and without the types in a function's name."""
    return _NAME.sub(lambda name: f"{name[0][:24]}…", " ".join(text.split())).removesuffix(";").strip()
