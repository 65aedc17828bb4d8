"""`python -m tilescope` is the `tilescope` command."""

import sys

from .app.cli.entry import main

sys.exit(main())
