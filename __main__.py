"""`python -m tilescope` is the `tilescope` command."""

import sys

from .app.cli.main import main

sys.exit(main())
