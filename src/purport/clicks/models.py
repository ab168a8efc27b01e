"""The click models, by name."""

from __future__ import annotations

from purport.clicks.model import ClickModel


class UBM(ClickModel):
    """User browsing model: examination depends on the rank and on where the last click was."""


class PBM(ClickModel):
    """Position-based model: examination depends on the rank alone."""


class DBN(ClickModel):
    """Dynamic Bayesian network: people read down until a clicked result satisfies them."""


class CCM(ClickModel):
    """Click chain model: whether people read on depends on how relevant what they clicked was."""


class DCM(ClickModel):
    """Dependent click model: after a click people read on with a chance of its rank."""


class SDBN(ClickModel):
    """Simplified DBN: people read on until they are satisfied."""


class CascadeModel(ClickModel):
    """Cascade model: people read down to the first result that attracts them, and stop."""


class GCTR(ClickModel):
    """One click rate for everything."""


class RCTR(ClickModel):
    """A click rate for each rank."""


class DCTR(ClickModel):
    """A click rate for each pair of a query and a document."""
