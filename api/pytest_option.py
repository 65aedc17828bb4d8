"""The option `--tilescope` of pytest; the checks are imported only if it is given."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .launches import TracedLaunch

VARIABLE = "TILESCOPE"  # the environment variable that stands for the option
CHECKS = "tilescope-checks"  # the name of the plugin that checks
MARKER = "tilescope(ignore=[codes]): accept findings of these rules in a test under pytest --tilescope"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tilescope", "checks of CUDA kernels")
    group.addoption(
        "--tilescope",
        action="store_true",
        help="trace the launches of all tests without a GPU, and fail tests with findings; also TILESCOPE=1",
    )
    group.addoption(
        "--tilescope-fail-on",
        choices=("error", "warning"),
        default="error",
        help="the least severity of findings that fail a test",
    )
    group.addoption(
        "--tilescope-update-snapshots",
        action="store_true",
        help="write the files of launch.assert_counters(FILE) in place of comparing with them",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start recording before a conftest.py imports Numba; under `tilescope check -m pytest`, that command checks."""
    chosen = early_config.known_args_namespace
    if not (chosen.tilescope or os.environ.get(VARIABLE, "0") not in ("", "0")):
        return
    from ..tracer.run.program_hook import is_recording

    if not is_recording():
        from .pytest_checks import LaunchChecks

        checks = LaunchChecks(early_config.rootpath, chosen.tilescope_fail_on)
        early_config.pluginmanager.register(checks, CHECKS)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("tilescope_update_snapshots"):
        from .counter_snapshots import UPDATE

        os.environ[UPDATE] = "1"
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def tilescope_launches(request: pytest.FixtureRequest) -> list[TracedLaunch]:
    """The launches that the test has made so far, which grow as it makes more; skips without `--tilescope`."""
    checks = request.config.pluginmanager.get_plugin(CHECKS)
    if checks is None:
        pytest.skip("tilescope_launches needs pytest --tilescope")
    launches: list[TracedLaunch] = checks.launches
    return launches
