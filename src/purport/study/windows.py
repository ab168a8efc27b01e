"""Windows by name: what of its surroundings a word is seen with."""

from __future__ import annotations

from typing import Final

from purport.features.token_windows import TokenWindows

WINDOWS: Final[dict[str, TokenWindows | None]] = {
    "default": None,
    "rich": TokenWindows(
        words=(-3, 3),
        conjunctions=((-1, 0), (0, 1), (-2, -1), (1, 2), (-1, 0, 1), (-2, -1, 0)),
        prefixes=(1, 2, 3, 4),
        suffixes=(1, 2, 3, 4),
        shapes=True,
        attribute_window=(-1, 1),
    ),
}
