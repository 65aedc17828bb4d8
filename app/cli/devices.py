"""`tilescope devices`: the GPUs of this computer, and whether Tilescope can use them."""

from __future__ import annotations

from argparse import Namespace
from importlib.util import find_spec

import msgspec

from ...tracer.measure.devices import DeviceList, DeviceListing, facts
from .common.arguments import Parser
from .common.text_output import aligned, complain, say

WITHOUT_NUMBA_CUDA = (
    "numba-cuda is not installed, so the CUDA target of Numba itself types kernels; it refuses some that numba-cuda "
    "compiles, such as those with a.sum()."
)


def add_arguments(parser: Parser) -> None:
    parser.description = "List the GPUs of this computer, as their driver describes them."
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def execute(chosen: Namespace) -> int:
    """Print the GPUs and return 0; 2 with a sentence where there is none that can be used.

    Raises MeasurementError where nobody can tell.
    """
    found = DeviceListing().run()
    if chosen.json:
        say(json_text(found))
    elif found.devices:
        say(table(found))
    if not found.supported:
        complain(found.summary)
    if find_spec("numba_cuda") is None:
        complain(WITHOUT_NUMBA_CUDA)
    return 0 if found.supported else 2


def table(found: DeviceList) -> str:
    """Return each device with what is told of it, and how many there are."""
    lines: list[str] = []
    for device in found.devices:
        lines.append(f"{device.number}  {device.name}")
        lines += [f"   {line}" for line in aligned([list(fact) for fact in facts(device)], "<")]
    return "\n".join([*lines, found.summary] if found.supported else lines)


def json_text(found: DeviceList) -> str:
    """Return the list as JSON."""
    return msgspec.json.format(msgspec.json.encode(found), indent=1).decode()
