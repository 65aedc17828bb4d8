"""The process that compiles kernels to PTX and SASS: jobs in, listings out, a line of JSON each.

It needs Numba's real CUDA target, so the simulator must be off. It needs no GPU.
"""

from __future__ import annotations

import os
import warnings

from ..processes.json_streams import make_sender, private_streams
from ..processes.parent_death import die_with_parent
from .listing import JOB


def main() -> None:
    """Answer each job in turn."""
    os.environ.pop("NUMBA_ENABLE_CUDASIM", None)  # Numba reads it only once, at import
    os.environ["NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING"] = "1"
    warnings.simplefilter("ignore")
    die_with_parent()
    source, target = private_streams()
    send = make_sender(target)
    from ..type_inference.process import import_submodules

    import_submodules()
    from .compiling import listing

    for line in source:
        send(listing(JOB.decode(line)))


if __name__ == "__main__":
    main()
