"""The process that counts launches as compiled: jobs in, counters out, a line of JSON each.

It needs Numba's real CUDA target, so the simulator must be off. It needs neither GPU nor CUDA toolkit. Compiled
kernels run in it, and a crash ends it: the client starts another one (`client.py`).
"""

from __future__ import annotations

import os
import warnings

from ...processes.json_streams import make_sender, private_streams
from ...processes.parent_death import die_with_parent
from ..job import JOB


def main() -> None:
    """Answer each job in turn."""
    os.environ.pop("NUMBA_ENABLE_CUDASIM", None)  # Numba reads it only once, at import
    os.environ["NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING"] = "1"
    os.environ["NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"] = "0"
    warnings.simplefilter("ignore")
    die_with_parent()
    source, target = private_streams()
    send = make_sender(target)
    from ...type_inference.process import import_submodules

    import_submodules()
    from .count import count

    for line in source:
        send(count(JOB.decode(line)))


if __name__ == "__main__":
    main()
