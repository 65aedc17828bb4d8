"""pytest in a folder of a user's, with Tilescope's plugin as it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from folders import ROOT
from patience import PATIENCE


def run_pytest(
    folder: Path, *words: str, module: tuple[str, ...] = ("pytest",), **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder; the plugin is found by the entry point that pyproject.toml declares.

    module: the module that runs pytest, with its first words. variables: of the environment.
    """
    info = folder / "installed" / "plugin-0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [f"{name} = {module}\n" for name, module in project["entry-points"]["pytest11"].items()]
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 0\n")
    (info / "entry_points.txt").write_text("[pytest11]\n" + "".join(lines))
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    environment |= {"PYTHONPATH": str(info.parent), "COLUMNS": "200"} | variables
    command = [sys.executable, "-m", *module, "-p", "no:cacheprovider", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=environment, timeout=PATIENCE, check=False
    )
