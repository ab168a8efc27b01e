"""Working memory that each thread keeps, so that hot loops never ask for pages anew."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Scratch(threading.local):
    """Named float64 arrays, one set a thread; they hold whatever was left in them."""

    def __init__(self) -> None:
        self._buffers: dict[str, NDArray[np.float64]] = {}

    def array(self, name: str, *shape: int) -> NDArray[np.float64]:
        """Return a contiguous array of this shape over the buffer of this name."""
        size = math.prod(shape)
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) < size:
            buffer = np.empty(size)
            self._buffers[name] = buffer
        return buffer[:size].reshape(shape)
