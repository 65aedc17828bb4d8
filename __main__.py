"""`python -m tilescope` is the `tilescope` command."""

import sys

from .app.cli import main

sys.exit(main())
