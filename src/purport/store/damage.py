"""What is wrong with a model folder, said where it is found; `load` adds which folder it is."""

from __future__ import annotations


class DamagedError(Exception):
    """Something in a model folder is not what `save` wrote; becomes a `ModelCorruptError`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
