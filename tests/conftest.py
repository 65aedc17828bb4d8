"""Shared set-up of all tests: Qt without a screen, separate folders, and the mark of the tests that run kernels."""

import gc
import os
import shutil
import signal
import textwrap
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from folders import link_caches, new_folder, remove_folders_of_killed_tests

# Set before any test imports Qt. A test that wants a real screen starts its own and says so.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_NO_GUI_THREADPOOL", "1")  # as the window does
os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # set before any test imports Numba; tests of programs remove it

# Programs print through a buffer, and hundreds of processes don't each compile all modules anew, as for most users,
# whatever this machine has set.
os.environ.pop("PYTHONUNBUFFERED", None)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# What a shell starts in the background ignores Ctrl+C, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Neither the user's settings nor traces that another version left in the cache may take part.
remove_folders_of_killed_tests()
HOME = new_folder()
os.environ["TILESCOPE_HOME"] = HOME

# Of two processes of tests each has its folder; what was compiled is shared, as by windows of one user.
link_caches(Path(HOME), Path(os.environ.setdefault("TILESCOPE_TESTS_SHARED", HOME)))

# Hypothesis would fail a test whose example takes 0.2 s, as some do on a busy machine.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
# Fewer random kernels than hypothesis makes by itself; script/test chooses it with --hypothesis-profile.
settings.register_profile("few", settings.get_profile("patient"), max_examples=20)

# Tests whose subject depends on which numba.cuda there is: numba-cuda's, or Numba's own simulator. What follows from a
# trace does not.
ENGINE = (
    "tracer/simulator",
    "tracer/recording",
    "tracer/compiled/test_dates.py",
    "tracer/compiled/test_engine.py",
    "tracer/compiled/test_launch_constants.py",
    "tracer/compiled/test_less_common.py",
    "tracer/compiled/test_more_of_python.py",
    "tracer/compiled/test_random_kernels.py",
    "tracer/compiled/test_records.py",
    "tracer/compiled/test_same_traces.py",
    "tracer/compiled/test_signatures.py",
    "tracer/findings/test_float64.py",
    "tracer/hardware/accesses/test_marked_kernels.py",
    "tracer/run/test_launches.py",
    "kernels/test_results.py",
    "app/cli/programs/test_as_in_numba.py",
    "app/cli/programs/test_float64.py",
    "app/cli/programs/test_host_functions.py",
    "app/cli/programs/test_out_of_bounds.py",
    "app/cli/programs/test_programs.py",
    "app/cli/programs/test_programs_that_went_wrong.py",
    "app/cli/programs/test_typed_programs.py",
    "api/test_tracing.py",
)
# Files that take longest, which go first: a process that began one of them last would leave the other idle.
LONGEST = (
    "docs/test_blocks.py",
    "tracer/compiled/test_random_kernels.py",
    "app/cli/programs/test_programs_that_went_wrong.py",
    "app/cli/checks/test_endless_launches.py",
    "app/cli/programs/test_typed_programs.py",
    "tracer/compiled/test_same_traces.py",
    "api/test_pytest_option.py",
    "app/cli/programs/test_engines.py",
    "tracer/cuda_cpp/test_api.py",
    "attacks/test_attacks.py",
    "app/cli/checks/test_endings.py",
    "kernels/test_results.py",
    "tracer/cuda_cpp/test_homework.py",
    "tracer/orders/test_explore.py",
    "app/cli/policy/test_suppressions.py",
    "app/cli/test_cuda_cpp_programs.py",
    "kernels/test_matrix_products.py",
    "app/timings/test_window.py",
    "app/editing/test_live_editing.py",
    "app/cli/programs/test_schedules.py",
    "app/cli/test_counter_tables.py",
    "app/cli/checks/test_check_catalogue.py",
    "app/cli/programs/test_several_programs.py",
    "app/cli/checks/test_partial_launches.py",
    "app/cli/programs/test_programs.py",
    "tracer/simulator/test_arithmetic.py",
    "tracer/recording/test_fixed_width_ints.py",
    "tracer/run/test_endless.py",
    "tracer/model/test_user_code.py",
    "tracer/compiled/test_intake.py",
    "app/cli/test_render.py",
    "app/cli/test_main.py",
    "app/window/test_toolbar.py",
)
HERE = Path(__file__).resolve().parent
# What numba-cuda compiles and Numba's own, older CUDA target does not: methods of arrays, bit_count(), min and max,
# print of arrays, NumPy's functions. There such kernels are refused or run untyped.
COMPILED_BY_NUMBA_CUDA = (
    "app/cli/programs/test_host_functions.py::test_programs_run_with_what_simulators_lack[ufuncs]",
    "app/cli/programs/test_typed_programs.py::test_is_checked_and_runs_in_the_simulator_as_on_a_gpu[array_method_in_kernel.py]",
    "app/cli/programs/test_typed_programs.py::test_is_checked_and_runs_in_the_simulator_as_on_a_gpu[device_array_by_name.py]",
    "app/cli/programs/test_typed_programs.py::test_is_checked_and_runs_in_the_simulator_as_on_a_gpu[np_sqrt_in_kernel.py]",
    "app/cli/programs/test_typed_programs.py::test_runs_compiled_as_on_a_gpu[array_method_in_kernel.py]",
    "app/cli/programs/test_typed_programs.py::test_runs_compiled_as_on_a_gpu[device_array_by_name.py]",
    "app/cli/programs/test_typed_programs.py::test_runs_compiled_as_on_a_gpu[np_sqrt_in_kernel.py]",
    "tracer/compiled/test_engine.py::test_the_simulator_takes_over_and_reports_the_reason",
    "tracer/compiled/test_launch_constants.py::test_numbers_that_only_affect_values_share_code[functions]",
    "tracer/compiled/test_more_of_python.py::test_alignment_changes_nothing_that_is_seen",
    "tracer/compiled/test_more_of_python.py::test_bits_that_are_set",
    "tracer/recording/test_fixed_width_ints.py::test_a_program_prints_the_output_of_an_h200[simulator]",
    "tracer/simulator/test_arithmetic.py::test_kernels_compute_the_results_of_an_h200[simulator",
    "tracer/simulator/test_arithmetic.py::test_random_arithmetic_is_numbas[simulator",
    "tracer/simulator/test_typed_ir.py::test_a_kernel_that_numba_refuses_does_not_run",
    "tracer/simulator/test_typed_ir.py::test_methods_of_arrays_load_each_element",
)


def pytest_unconfigure() -> None:
    """Remove what the tests left in the folders."""
    shutil.rmtree(HOME, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without looking for garbage; what is there then, a million objects, is not looked at again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests in ENGINE as `engine`, and put the files of LONGEST first."""
    turn = {HERE / name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: turn.get(item.path, len(LONGEST)))
    for item in items:
        if any(item.path.is_relative_to(HERE / folder) for folder in ENGINE):
            item.add_marker("engine")
        name = f"{item.path.relative_to(HERE).as_posix()}::{item.name}"
        if find_spec("numba_cuda") is None and name.startswith(COMPILED_BY_NUMBA_CUDA):
            item.add_marker(
                pytest.mark.skip("numba-cuda compiles it, Numba's own older CUDA target does not")
            )


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes a text as a user's program and returns its path."""

    def write(text: str) -> Path:
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(text))
        return path

    return write
