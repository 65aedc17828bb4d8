"""The process that lists GPUs: `python -m tilescope.tracer.hardware.times.list_devices` answers in a line of JSON.

It runs nothing on a device, and uses none of its memory; it only asks the driver.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from typing import Any

from ...processes.json_streams import make_sender, private_streams
from ...processes.parent_death import die_with_parent
from .devices import DeviceList, ListedDevice
from .gpu import OLDEST, first_line, no_device_reason, nvidia_smi, too_old_text

Capability = tuple[int, int]
Smi = Callable[..., Sequence[str]]


def main() -> None:
    """Print the list of GPUs."""
    os.environ.update(NUMBA_ENABLE_CUDASIM="0")
    die_with_parent()
    _, target = private_streams()
    make_sender(target)(listed())


def listed() -> DeviceList:
    """List the GPUs; without any, return the reason in a sentence."""
    if importlib.util.find_spec("numba_cuda") is None:
        return DeviceList((), reason="No GPU can be used: numba-cuda is missing; install tilescope[gpu].")
    from numba import cuda

    if not cuda.is_available():
        return DeviceList((), reason=f"No GPU can be used: {no_device_reason(cuda)}.")
    from numba.cuda.cudadrv.driver import driver

    return device_list(list(cuda.list_devices()), driver, *_compiled_for())


def device_list(
    devices: Sequence[Any], driver: Any, lowest: Capability, problem: str, smi: Smi = nvidia_smi
) -> DeviceList:
    """Describe devices with numba's objects and its driver.

    lowest: the lowest compute capability of the compiler. problem: why nothing can be compiled, "" if it can.
    """
    major, minor = driver.get_version()
    version = next((text for d in devices if (text := "".join(smi(str(d.uuid), "driver_version")))), "")
    return DeviceList(
        tuple(_device(d, driver, lowest, problem) for d in devices), version, (int(major), int(minor))
    )


def _device(device: Any, driver: Any, lowest: Capability, problem: str) -> ListedDevice:
    capability = int(device.compute_capability[0]), int(device.compute_capability[1])
    return ListedDevice(
        number=int(device.id),
        name=str(device.name),
        compute_capability=capability,
        pci=(int(device.PCI_DOMAIN_ID), int(device.PCI_BUS_ID), int(device.PCI_DEVICE_ID)),
        memory_bytes=int(driver.cuDeviceTotalMem(device.id)),
        multiprocessors=int(device.MULTIPROCESSOR_COUNT),
        problem=_problem(capability, lowest) or problem,
    )


def _problem(capability: Capability, lowest: Capability) -> str:
    """Explain why kernels can't run on a device of this compute capability; "" if they can."""
    if capability < OLDEST:
        return too_old_text(capability)
    if capability < lowest:
        needed = ".".join(map(str, lowest))
        return f"too old for this CUDA, which compiles for {needed} and later; install tilescope[gpu-cu12]"
    return ""


def _compiled_for() -> tuple[Capability, str]:
    """Return the lowest compute capability of the compiler, and why it can't be used ("" if it can)."""
    try:
        from numba.cuda.cudadrv.nvrtc import get_lowest_supported_cc
        from numba.cuda.cudadrv.nvvm import NVVM

        NVVM()
        major, minor = get_lowest_supported_cc()
        return (int(major), int(minor)), ""
    except Exception as error:  # noqa: BLE001  # missing compilers raise many types
        remedy = "install tilescope[gpu], for an older driver tilescope[gpu-cu12]"
        return OLDEST, f"without a compiler ({first_line(error)}); {remedy}"


if __name__ == "__main__":
    main()
