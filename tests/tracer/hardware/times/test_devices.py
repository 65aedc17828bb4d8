"""The GPUs of a computer: their data from Numba, the process that lists them, and its possible ends."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace

import msgspec
import pytest

from tilescope.tracer.hardware.times import devices
from tilescope.tracer.hardware.times.devices import COMMAND, DeviceList, DeviceListing, facts
from tilescope.tracer.hardware.times.list_devices import device_list
from tilescope.tracer.hardware.times.measurement import MeasurementError
from tilescope.tracer.processes.process_client import RunCancelledError

DRIVER = SimpleNamespace(
    get_version=lambda: (13, 0), cuDeviceTotalMem=lambda number: 11_000_000_000 * (number + 1)
)


def device(number=0, name="GeForce RTX 2080 Ti", capability=(7, 5), bus=29):
    return SimpleNamespace(
        id=number, name=name, compute_capability=capability, uuid=f"GPU-{number}", PCI_DOMAIN_ID=0, PCI_BUS_ID=bus,
        PCI_DEVICE_ID=0, MULTIPROCESSOR_COUNT=68,
    )  # fmt: skip


def listed(*results, lowest=(7, 5), problem="", smi=lambda uuid, name: ["580.159.04"]):
    return device_list(results, DRIVER, lowest, problem, smi)


def saying(text):
    return DeviceListing((sys.executable, "-c", f"print({text!r}, flush=True)"))


def test_a_device_is_listed_as_the_source_document_does():
    (results,) = listed(device()).devices
    assert (results.name, results.compute_capability, results.pci) == (
        "GeForce RTX 2080 Ti",
        (7, 5),
        (0, 29, 0),
    )
    assert dict(facts(results)) == {
        "compute capability": "7.5", "PCI": "0000:1d:00.0 (bus 29, device 0)", "memory": "11.0 GB",
        "multiprocessors": "68", "supported": "yes",
    }  # fmt: skip


def test_unusable_devices_are_reported_with_the_reason():
    listing = listed(device(), device(1, "Tesla V100", (7, 0), 30), device(2, "Quadro P2000", (6, 1), 31))
    assert [d.problem for d in listing.devices] == [
        "",
        "too old for this CUDA, which compiles for 7.5 and later; install tilescope[gpu-cu12]",
        "too old: its compute capability is 6.1, measuring needs 7.0",
    ]
    assert listing.summary == "1 of 3 GPUs can be used (driver 580.159.04, CUDA 13.0)."
    assert listed(device(), problem="without a compiler").devices[0].problem == "without a compiler"


def test_without_the_drivers_own_tool_its_version_is_left_out():
    assert listed(device(), smi=lambda uuid, name: ()).summary == "1 of 1 GPUs can be used (CUDA 13.0)."


def test_the_process_answers_on_a_computer_without_a_gpu_too():
    listing = DeviceListing().run()
    assert bool(listing.devices) != bool(listing.reason)
    assert listing.summary.endswith(".")
    assert COMMAND[-1] == "tilescope.tracer.hardware.times.list_devices"


def test_a_valid_answer_is_read_and_any_other_is_reported():
    listing = listed(device())
    assert saying(msgspec.json.encode(listing).decode()).run() == listing
    for text in ("", "nonsense", "{}", '{"devices": [3]}', '{"devices": [], "more": 1}'):
        with pytest.raises(MeasurementError, match=r"The GPUs could not be listed \(exit code 0"):
            saying(text).run()


def test_the_death_of_a_process_is_reported_with_its_last_output():
    listing = DeviceListing((sys.executable, "-c", "import sys; sys.exit('the driver is broken')"))
    with pytest.raises(MeasurementError, match=r"exit code 1: the driver is broken"):
        listing.run()
    with pytest.raises(MeasurementError, match="can't be started"):
        DeviceListing(("/no/such/program",)).run()


def test_a_driver_that_does_not_answer_is_given_up(monkeypatch):
    monkeypatch.setattr(devices, "PATIENCE", 0.2)
    with pytest.raises(MeasurementError, match="has not answered"):
        DeviceListing((sys.executable, "-c", "import time; time.sleep(60)")).run()


def test_it_is_cancelled_from_another_thread_and_before_it_begins():
    listing = DeviceListing((sys.executable, "-c", "import time; time.sleep(60)"))
    threading.Timer(0.2, listing.cancel).start()
    with pytest.raises(RunCancelledError):
        listing.run()
    with pytest.raises(RunCancelledError):
        listing.run()


def test_a_list_without_devices_has_a_reason():
    assert DeviceList((), reason="There is none.").summary == "There is none."
