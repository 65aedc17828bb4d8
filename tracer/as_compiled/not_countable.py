"""Why the counters as compiled of a launch are not known."""


class NotCountableError(Exception):
    """A launch whose compiled code can't be counted here; the text is one sentence."""
