"""The default of a callable that a part calls for its owner."""


def nothing(*_: object) -> None:
    """Do nothing."""
