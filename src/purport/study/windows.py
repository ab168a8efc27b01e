"""Windows by name: what of its surroundings a word is seen with."""

from __future__ import annotations

from typing import Final

from purport.features.token_windows import TokenWindows

RICH: Final = TokenWindows(
    words=(-3, 3),
    conjunctions=((-2, -1), (-1, 0), (0, 1), (1, 2)),
    lengths=True,
    previous_words=6,
)
"""More of the words around than usual; the comparisons in `bench` start from it, too."""

WINDOWS: Final[dict[str, TokenWindows | None]] = {"default": None, "rich": RICH}
