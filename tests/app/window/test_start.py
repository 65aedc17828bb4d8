"""How Qt is loaded: what PySide tells and offers stays as it is, whatever is kept of its code."""

import os
import subprocess
import sys

import pytest

MISUSED = """
from PySide6.QtCore import QTimer
try:
    QTimer(interval=1).setInterval("soon", 2)
except TypeError as error:
    print(error)
from PySide6.support.signature.lib import pyi_generator
print(pyi_generator.Formatter.__name__, pyi_generator.generate_pyi.__name__)
"""


@pytest.fixture
def loaded(tmp_path):
    """Return what a process prints that loads Qt and misuses it."""

    def told(statement):
        command, environment = (
            [sys.executable, "-P", "-c", statement + MISUSED],
            os.environ | {"TILESCOPE_HOME": str(tmp_path)},
        )
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    return told


def test_qt_is_the_same_with_kept_code_and_without(loaded, tmp_path):
    plain, quick = "import PySide6.QtWidgets", "from tilescope.app.window.start import load_qt; load_qt()"
    expected = loaded(plain)
    assert "setInterval" in expected
    assert "generate_pyi" in expected
    assert loaded(quick) == expected
    (kept,) = (tmp_path / "cache").iterdir()
    before = kept.stat().st_mtime_ns
    assert loaded(quick) == expected
    assert kept.stat().st_mtime_ns == before
