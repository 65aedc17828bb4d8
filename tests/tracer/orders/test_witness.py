"""Witness files: written, read again, and refused for another launch."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from order_runs import run
from tilescope.tracer.model.plan import launch_of, parse_spec
from tilescope.tracer.orders.search import search_orders
from tilescope.tracer.orders.witness import (
    WitnessError,
    check_witness,
    read_witness,
    witness_of,
    write_witness,
)


@pytest.fixture(scope="module")
def planned():
    scenario, values, options = parse_spec("count-racing:num_blocks=1,threads=4")
    return launch_of(scenario, values, **options)


@pytest.fixture(scope="module")
def witness(planned):
    changing = search_orders(planned, run).changing_order
    assert changing is not None
    return witness_of(planned, changing.order, changing.sentence, changing.cells)


def test_a_witness_reads_what_was_written(planned, witness, tmp_path):
    path = tmp_path / "w.order.json"
    write_witness(path, witness)
    assert read_witness(path) == witness
    assert str(check_witness(witness, planned)) == witness.order


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kernel": "other"}, "is of the kernel other"),
        ({"version": "000000"}, "another version of count_racing"),
        ({"block": (8, 1, 1)}, "is of a launch with grid"),
        ({"order": "t77"}, "names thread 77"),
        ({"order": "?"}, "is not a part of an order"),
    ],
)
def test_a_witness_of_another_launch_is_refused(change, sentence, planned, witness):
    with pytest.raises(WitnessError, match=sentence):
        check_witness(replace(witness, **change), planned)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff\xfe", b'{"format": 3}', b"[" * 100_000])
def test_a_file_that_is_no_witness_is_refused(content, tmp_path):
    path = tmp_path / "w"
    path.write_bytes(content)
    with pytest.raises(WitnessError, match="is no witness file"):
        read_witness(path)


def test_a_missing_file_and_another_format_are_refused(witness, tmp_path):
    with pytest.raises(WitnessError, match="can't be read"):
        read_witness(tmp_path / "missing")
    write_witness(tmp_path / "w", replace(witness, format="tilescope-order-9"))
    with pytest.raises(WitnessError, match="another version of Tilescope"):
        read_witness(tmp_path / "w")
    with pytest.raises(WitnessError, match="can't be written"):
        write_witness(tmp_path / "no" / "folder" / "w", witness)
