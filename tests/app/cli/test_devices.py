"""`tilescope devices`: what it prints of made answers and of this computer, and how it ends."""

from __future__ import annotations

import json

import pytest

from tilescope.app.cli.devices import json_text, table
from tilescope.app.cli.main import main
from tilescope.tracer.hardware.times.devices import DeviceList, DeviceListing, ListedDevice
from tilescope.tracer.hardware.times.measurement import MeasurementError

H200 = ListedDevice(0, "NVIDIA H200", (9, 0), (0, 29, 0), 150_109_880_320, 132, "")
OLD = ListedDevice(1, "Quadro\x1b[31m P2000", (6, 1), (1, 59, 0), 5_368_709_120, 8, "too old")
NONE = DeviceList((), reason="No GPU can be used: there is no NVIDIA driver.")
BOTH = DeviceList((H200, OLD), "580.159.04", (13, 0))


@pytest.fixture
def answered(monkeypatch):
    """Return a function that sets the driver's answer."""

    def answer(devices):
        def run(_):
            if isinstance(devices, Exception):
                raise devices
            return devices

        monkeypatch.setattr(DeviceListing, "run", run)

    return answer


def test_a_table_has_all_that_the_source_document_lists(answered, capsys):
    answered(BOTH)
    assert main(["devices"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "0  NVIDIA H200",
        "   compute capability  9.0",
        "   PCI                 0000:1d:00.0 (bus 29, device 0)",
        "   memory              150.1 GB",
        "   multiprocessors     132",
        "   supported           yes",
        "1  Quadro\\x1b[31m P2000",
        "   compute capability  6.1",
        "   PCI                 0001:3b:00.0 (bus 59, device 0)",
        "   memory              5.4 GB",
        "   multiprocessors     8",
        "   supported           no: it is too old",
        "1 of 2 GPUs can be used (driver 580.159.04, CUDA 13.0).",
    ]


def test_json_has_the_same(answered, capsys):
    answered(BOTH)
    assert main(["devices", "--json"]) == 0
    devices = json.loads(capsys.readouterr().out)
    assert devices == json.loads(json_text(BOTH))
    assert devices["devices"][0]["compute_capability"] == [9, 0]
    assert devices["devices"][1]["problem"] == "too old"
    assert (devices["driver"], devices["cuda"], devices["reason"]) == ("580.159.04", [13, 0], "")


def test_without_a_gpu_it_is_one_sentence_and_2(answered, capsys):
    answered(NONE)
    assert main(["devices"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"tilescope: {NONE.reason}\n"
    assert main(["devices", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["reason"] == NONE.reason


def test_gpus_that_cannot_be_used_are_listed_and_it_ends_with_2(answered, capsys):
    answered(DeviceList((OLD,)))
    assert main(["devices"]) == 2
    printed = capsys.readouterr()
    assert "no: it is too old" in printed.out
    assert printed.err == "tilescope: 0 of 1 GPUs can be used.\n"
    assert "can be used" not in table(DeviceList((OLD,)))


def test_a_driver_that_does_not_answer_is_a_sentence(answered, capsys):
    answered(MeasurementError("The GPU's driver has not answered for 60 seconds."))
    assert main(["devices"]) == 2
    assert capsys.readouterr().err == "tilescope: The GPU's driver has not answered for 60 seconds.\n"


def test_this_computer_is_listed_or_reported_to_have_none(capsys):
    status = main(["devices"])
    printed = capsys.readouterr()
    assert (status, bool(printed.out)) in ((0, True), (2, False), (2, True))
    assert "Traceback" not in printed.err
