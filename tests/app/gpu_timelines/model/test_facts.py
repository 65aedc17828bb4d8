"""The facts of a recording: each from its columns, each with its mark."""

import numpy as np
from msgspec.structs import replace

from gpu_charts import derived_data, segments_of_blocks, small_timeline, with_head
from gpu_timelines import CYCLES
from tilescope.app.gpu_timelines.model.data import gpu_data
from tilescope.app.gpu_timelines.model.facts import (
    facts_of,
    kinds_of,
    kinds_text,
    micros_text,
    share_text,
    threads_text,
)
from tilescope.tracer.hardware.timeline import KernelCost


def texts(data):
    return [fact.text for fact in facts_of(data)]


def test_every_fact_has_its_mark():
    facts = facts_of(derived_data())
    assert [fact.mark for fact in facts] == ["exact", *["measured"] * (len(facts) - 1)]


def test_the_facts_are_those_of_the_columns():
    data = derived_data()
    facts = texts(data)
    assert facts[0] == "16 blocks of 8 × 8 threads"
    assert facts[1] == "NVIDIA Test, 2026-11-23"
    assert facts[2].startswith(micros_text(data.timeline.nanoseconds))
    assert facts[3] == "up to 2 blocks at once on a multiprocessor, 4 in use"
    assert facts[4] == "2.0 waves"
    assert facts[5].startswith("warps of 16 blocks: load ")
    assert "34 registers, not 30" in facts[6] and "(+10 %)" in facts[6]


def test_shares_of_kinds_are_those_of_cycles():
    sums = derived_data().kinds
    total = sum(sums.values())
    assert kinds_text(sums).split(", ")[0] == f"load {100 * sums['load'] / total:.0f} %"
    block = kinds_of(derived_data(), 3)
    assert set(block) == set(CYCLES)
    kinds = kinds_of(derived_data(), 3, 1)
    assert all(kinds[kind] < block[kind] for kind in block)
    assert share_text(0.001) == "< 1 %"


def test_multiprocessors_without_a_block_are_reported():
    timeline = small_timeline()
    spans = replace(timeline.spans, multiprocessor=np.minimum(timeline.spans.multiprocessor, 2))
    facts = texts(gpu_data(replace(timeline, spans=spans)))
    assert facts[3].endswith("3 of 4 in use")
    assert facts[4] == "1.0 waves"  # 16 blocks on 4 multiprocessors, on one of which 4 were at once


def test_a_launch_that_fills_no_gpu_is_less_than_a_wave():
    head = small_timeline().head
    device = replace(head.device, multiprocessors=132)
    data = gpu_data(with_head(small_timeline(), device=device))
    assert data.machines == 132
    assert texts(data)[4] == "0.061 waves"


def test_a_recording_without_details_omits_warps():
    timeline = small_timeline()
    facts = texts(gpu_data(replace(timeline, segments=segments_of_blocks(timeline.segments, ()))))
    assert not any("warps of" in text for text in facts)


def test_the_cost_of_marks_in_blocks_and_memory_is_reported():
    costs = {"plain": KernelCost(30, 0, (10.0,), 8), "marked": KernelCost(30, 64, (12.0, 13.0), 6)}
    facts = texts(gpu_data(with_head(small_timeline(), **costs)))
    assert facts[3].startswith("up to 2 blocks at once on a multiprocessor (the driver allows 6)")
    assert facts[6] == (
        "with marks 30 registers, as without marks; 6 blocks at once, not 8; 64 bytes of local memory, not 0; "
        "12.5 µs, not 10.0 µs (+25 %)"
    )


def test_thinned_marks_are_reported_with_the_reason():
    fact = facts_of(gpu_data(with_head(small_timeline(), detail="barriers", notes=("It took longer.",))))[-1]
    assert fact.text.startswith("only barriers are marked")
    assert fact.tip == "It took longer."


def test_times_and_shapes_in_words():
    assert [micros_text(ns) for ns in (4270, 42700, 427_000, 1_234_000)] == [
        "4.27 µs",
        "42.7 µs",
        "427 µs",
        "1.23 ms",
    ]
    assert threads_text((256, 1, 1)) == "256 threads"
    assert threads_text((8, 4, 2)) == "8 × 4 × 2 threads"
