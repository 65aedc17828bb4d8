"""The first lines of the `tilescope` command: Ctrl+C ends it quietly while its modules are imported."""

from .common.interrupts import immediate_interrupts


def main() -> int:
    """Import the command line, run it, and return its exit status."""
    with immediate_interrupts():
        from .main import main as run_command
    return run_command()
