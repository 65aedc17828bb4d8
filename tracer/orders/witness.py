"""Witness files: an order that changes the result of a launch, to replay and share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ..model.launch import Launch
from ..model.order import ORDER_PREFIX, Order, OrderTextError, check_order, kernel_version, parse_order
from ..model.trace import Dim3
from ..storage.atomic_write import write_atomically
from .search import ChangedCell

WITNESS_SUFFIX = ".order.json"
FORMAT = "tilescope-order-1"
MOST_BYTES = 16_000_000


class WitnessError(Exception):
    """A witness file that can't be used; one sentence."""


class Witness(msgspec.Struct, frozen=True):
    """An order, and the launch that it belongs to."""

    format: str
    kernel: str  # name of the function
    version: str  # see `kernel_version`
    grid: Dim3
    block: Dim3
    order: str
    sentence: str = ""  # which two accesses the order reverses
    cells: tuple[tuple[str, str, str], ...] = ()  # differing elements: name, value before, value in the order

    @property
    def schedule(self) -> str:
        """The word of the order in a spec."""
        return f"{ORDER_PREFIX}{self.order}"


def witness_of(launch: Launch, order: str, sentence: str, cells: Sequence[ChangedCell]) -> Witness:
    """Return the witness of an order that changes the result of a launch.

    sentence: about the reversed accesses.
    """
    kernel = launch.kernel.rpartition(":")[2]
    version = kernel_version(launch.source, kernel)
    texts = tuple((cell.name, cell.before, cell.after) for cell in cells)
    return Witness(FORMAT, kernel, version, launch.grid, launch.block, order, sentence, texts)


def write_witness(path: Path, witness: Witness) -> None:
    """Write a witness file; raises WitnessError."""
    try:
        write_atomically(path, msgspec.json.format(msgspec.json.encode(witness), indent=1) + b"\n")
    except OSError as error:
        raise WitnessError(f"{path} can't be written: {error.strerror or error}.") from error


def read_witness(path: Path) -> Witness:
    """Read a witness file; raises WitnessError."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        witness = msgspec.json.decode(content[:MOST_BYTES], type=Witness)
    except OSError as error:
        raise WitnessError(f"{path} can't be read: {error.strerror or error}.") from error
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise WitnessError(
            f"{path} is no witness file; tilescope orders and tilescope check write them."
        ) from error
    if witness.format != FORMAT:
        raise WitnessError(f"{path} is of another version of Tilescope; search for the order again.")
    return witness


def check_witness(witness: Witness, launch: Launch) -> Order:
    """Return the order of a witness; raises WitnessError if it is of another launch."""
    kernel = launch.kernel.rpartition(":")[2]
    if witness.kernel != kernel:
        raise WitnessError(f"The witness is of the kernel {witness.kernel}, not of {kernel}.")
    if witness.version != kernel_version(launch.source, kernel):
        raise WitnessError(f"The witness is of another version of {kernel}; search for the order again.")
    if (witness.grid, witness.block) != (launch.grid, launch.block):
        raise WitnessError(
            f"The witness is of a launch with grid {witness.grid} and block {witness.block}, not {launch.grid} and "
            f"{launch.block}."
        )
    try:
        order = parse_order(witness.order)
        check_order(order, launch.grid, launch.block, launch.source, kernel)
    except OrderTextError as error:
        raise WitnessError(str(error)) from error
    return order
