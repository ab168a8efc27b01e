"""The kinds of click models, and where each keeps the parameters that all pages share.

Every model has an attractiveness for each pair of a query and a document; some have a satisfaction,
too. What all pages share stands in one vector of cells, whose meaning a kind decides.

Ranks count from 0. Deeper than R - 1 they share the cells of rank R - 1.

Symbols: R ranks with cells of their own, M cells.
"""

from __future__ import annotations

from dataclasses import dataclass

UBM, PBM, DBN, CCM, DCM, SDBN, CASCADE, GCTR, RCTR, DCTR = range(10)


@dataclass(frozen=True)
class Kind:
    """What a model is made of.

    Attributes
    ----------
    number : int
        What kernels know it by.
    has_pairs : bool
        Whether pairs have an attractiveness.
    satisfies : bool
        Whether pairs have a satisfaction, too.
    counts : bool
        Whether all that is counted is seen, so that one pass over the data is enough.
    by_cell : bool
        Whether a page says no more than which cell and which pair was clicked or not, how often.
    """

    number: int
    has_pairs: bool = True
    satisfies: bool = False
    counts: bool = False
    by_cell: bool = False

    def cells(self, ranks: int) -> int:
        """Return M for R ranks.

        Examples
        --------
        >>> KINDS["UBM"].cells(10), KINDS["PBM"].cells(10), KINDS["CCM"].cells(10)
        (110, 10, 3)
        """
        if self.number == UBM:
            return ranks * (ranks + 1)
        if self.number in (PBM, DCM, RCTR):
            return ranks
        return {DBN: 1, CCM: 3, GCTR: 1}.get(self.number, 0)


KINDS = {
    "UBM": Kind(UBM, by_cell=True),
    "PBM": Kind(PBM, by_cell=True),
    "DBN": Kind(DBN, satisfies=True),
    "CCM": Kind(CCM),
    "DCM": Kind(DCM, counts=True),
    "SDBN": Kind(SDBN, satisfies=True, counts=True),
    "CascadeModel": Kind(CASCADE, counts=True),
    "GCTR": Kind(GCTR, has_pairs=False, counts=True),
    "RCTR": Kind(RCTR, has_pairs=False, counts=True),
    "DCTR": Kind(DCTR, counts=True),
}
"""Each kind by the name of its model."""
