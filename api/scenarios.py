"""Trace the kernels that Tilescope ships, for lessons in notebooks."""

from __future__ import annotations

from ..app.model.first_bookmark import names_file, setups_of
from ..app.model.setup_launch import launch_of_setup
from ..kernels.scenarios.catalogue import CatalogueError
from ..tracer.run.worker_client import WorkerError
from .errors import TilescopeError
from .launches import TracedLaunch
from .replays import start_in_notebook
from .shared_worker import shared_worker


def scenario(spec: str) -> TracedLaunch:
    """Trace a scenario by its name and parameters: "matmul-tiled:m=16,k=16,n=16,tile=8".

    `tilescope list` prints the names. Raises TilescopeError.
    """
    if names_file(spec):
        raise TilescopeError(f"{spec} is a file; tilescope open shows it.")
    start_in_notebook()
    try:
        [setup] = setups_of([spec])
        traced = shared_worker().run(launch_of_setup(setup))
    except (CatalogueError, WorkerError) as error:
        sentence = str(error)
        raise TilescopeError(sentence[:1].upper() + sentence[1:]) from None
    return TracedLaunch(lambda: traced)
