"""The catalogue: names, parameters, the user's files, the reference and its tolerance."""

import hashlib
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilescope.kernels.scenarios.catalogue import CatalogueError, find, groups, names, scenarios, settle
from tilescope.kernels.scenarios.matmul_scenarios import (
    INTEGERS,
    MATMULS,
    matrix_file,
    product,
    product_tolerance,
)
from tilescope.tracer.model.launch import Limits, Schedule, decode, encode
from tilescope.tracer.model.plan import SPEC_OPTIONS, PlanError, kernel_source, launch_of, parse_spec

NAIVE, TILED = "matmul-naive-row-on-x", "matmul-tiled"
sizes = st.integers(1, 4096)


@pytest.fixture
def npy(tmp_path, monkeypatch):
    """Save arrays as .npy files in the working folder: npy(name, array) returns the path."""
    monkeypatch.chdir(tmp_path)

    def save(name, array):
        np.save(tmp_path / name, array)
        return name

    return save


def refusal(call, *arguments, **options):
    """Return the sentence with which a call is refused."""
    with pytest.raises(CatalogueError) as refused:
        call(*arguments, **options)
    text = str(refused.value)
    assert "\n" not in text
    assert text[-1] in ".?"
    return text


@pytest.mark.parametrize("scenario", scenarios(), ids=names())
def test_every_scenario_is_complete(scenario):
    assert " " not in scenario.name
    assert scenario.lesson.count(". ") == 0
    assert {"result"} <= set(scenario.roles.values()) <= {"left", "above", "result"}
    launch = launch_of(scenario, {})
    function = launch.kernel.partition(":")[2]
    assert re.search(rf"\b(?:def|void) {function}\(", launch.source)
    assert launch.resident == scenario.resident
    assert decode(encode(launch)) == launch
    assert scenario.group
    assert bool(scenario.pitfall) == (scenario.group == "Pitfalls")
    assert scenario in groups()[scenario.group]
    for values in (*scenario.timed, *scenario.works, *scenario.breaks):
        launch_of(scenario, values)


@pytest.mark.parametrize("scenario", MATMULS, ids=lambda scenario: scenario.name)
def test_the_products_have_a_thread_for_each_element_of_c(scenario):
    launch = launch_of(scenario, {})
    assert launch.resident == 1
    # Every thread of C, and no row or column of blocks too many.
    covered = [count * width for count, width in zip(launch.grid, launch.block, strict=True)]
    assert covered == [64, 64, 1]


@given(m=sizes, n=sizes, tile=st.sampled_from([2, 4, 8, 16, 32]))
def test_grid_covers_the_result_once(m, n, tile):
    for scenario in MATMULS:
        launch = launch_of(scenario, {"m": m, "n": n, "tile": tile})
        rows, columns = launch.grid[:2] if scenario.name == NAIVE else launch.grid[1::-1]
        assert (rows - 1) * tile < m <= rows * tile
        assert (columns - 1) * tile < n <= columns * tile
        assert launch.block == (tile, tile, 1)
        pitch = {"PITCH": tile} if scenario.name == TILED else {}
        assert launch.constants == {"TILE": tile, "DTYPE": "float32", **pitch}


def test_arguments_follow_the_parameters():
    values = {"m": 3, "k": 4, "n": 5, "dtype": "int16", "input": "arange"}
    a, b, c = launch_of(find(TILED), values).arguments
    assert [array.shape for array in (a, b, c)] == [(3, 4), (4, 5), (3, 5)]
    assert {array.dtype for array in (a, b, c)} == {"int16"}
    assert [array.fill for array in (a, b, c)] == ["arange", "arange", "empty"]


@pytest.mark.parametrize(
    ("types", "of_c"),
    [
        (("int64", "float64"), "float64"),
        (("float16", "float32"), "float32"),
        (("int8", "uint8"), "int16"),
        (("int32", "float32"), "float64"),
        (("uint64", "int64"), "float64"),
        (("int8", "float16"), "float16"),
        (("uint16", "same"), "uint16"),
    ],
)
def test_a_and_b_may_be_of_two_types_and_c_and_the_tiles_are_of_the_one_that_numpy_gives(types, of_c):
    launch = launch_of(find(TILED), {"dtype": types[0], "dtype_b": types[1]})
    of_b = types[0] if types[1] == "same" else types[1]
    assert [array.dtype for array in launch.arguments] == [types[0], of_b, of_c]
    assert launch.constants["DTYPE"] == of_c
    dynamic = launch_of(find("matmul-tiled-dynamic"), {"dtype": types[0], "dtype_b": types[1]})
    assert dynamic.shared_bytes == 2 * 16 * 16 * np.dtype(of_c).itemsize


def test_types_follow_the_files_and_the_options(npy):
    a, b = npy("a.npy", np.ones((4, 4), np.int64)), npy("b.npy", np.ones((4, 4), np.float64))
    for values, types in (
        ({"a": a, "b": b}, ("int64", "float64", "float64")),
        ({"a": a}, ("int64", "int64", "int64")),
        ({"b": b}, ("float64", "float64", "float64")),
        ({"b": b, "dtype": "int32", "dtype_b": "int8"}, ("int32", "float64", "float64")),
        ({"a": a, "dtype_b": "float32"}, ("int64", "float32", "float64")),
    ):
        arguments = launch_of(find(TILED), {"m": 4, "k": 4, "n": 4, **values}).arguments
        assert tuple(array.dtype for array in arguments) == types, values


def test_settle_gives_defaults_and_numbers():
    values = settle(find(TILED), {"m": "100", "tile": "32"})
    assert values["m"] == 100
    assert values["tile"] == 32
    assert values["k"] == 64
    assert values["dtype"] == "float32"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"m": "ten"}, ["m of matmul-tiled", "whole number from 1 to 4096", "'ten'"]),
        ({"k": 0}, ["k of matmul-tiled", "1 to 4096", "0"]),
        ({"n": 4097}, ["n of matmul-tiled", "1 to 4096", "4097"]),
        ({"n": "3.5"}, ["n of matmul-tiled", "'3.5'"]),
        ({"tile": "12"}, ["tile of matmul-tiled", "2, 4, 8, 16 or 32", "'12'"]),
        ({"dtype": "float"}, ["dtype of matmul-tiled", "float32", "'float'"]),
        ({"tiel": 8}, ["'tiel'", "did you mean tile?"]),
    ],
)
def test_wrong_values_get_one_clear_sentence(values, words):
    text = refusal(settle, find(TILED), values)
    assert all(word in text for word in words), text


def test_a_scenario_without_parameters_is_reported():
    text = refusal(settle, find("barrier-three-threads"), {"m": 3})
    assert text == "barrier-three-threads has no parameter 'm'; there are none."


def test_unknown_scenarios_get_suggestions():
    assert "did you mean matmul-tiled, workitem-tiled or" in refusal(find, "tiled")
    assert "matmul-tiled" in refusal(find, "matmul-tield")
    text = refusal(find, "sort")
    assert all(name in text for name in names())


def test_files_give_sizes_type_and_digest(npy):
    a = npy("a.npy", np.ones((5, 23), np.float64))
    b = npy("b.npy", np.ones((23, 7), np.float64))
    launch = launch_of(find(TILED), {"a": a, "b": b})
    first, second, result = launch.arguments
    assert (first.shape, second.shape, result.shape) == ((5, 23), (23, 7), (5, 7))
    assert first.dtype == result.dtype == launch.constants["DTYPE"] == "float64"
    with Path(a).open("rb") as file:
        assert first.digest == hashlib.file_digest(file, "sha256").hexdigest()


def test_one_file_leaves_the_other_matrix_to_the_parameters(npy):
    path = npy("b.npy", np.ones((9, 4), np.int32))
    a, b, c = launch_of(find(TILED), {"m": 6, "b": path, "input": "ones"}).arguments
    assert (a.shape, b.shape, c.shape) == ((6, 9), (9, 4), (6, 4))
    assert (a.fill, b.fill, a.dtype) == ("ones", "file", "int32")


def test_a_changed_file_is_another_launch(npy):
    path = npy("a.npy", np.zeros((4, 4), np.float32))
    before = launch_of(find(TILED), {"a": path})
    npy("a.npy", np.ones((4, 4), np.float32))
    assert launch_of(find(TILED), {"a": path}).key() != before.key()


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros(5, np.float32), ["bad.npy", "1 dimensions"]),
        (np.zeros((2, 3, 4), np.float32), ["bad.npy", "3 dimensions"]),
        (np.zeros((2, 3), np.bool_), ["bad.npy", "|b1"]),
        (np.zeros((2, 3), ">f4"), ["bad.npy", ">f4"]),
        (np.zeros((2, 3), "U4"), ["bad.npy", "<U4"]),
        (np.zeros((2, 3), "f4,i4"), ["bad.npy", "float32"]),
        (np.zeros((5000, 1), np.int8), ["bad.npy", "5000 x 1", "4096"]),
        (np.zeros((0, 3), np.float32), ["bad.npy", "0 x 3"]),
        (np.array([[{}]], object), ["bad.npy", "numpy.save"]),
    ],
    ids=["vector", "cube", "bool", "big-endian", "text", "records", "large", "empty", "pickle"],
)
def test_unfit_matrices_are_refused(npy, array, words):
    text = refusal(launch_of, find(TILED), {"a": npy("bad.npy", array)})
    assert all(word in text for word in words), text


def test_matrices_that_do_not_match_are_refused(npy):
    a = npy("a.npy", np.ones((4, 5), np.float32))
    assert "5 columns" in refusal(launch_of, find(TILED), {"a": a, "b": npy("b.npy", np.ones((6, 4), "f4"))})


def test_missing_files_and_invalid_arrays_are_refused(npy, tmp_path):
    assert "gone.npy" in refusal(launch_of, find(TILED), {"a": "gone.npy"})
    assert "cannot be read" in refusal(launch_of, find(TILED), {"a": str(tmp_path)})
    (tmp_path / "empty.npy").touch()
    assert "empty.npy" in refusal(launch_of, find(TILED), {"a": "empty.npy"})
    np.savez(tmp_path / "many.npz", a=np.ones((2, 2)))
    assert "archive" in refusal(launch_of, find(TILED), {"a": "many.npz"})


@given(data=st.data())
def test_a_damaged_file_is_never_more_than_a_sentence(data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "damaged.npy"
    np.save(path, np.arange(12, dtype=np.float32).reshape(3, 4))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        shape, dtype = matrix_file(str(path))
    except CatalogueError as error:
        assert "damaged.npy" in str(error)
    else:
        assert math.prod(shape) * np.dtype(dtype).itemsize <= len(content)


@given(
    st.sampled_from(INTEGERS), st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 6), st.integers(1, 6)
)
def test_integer_products_wrap_as_the_device_does(dtype, seed, m, k, n):
    info = np.iinfo(dtype)
    random = np.random.default_rng(seed)
    a = random.integers(info.min, info.max, (m, k), dtype, endpoint=True)
    b = random.integers(info.min, info.max, (k, n), dtype, endpoint=True)
    exact = a.astype(object) @ b.astype(object)
    wrapped = [[int(value) % 2**info.bits for value in row] for row in exact]
    result = product({"a": a, "b": b})["c"]
    assert result.dtype == dtype
    assert [[int(value) % 2**info.bits for value in row] for row in result] == wrapped
    assert product_tolerance({"a": a, "b": b}) == 0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@given(seed=st.integers(0, 2**32), k=st.integers(1, 200), scale=st.sampled_from([1e-3, 1.0, 30.0]))
def test_the_tolerance_lets_rounding_pass_and_one_lost_product_not(dtype, seed, k, scale):
    random = np.random.default_rng(seed)
    a = (random.uniform(0.5, 1, (2, k)) * scale).astype(dtype)
    b = (random.uniform(0.5, 1, (k, 3)) / scale).astype(dtype)
    expected = product({"a": a, "b": b})["c"]
    total = np.zeros((2, 3), dtype)
    for i in range(k):
        total = (total + a[:, i : i + 1] * b[i]).astype(dtype)
    tolerance = product_tolerance({"a": a, "b": b})
    assert np.abs(total - expected).max() <= tolerance
    if dtype != "float16":
        assert np.abs(expected - a[:, :-1].astype(float) @ b[:-1].astype(float)).min() > tolerance


def test_a_spec_round_trips():
    scenario, values, options = parse_spec(
        "matmul-tiled:m=64,tile=8,schedule=random,resident=4,blocks=5+0,seed=3"
    )
    launch = launch_of(scenario, values, **options)
    assert launch.scenario == TILED
    assert launch.block == (8, 8, 1)
    assert launch.schedule == Schedule("random", 3)
    assert launch.resident == 4
    assert launch.blocks == (0, 5)
    assert launch.limits == Limits()


def test_a_bare_spec_is_the_scenario_as_it_is_taught():
    scenario, values, options = parse_spec(TILED)
    assert launch_of(scenario, values, **options) == launch_of(find(TILED), {})


def test_resident_all_is_as_many_as_fit():
    scenario, values, options = parse_spec("matmul-tiled:resident=all")
    assert launch_of(scenario, values, **options).resident is None


def test_the_seed_changes_random_inputs_and_no_others():
    seeds = [launch_of(find(TILED), {}, schedule=Schedule(seed=seed)).arguments for seed in (0, 1)]
    assert len({array.seed for arrays in seeds for array in arrays[:2]}) == 4
    ones = [launch_of(find(TILED), {"input": "ones"}, schedule=Schedule(seed=s)).arguments for s in (0, 1)]
    assert ones[0] == ones[1]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("matmul-tiled:", "write matmul-tiled:m=64"),
        ("matmul-tiled:m", "'m'"),
        ("matmul-tiled:m=", "'m='"),
        ("matmul-tiled:m=1,m=2", "m is given twice"),
        ("matmul-tiled:size=3", "no parameter 'size'"),
        ("matmul-tiled:schedul=random", "did you mean schedule?"),
        ("matmul-tiled:schedule=fast", "lockstep, sequential, random, measured or order:TEXT"),
        ("matmul-tiled:seed=-1", "seed of matmul-tiled"),
        ("matmul-tiled:resident=0", "resident of matmul-tiled"),
        ("matmul-tiled:blocks=1+x", "block of matmul-tiled"),
        ("matmul-tiled:m=x", "m of matmul-tiled"),
        ("tiled", "did you mean matmul-tiled,"),
        ("", "no scenario"),
    ],
)
def test_wrong_specs_get_one_clear_sentence(spec, words):
    assert words in refusal(parse_spec, spec)


def test_blocks_outside_the_grid_are_refused():
    assert "0 to 15" in refusal(launch_of, find(TILED), {}, blocks=[16])
    with pytest.raises(PlanError):
        launch_of(find(TILED), {}, blocks=[])


def test_source_of_a_users_kernel(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("# π\n", encoding="utf-8")
    assert kernel_source(f"{file}:kernel") == (file, "# π\n")
    assert "gone.py" in refusal(kernel_source, "gone.py:kernel")
    assert "not a kernel" in refusal(kernel_source, "mine.py")
    assert "not a module" in refusal(kernel_source, "os.path:join")
    file.write_bytes(b"\xff")
    assert "UTF-8" in refusal(kernel_source, f"{file}:kernel")


def test_no_parameter_has_the_name_of_an_option():
    for scenario in scenarios():
        assert not {p.name for p in scenario.parameters} & set(SPEC_OPTIONS), scenario.name
