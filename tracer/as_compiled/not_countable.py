"""Exception for launches without counters as compiled."""


class NotCountableError(Exception):
    """A launch whose compiled code can't be counted here; the text is one sentence."""
