"""The text of an order: read, written again, and refused with one sentence where it is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilescope.tracer.model.launch import Launch, Schedule, decode, encode
from tilescope.tracer.model.order import (
    Order,
    OrderTextError,
    Segment,
    check_order,
    kernel_version,
    order_of_turns,
    parse_order,
    segment_words,
)
from tilescope.tracer.model.plan import PlanError, parse_schedule, parse_spec, schedule_words

SOURCE = "from numba import cuda\n\n\n@cuda.jit\ndef kernel(a):\n    a[0] = 1\n"


@st.composite
def segments(draw):
    kind = draw(st.sampled_from(["all", "block", "warp", "thread"]))
    block = -1 if kind == "all" else draw(st.integers(0, 50))
    count = {"all": 0, "block": 0, "warp": 32, "thread": 1}[kind]
    first = draw(st.integers(0, 40)) * count
    turns, barrier, line = draw(st.tuples(st.integers(0, 9), st.integers(-1, 5), st.integers(0, 99)))
    return Segment(block, first, count, turns, barrier, line)


@given(st.lists(segments(), min_size=1, max_size=8), st.sampled_from(["", "0a1b2c"]))
def test_an_order_reads_its_own_text(parts, version):
    order = Order(tuple(parts), version)
    assert parse_order(str(order)) == order
    assert parse_order(f"order:{order}") == order
    assert parse_schedule(f"order:{order}", 3) == Schedule("order", 3, str(order))


def test_the_parts_of_a_text():
    assert parse_order("t3x2@12+b1t0+w1/2+b2+all/1").segments == (
        Segment(0, 3, 1, turns=2, line=12),
        Segment(1, 0, 1),
        Segment(0, 32, 32, barrier=2),
        Segment(2, 0, 0),
        Segment(-1, 0, 0, barrier=1),
    )


def test_words_describe_every_part():
    assert segment_words(parse_order("t3x2@12+t0x1+w1+b2/1+all/1").segments) == [
        "thread 3 of block 0 makes 2 accesses, the last in line 12",
        "thread 0 of block 0 makes one access",
        "warp 1 of block 0 runs until it waits or ends",
        "block 2 runs to barrier 1",
        "all blocks run to barrier 1",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "t",
        "x2",
        "t3+",
        "+t3",
        "t-1",
        "t3x",
        "t3 x2",
        "T3",
        "t3,t4",
        "b",
        "t1.5",
        "v12:t3",
        "t٣",
        "t3x2x2",
    ],
)
def test_a_text_that_is_no_order_is_refused(text):
    with pytest.raises(OrderTextError, match="is not a part of an order"):
        parse_order(text)


def test_no_turns_are_refused():
    with pytest.raises(OrderTextError, match="write x1 or more"):
        parse_order("t3x0")


def test_an_endless_text_is_refused():
    with pytest.raises(OrderTextError, match="parts; at most"):
        parse_order("+".join(["t0x1"] * 100_001))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("t8", "The order names thread 8 of block 0, but a block has threads 0 to 7."),
        ("b2t0", "The order names block 2, but the grid has blocks 0 to 1."),
        ("w1", "The order names warp 1 of block 0, but a block has threads 0 to 7."),
        ("t0x1@99", "The order names line 99, but the kernel's file ends at line 7."),
        ("vabcdef:t0", "The order is of another version of kernel; search again"),
    ],
)
def test_an_order_of_another_launch_is_refused(text, sentence):
    with pytest.raises(OrderTextError, match=sentence.replace("(", r"\(")):
        check_order(parse_order(text), (2, 1, 1), (8, 1, 1), SOURCE, "kernel")


def test_the_version_follows_the_code_of_the_kernel_only():
    version = kernel_version(SOURCE, "kernel")
    assert kernel_version(f"# moved\n\n{SOURCE}", "kernel") == version
    assert kernel_version(SOURCE.replace("a[0] = 1", "a[0] = 1  # one"), "kernel") == version
    assert kernel_version(SOURCE.replace("a[0] = 1", "a[0] = 2"), "kernel") != version
    check_order(parse_order(f"v{version}:t0"), (1, 1, 1), (1, 1, 1), SOURCE, "kernel")


def test_turns_of_a_thread_are_joined():
    turns = [(0, 1), (0, 1), (1, 1), (0, 1)]
    assert str(order_of_turns(turns)) == "t1x2+b1t1x1+t1x1"


def test_a_launch_keeps_its_order_and_other_launches_keep_their_keys():
    plain = Launch("file.py:kernel", SOURCE, (), (1, 1, 1), (1, 1, 1))
    assert '"order"' not in encode(plain)
    ordered = Launch("file.py:kernel", SOURCE, (), (1, 1, 1), (1, 1, 1), schedule=Schedule("order", 0, "t0"))
    assert decode(encode(ordered)) == ordered
    assert ordered.key() != plain.key()


def test_a_spec_names_an_order():
    _, _, options = parse_spec("count-racing:threads=4,schedule=order:t1x1+t0,seed=2")
    assert options["schedule"] == Schedule("order", 2, "t1x1+t0")
    assert schedule_words(options["schedule"]) == "order:t1x1+t0"


@pytest.mark.parametrize("word", ["order", "order:", "order:x", "orders:t1"])
def test_a_spec_refuses_a_bad_order(word):
    with pytest.raises(PlanError):
        parse_spec(f"count-racing:threads=4,schedule={word}")
