"""What kernels are compiled to: each instruction's line of the source, and registers where ptxas is there."""

import importlib.util

import pytest

from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.listing.client import Listings
from tilescope.tracer.listing.listing import INSTALL, Listing, ListingJob
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.recording import nvidia_files

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None,
    reason="numba-cuda is not installed: nothing can be compiled",
)


@pytest.fixture(scope="module")
def joined(tmp_path_factory):
    """Return the launch of a kernel with shared memory, and its listing."""
    launch = launch_of(find("load-joined"), {})
    return launch, Listings(tmp_path_factory.mktemp("listings")).compile(ListingJob(launch))


def line_of(launch, text):
    lines = launch.source.splitlines()
    start = next(n for n, line in enumerate(lines) if "def row_of_tile(" in line)
    return next(n for n, line in enumerate(lines[start:], start + 1) if text in line)


def test_each_instruction_of_ptx_names_its_line_of_the_source(joined):
    launch, listing = joined
    assert listing.reason == ""
    stores = {line.line for line in listing.ptx if line.text.startswith("st.global")}
    assert stores == {line_of(launch, "out[y, x] = t")}
    assert {line_of(launch, "t += s[y, k]")} == {
        n.line for n in listing.ptx if n.text.startswith("ld.shared")
    }
    assert any(line.text.startswith("bar") for line in listing.ptx)
    assert not any(line.text.startswith((".loc", "//")) for line in listing.ptx)


def test_sass_is_listed_with_registers_or_a_message_names_the_remedy(joined):
    launch, listing = joined
    if nvidia_files.ptxas() is None or nvidia_files.nvdisasm() is None:
        assert (listing.sass, listing.missing) == ((), INSTALL)
        return
    assert listing.missing == ""
    wide = [line for line in listing.sass if line.text.startswith("LDS.128")]
    assert wide
    assert {line.line for line in wide} == {line_of(launch, "t += s[y, k]")}
    assert 0 < max(line.registers for line in listing.sass) <= listing.registers
    assert listing.spills == 0


def test_a_listing_is_kept_for_all_launches_of_the_kernel(joined, tmp_path, monkeypatch):
    listings = Listings(tmp_path)
    first = listings.compile(ListingJob(launch_of(find("matmul-tiled"), {"m": 32, "k": 32, "n": 32})))
    monkeypatch.setattr(
        "tilescope.tracer.processes.process_client.JsonProcess",
        lambda *_: pytest.fail("it was compiled again"),
    )
    same = listings.compile(ListingJob(launch_of(find("matmul-tiled"), {"m": 32, "k": 32, "n": 32})))
    assert same == first


def test_a_kernel_that_numba_refuses_has_a_reason(tmp_path):
    import msgspec

    launch = launch_of(find("load-joined"), {})
    wrong = msgspec.structs.replace(
        launch, source=launch.source.replace("t += s[y, k]", "t += s[y, k].nothing")
    )
    listing = Listings(tmp_path).compile(ListingJob(wrong))
    assert "can't be compiled" in listing.reason
    assert listing.ptx == ()


def test_a_closed_client_answers_at_once(tmp_path):
    listings = Listings(tmp_path)
    listings.close()
    assert listings.compile(ListingJob(launch_of(find("load-joined"), {}))).reason
    assert isinstance(listings.compile(ListingJob(launch_of(find("jacobi-step"), {}))), Listing)
