"""The import of pyqtgraph: it makes no copies of Qt's names, and what it leaves out can still be imported."""

from __future__ import annotations

import subprocess
import sys

from patience import PATIENCE

PROGRAM = """
import sys
from PySide6 import QtWidgets
from tilescope.app.views.plotting.library import pg

assert "QWizard" not in vars(sys.modules["pyqtgraph.Qt.QtWidgets"])
assert pg.QtWidgets.QWizard is QtWidgets.QWizard
assert "pyqtgraph.widgets.SpinBox" not in sys.modules
from pyqtgraph.widgets.SpinBox import SpinBox

QtWidgets.QApplication([])
box = SpinBox(value=3)
assert box.value() == 3
"""


def test_names_of_qt_and_other_widgets_are_imported_when_they_are_used():
    subprocess.run([sys.executable, "-W", "error", "-c", PROGRAM], check=True, timeout=PATIENCE)
