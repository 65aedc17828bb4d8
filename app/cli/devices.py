"""`tilescope devices`: list the GPUs of this computer, and check whether Tilescope can use them."""

from __future__ import annotations

from argparse import Namespace
from importlib.util import find_spec

import msgspec

from ...tracer.hardware.times.devices import DeviceList, DeviceListing, facts
from .common.arguments import Parser
from .common.text_output import align_columns, print_error, print_escaped

WITHOUT_NUMBA_CUDA = (
    "numba-cuda is not installed, so Numba's own CUDA target types kernels; it refuses some that numba-cuda "
    "compiles, such as those with a.sum()."
)


def add_arguments(parser: Parser) -> None:
    parser.description = "List the GPUs of this computer, as their driver describes them."
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def execute(chosen: Namespace) -> int:
    """Print the GPUs and return 0; return 2 with a sentence if none can be used.

    Raises MeasurementError if the driver can't be asked.
    """
    listing = DeviceListing().run()
    if chosen.json:
        print_escaped(json_text(listing))
    elif listing.devices:
        print_escaped(table(listing))
    if not listing.supported:
        print_error(listing.summary)
    if find_spec("numba_cuda") is None:
        print_error(WITHOUT_NUMBA_CUDA)
    return 0 if listing.supported else 2


def table(listing: DeviceList) -> str:
    """Format each device with its facts, and the number of devices."""
    lines: list[str] = []
    for device in listing.devices:
        lines.append(f"{device.number}  {device.name}")
        lines += [f"   {line}" for line in align_columns([list(fact) for fact in facts(device)], "<")]
    return "\n".join([*lines, listing.summary] if listing.supported else lines)


def json_text(listing: DeviceList) -> str:
    """Encode the list as JSON."""
    return msgspec.json.format(msgspec.json.encode(listing), indent=1).decode()
