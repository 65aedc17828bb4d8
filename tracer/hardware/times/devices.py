"""The GPUs of this computer, listed by another process, and whether Tilescope supports them."""

from __future__ import annotations

import msgspec

from ...processes.json_process import StartError, module_command
from ...processes.process_client import ProcessClient, ProcessEndedError
from .measurement import MeasurementError

COMMAND = module_command("tilescope.tracer.hardware.times.list_devices")
PATIENCE = 60.0  # seconds to wait for the driver


class ListedDevice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A GPU as its driver describes it."""

    number: int  # the driver's number, from 0
    name: str
    compute_capability: tuple[int, int]  # major, minor
    pci: tuple[int, int, int]  # domain, bus, device
    memory_bytes: int  # of global memory
    multiprocessors: int
    problem: str  # why it is not supported, as the end of a sentence; "" if it is

    @property
    def pci_address(self) -> str:
        """The PCI address in the usual form: 0000:1d:00.0."""
        domain, bus, device = self.pci
        return f"{domain:04x}:{bus:02x}:{device:02x}.0"


class DeviceList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The GPUs of a computer."""

    devices: tuple[ListedDevice, ...]
    driver: str = ""  # version of the kernel driver, "" if unknown
    cuda: tuple[int, int] | None = None  # the latest version that the driver supports: major, minor
    reason: str = ""  # one sentence why there are none, else ""

    @property
    def supported(self) -> int:
        """The number of supported GPUs."""
        return sum(not device.problem for device in self.devices)

    @property
    def summary(self) -> str:
        """The numbers of GPUs and of supported ones, with the driver; without GPUs, the reason."""
        if not self.devices:
            return self.reason
        versions = [f"driver {self.driver}"] if self.driver else []
        versions += [f"CUDA {self.cuda[0]}.{self.cuda[1]}"] if self.cuda else []
        ends = f" ({', '.join(versions)})" if versions else ""
        return f"{self.supported} of {len(self.devices)} GPUs can be used{ends}."


def facts(device: ListedDevice) -> list[tuple[str, str]]:
    """List the names and texts of a device's properties."""
    _, bus, number = device.pci
    major, minor = device.compute_capability
    return [
        ("compute capability", f"{major}.{minor}"),
        ("PCI", f"{device.pci_address} (bus {bus}, device {number})"),
        ("memory", f"{device.memory_bytes / 1e9:,.1f} GB"),
        ("multiprocessors", f"{device.multiprocessors:,}"),
        ("supported", f"no: it is {device.problem}" if device.problem else "yes"),
    ]


class DeviceListing:
    """Lists the GPUs in another process; call `run` in any thread, and `cancel` from any other."""

    def __init__(self, command: tuple[str, ...] = COMMAND) -> None:
        self._client = ProcessClient("measuring process", command, _DECODER)
        self.cancel = self._client.close  # from any thread; `run` raises RunCancelledError

    def run(self) -> DeviceList:
        """List the GPUs; raises MeasurementError if that fails, and RunCancelledError."""
        try:
            with self._client.conversation(seconds=PATIENCE) as lists:
                return next(lists)
        except StartError as error:
            raise MeasurementError(str(error)) from error
        except ProcessEndedError as error:
            if error.is_late:
                reason = f"The GPU's driver has not answered for {PATIENCE:g} seconds."
            else:
                reason = f"The GPUs could not be listed ({error.death})."
            raise MeasurementError(reason) from error
        finally:
            self._client.rest()


# Created at import: threads that use a type for the first time at once can crash msgspec.
_DECODER = msgspec.json.Decoder(DeviceList)
