"""The click models, by name: what each believes of people who look at a page of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from purport.clicks.model import ClickModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class UBM(ClickModel):
    """User browsing model: what is looked at depends on the rank and on where the last click was.

    A result is clicked if it is examined and attracts. How likely it is examined is a cell of its
    rank and of the rank of the last click above it, R (R + 1) in all. As a rule it foretells best
    what is clicked next, given the clicks above. Learnt by EM on counts, so that long logs are
    fast.

    Parameters
    ----------
    prior : "learned" or (float, float), default "learned"
        What stands beside the sums of every parameter. With ``"learned"`` pages that are kept back
        in turns choose what to expect of pairs by their rank and query, and how firmly; a pair
        (mean, strength) expects the mean of all parameters and counts as so many results.
    ranks : int, optional
        So many ranks have cells of their own; those below share the cells of the last one. None
        takes the length of the longest page, at least 10 and at most 50.
    shards : int, default 8
        Parts into which queries are dealt, each of which has one writer in `update`.
    sync_every : int, default 8192
        After so many pages of `update` the writers tell each other what they learnt of cells.
    max_pairs : int, optional
        So many pairs are kept at most; those with the least evidence go first.
    window : int, default 100000
        A page whose id is among so many last ones is left out; 0 takes all.
    n_threads : int, optional
        Threads; None takes all cores. The result does not depend on it.
    verbose : bool, "bar" or "lines", default False
        Show progress.

    Attributes
    ----------
    examination_ : (R, R + 1) float64
        The chance to be examined: at a rank, after no click (column 0) or after the last one at
        rank k (column k + 1). What cannot be, a last click further down, has what is expected.
    n_pairs_ : int
        How many pairs of a query and a document were met.
    history_ : list of dict
        One a round of `fit`: change (by how much cells moved, the mean over their uses), seconds.
    converged_ : bool
        Whether `fit` came to its end; False after an interruption, or at `max_iter`.
    pages_seen_, dropped_ : int
        How many pages were learnt from, and how many left out as they came twice.
    rate_, rates_tried_ : float, dict
        After ``update(forget="auto")``: the rate in use, and what each has foretold.

    Examples
    --------
    >>> from purport.records.pages import Pages
    >>> clicks = [[0, 1, 0], [1, 0, 0], [0, 1, 1]]
    >>> pages = Pages.from_lists(["cats"] * 3, [["a", "b", "c"]] * 3, clicks)
    >>> model = UBM(prior=(0.5, 2.0), ranks=3).fit(pages)
    >>> model.examination_.round(2).tolist()
    [[0.54, 0.5, 0.5, 0.5], [0.75, 0.38, 0.5, 0.5], [0.5, 0.41, 0.6, 0.5]]
    >>> model.click_probabilities(pages[0]).round(2).tolist()
    [[0.29, 0.46, 0.29]]
    """

    @property
    def examination_(self) -> NDArray[np.float64]:
        """The chance to be examined by rank and last click (R, R + 1)."""
        return self._cells().reshape(-1, self._state.ranks + 1)


class PBM(ClickModel):
    """Position-based model: what is looked at depends on the rank alone.

    A result is clicked if it is examined and attracts; how likely it is examined is a cell of its
    rank, R in all. Takes position bias out of clicks with the fewest assumptions, and tells its
    size by rank; what was clicked above does not count. Learnt by EM on counts.

    Parameters
    ----------
    prior : "learned" or (float, float), default "learned"
        What stands beside the sums of every parameter. With ``"learned"`` pages that are kept back
        in turns choose what to expect of pairs by their rank and query, and how firmly; a pair
        (mean, strength) expects the mean of all parameters and counts as so many results.
    ranks : int, optional
        So many ranks have cells of their own; those below share the cells of the last one. None
        takes the length of the longest page, at least 10 and at most 50.
    shards : int, default 8
        Parts into which queries are dealt, each of which has one writer in `update`.
    sync_every : int, default 8192
        After so many pages of `update` the writers tell each other what they learnt of cells.
    max_pairs : int, optional
        So many pairs are kept at most; those with the least evidence go first.
    window : int, default 100000
        A page whose id is among so many last ones is left out; 0 takes all.
    n_threads : int, optional
        Threads; None takes all cores. The result does not depend on it.
    verbose : bool, "bar" or "lines", default False
        Show progress.

    Attributes
    ----------
    examination_ : (R,) float64
        The chance to be examined at each rank.
    n_pairs_ : int
        How many pairs of a query and a document were met.
    history_ : list of dict
        One a round of `fit`: change (by how much cells moved, the mean over their uses), seconds.
    converged_ : bool
        Whether `fit` came to its end; False after an interruption, or at `max_iter`.
    pages_seen_, dropped_ : int
        How many pages were learnt from, and how many left out as they came twice.
    rate_, rates_tried_ : float, dict
        After ``update(forget="auto")``: the rate in use, and what each has foretold.

    Examples
    --------
    >>> from purport.records.pages import Pages
    >>> clicks = [[0, 1, 0], [1, 0, 0], [0, 1, 1]]
    >>> pages = Pages.from_lists(["cats"] * 3, [["a", "b", "c"]] * 3, clicks)
    >>> model = PBM(prior=(0.5, 2.0), ranks=3).fit(pages)
    >>> model.examination_.round(2).tolist()
    [0.54, 0.68, 0.54]
    >>> model.click_probabilities(pages[0]).round(2).tolist()
    [[0.29, 0.46, 0.29]]
    """

    @property
    def examination_(self) -> NDArray[np.float64]:
        """The chance to be examined by rank (R,)."""
        return self._cells()


class DBN(ClickModel):
    """Dynamic Bayesian network: people look from top to bottom until a result satisfies them.

    A result attracts or not; one that was clicked satisfies or not. Who is not satisfied goes on
    with one chance, the only cell. A pair has two parameters, attraction and satisfaction: choose
    it where what a result is worth after the click matters. Learnt by EM, page by page.

    Parameters
    ----------
    prior : "learned" or (float, float), default "learned"
        What stands beside the sums of every parameter. With ``"learned"`` pages that are kept back
        in turns choose what to expect of pairs by their rank and query, and how firmly; a pair
        (mean, strength) expects the mean of all parameters and counts as so many results.
    ranks : int, optional
        So many ranks have cells of their own; those below share the cells of the last one. None
        takes the length of the longest page, at least 10 and at most 50.
    shards : int, default 8
        Parts into which queries are dealt, each of which has one writer in `update`.
    sync_every : int, default 8192
        After so many pages of `update` the writers tell each other what they learnt of cells.
    max_pairs : int, optional
        So many pairs are kept at most; those with the least evidence go first.
    window : int, default 100000
        A page whose id is among so many last ones is left out; 0 takes all.
    n_threads : int, optional
        Threads; None takes all cores. The result does not depend on it.
    verbose : bool, "bar" or "lines", default False
        Show progress.

    Attributes
    ----------
    continuation_ : float
        The chance to go on after a skip, or after a click that did not satisfy.
    n_pairs_ : int
        How many pairs of a query and a document were met.
    history_ : list of dict
        One a round of `fit`: change (by how much cells moved, the mean over their uses), seconds.
    converged_ : bool
        Whether `fit` came to its end; False after an interruption, or at `max_iter`.
    pages_seen_, dropped_ : int
        How many pages were learnt from, and how many left out as they came twice.
    rate_, rates_tried_ : float, dict
        After ``update(forget="auto")``: the rate in use, and what each has foretold.

    Examples
    --------
    >>> from purport.records.pages import Pages
    >>> clicks = [[0, 1, 0], [1, 0, 0], [0, 1, 1]]
    >>> pages = Pages.from_lists(["cats"] * 3, [["a", "b", "c"]] * 3, clicks)
    >>> model = DBN(prior=(0.5, 2.0), ranks=3).fit(pages)
    >>> round(model.continuation_, 2)
    0.76
    >>> model.click_probabilities(pages[0]).round(2).tolist()
    [[0.4, 0.43, 0.19]]
    """

    @property
    def continuation_(self) -> float:
        """The chance to go on while not satisfied."""
        return float(self._cells()[0])


class CCM(ClickModel):
    """Click chain model: whether people go on depends on how relevant what they clicked was.

    People look from top to bottom and go on with one of three chances, the cells: after a skip,
    after a click that did not satisfy, after one that did. What attracts is as likely to satisfy,
    so a pair has one parameter. Choose it where people click much and go on after they found
    something. Learnt by EM, page by page.

    Parameters
    ----------
    prior : "learned" or (float, float), default "learned"
        What stands beside the sums of every parameter. With ``"learned"`` pages that are kept back
        in turns choose what to expect of pairs by their rank and query, and how firmly; a pair
        (mean, strength) expects the mean of all parameters and counts as so many results.
    ranks : int, optional
        So many ranks have cells of their own; those below share the cells of the last one. None
        takes the length of the longest page, at least 10 and at most 50.
    shards : int, default 8
        Parts into which queries are dealt, each of which has one writer in `update`.
    sync_every : int, default 8192
        After so many pages of `update` the writers tell each other what they learnt of cells.
    max_pairs : int, optional
        So many pairs are kept at most; those with the least evidence go first.
    window : int, default 100000
        A page whose id is among so many last ones is left out; 0 takes all.
    n_threads : int, optional
        Threads; None takes all cores. The result does not depend on it.
    verbose : bool, "bar" or "lines", default False
        Show progress.

    Attributes
    ----------
    continuation_ : (3,) float64
        The chance to go on after a skip, after a click, after a click that satisfied.
    n_pairs_ : int
        How many pairs of a query and a document were met.
    history_ : list of dict
        One a round of `fit`: change (by how much cells moved, the mean over their uses), seconds.
    converged_ : bool
        Whether `fit` came to its end; False after an interruption, or at `max_iter`.
    pages_seen_, dropped_ : int
        How many pages were learnt from, and how many left out as they came twice.
    rate_, rates_tried_ : float, dict
        After ``update(forget="auto")``: the rate in use, and what each has foretold.

    Examples
    --------
    >>> from purport.records.pages import Pages
    >>> clicks = [[0, 1, 0], [1, 0, 0], [0, 1, 1]]
    >>> pages = Pages.from_lists(["cats"] * 3, [["a", "b", "c"]] * 3, clicks)
    >>> model = CCM(prior=(0.5, 2.0), ranks=3).fit(pages)
    >>> model.continuation_.round(2).tolist()
    [0.74, 0.43, 0.53]
    >>> model.click_probabilities(pages[0]).round(2).tolist()
    [[0.39, 0.47, 0.22]]
    """

    @property
    def continuation_(self) -> NDArray[np.float64]:
        """The chance to go on after a skip, a click, a click that satisfied (3,)."""
        return self._cells()


class DCM(ClickModel):
    """Dependent click model: after a click people go on with a chance of its rank.

    People look from top to bottom. After a skip they go on, after a click with the chance of a cell
    of its rank, R in all. All down to the last click is taken as examined, and that click as where
    they stopped, so that counting is enough: choose it where time is short and pages have several
    clicks.

    Parameters
    ----------
    prior : "learned" or (float, float), default "learned"
        What stands beside the sums of every parameter. With ``"learned"`` pages that are kept back
        in turns choose what to expect of pairs by their rank and query, and how firmly; a pair
        (mean, strength) expects the mean of all parameters and counts as so many results.
    ranks : int, optional
        So many ranks have cells of their own; those below share the cells of the last one. None
        takes the length of the longest page, at least 10 and at most 50.
    shards : int, default 8
        Parts into which queries are dealt, each of which has one writer in `update`.
    sync_every : int, default 8192
        After so many pages of `update` the writers tell each other what they learnt of cells.
    max_pairs : int, optional
        So many pairs are kept at most; those with the least evidence go first.
    window : int, default 100000
        A page whose id is among so many last ones is left out; 0 takes all.
    n_threads : int, optional
        Threads; None takes all cores. The result does not depend on it.
    verbose : bool, "bar" or "lines", default False
        Show progress.

    Attributes
    ----------
    continuation_ : (R,) float64
        The chance to go on after a click at each rank.
    n_pairs_ : int
        How many pairs of a query and a document were met.
    history_ : list of dict
        One a round of `fit`: change (by how much cells moved, the mean over their uses), seconds.
    converged_ : bool
        Whether `fit` came to its end; False after an interruption, or at `max_iter`.
    pages_seen_, dropped_ : int
        How many pages were learnt from, and how many left out as they came twice.
    rate_, rates_tried_ : float, dict
        After ``update(forget="auto")``: the rate in use, and what each has foretold.

    Examples
    --------
    >>> from purport.records.pages import Pages
    >>> clicks = [[0, 1, 0], [1, 0, 0], [0, 1, 1]]
    >>> pages = Pages.from_lists(["cats"] * 3, [["a", "b", "c"]] * 3, clicks)
    >>> model = DCM(prior=(0.5, 2.0), ranks=3).fit(pages)
    >>> model.continuation_.round(2).tolist()
    [0.33, 0.5, 0.33]
    >>> model.click_probabilities(pages[0]).round(2).tolist()
    [[0.4, 0.55, 0.31]]
    """

    @property
    def continuation_(self) -> NDArray[np.float64]:
        """The chance to go on after a click by rank (R,)."""
        return self._cells()


class SDBN(ClickModel):
    """Simplified DBN: people look from top to bottom until a result satisfies them, however long.

    As `DBN`, with nobody giving up: there is no cell. The last click is taken as the one that
    satisfied, so that counting is enough. Choose it to tell what attracts from what satisfies in
    one pass over a log.

    Parameters
    ----------
    prior : "learned" or (float, float), default "learned"
        What stands beside the sums of every parameter. With ``"learned"`` pages that are kept back
        in turns choose what to expect of pairs by their rank and query, and how firmly; a pair
        (mean, strength) expects the mean of all parameters and counts as so many results.
    ranks : int, optional
        So many ranks have cells of their own; those below share the cells of the last one. None
        takes the length of the longest page, at least 10 and at most 50.
    shards : int, default 8
        Parts into which queries are dealt, each of which has one writer in `update`.
    sync_every : int, default 8192
        After so many pages of `update` the writers tell each other what they learnt of cells.
    max_pairs : int, optional
        So many pairs are kept at most; those with the least evidence go first.
    window : int, default 100000
        A page whose id is among so many last ones is left out; 0 takes all.
    n_threads : int, optional
        Threads; None takes all cores. The result does not depend on it.
    verbose : bool, "bar" or "lines", default False
        Show progress.

    Attributes
    ----------
    n_pairs_ : int
        How many pairs of a query and a document were met.
    history_ : list of dict
        One a round of `fit`: change (by how much cells moved, the mean over their uses), seconds.
    converged_ : bool
        Whether `fit` came to its end; False after an interruption, or at `max_iter`.
    pages_seen_, dropped_ : int
        How many pages were learnt from, and how many left out as they came twice.
    rate_, rates_tried_ : float, dict
        After ``update(forget="auto")``: the rate in use, and what each has foretold.

    Examples
    --------
    >>> from purport.records.pages import Pages
    >>> clicks = [[0, 1, 0], [1, 0, 0], [0, 1, 1]]
    >>> pages = Pages.from_lists(["cats"] * 3, [["a", "b", "c"]] * 3, clicks)
    >>> model = SDBN(prior=(0.5, 2.0), ranks=3).fit(pages)
    >>> model.click_probabilities(pages[0]).round(2).tolist()
    [[0.4, 0.55, 0.31]]
    """


class CascadeModel(ClickModel):
    """Cascade model: people look down to the first result that attracts them, and stop.

    No cell; what is below the first click tells nothing. The plainest of the models that look from
    top to bottom: for pages that lead to one click. Learnt by counting.

    Parameters
    ----------
    prior : "learned" or (float, float), default "learned"
        What stands beside the sums of every parameter. With ``"learned"`` pages that are kept back
        in turns choose what to expect of pairs by their rank and query, and how firmly; a pair
        (mean, strength) expects the mean of all parameters and counts as so many results.
    ranks : int, optional
        So many ranks have cells of their own; those below share the cells of the last one. None
        takes the length of the longest page, at least 10 and at most 50.
    shards : int, default 8
        Parts into which queries are dealt, each of which has one writer in `update`.
    sync_every : int, default 8192
        After so many pages of `update` the writers tell each other what they learnt of cells.
    max_pairs : int, optional
        So many pairs are kept at most; those with the least evidence go first.
    window : int, default 100000
        A page whose id is among so many last ones is left out; 0 takes all.
    n_threads : int, optional
        Threads; None takes all cores. The result does not depend on it.
    verbose : bool, "bar" or "lines", default False
        Show progress.

    Attributes
    ----------
    n_pairs_ : int
        How many pairs of a query and a document were met.
    history_ : list of dict
        One a round of `fit`: change (by how much cells moved, the mean over their uses), seconds.
    converged_ : bool
        Whether `fit` came to its end; False after an interruption, or at `max_iter`.
    pages_seen_, dropped_ : int
        How many pages were learnt from, and how many left out as they came twice.
    rate_, rates_tried_ : float, dict
        After ``update(forget="auto")``: the rate in use, and what each has foretold.

    Examples
    --------
    >>> from purport.records.pages import Pages
    >>> clicks = [[0, 1, 0], [1, 0, 0], [0, 1, 0]]
    >>> pages = Pages.from_lists(["cats"] * 3, [["a", "b", "c"]] * 3, clicks)
    >>> model = CascadeModel(prior=(0.5, 2.0), ranks=3).fit(pages)
    >>> model.click_probabilities(pages[0]).round(2).tolist()
    [[0.4, 0.45, 0.08]]
    """


class GCTR(ClickModel):
    """Global click rate: one chance of a click for everything, the only cell.

    The floor under every other model: one that does no better has learnt nothing. Learnt by
    counting.

    Parameters
    ----------
    prior : "learned" or (float, float), default "learned"
        What stands beside the sums of every parameter. With ``"learned"`` pages that are kept back
        in turns choose what to expect of the cell, and how firmly; a pair (mean, strength) expects
        the mean of all parameters and counts as so many results.
    ranks : int, optional
        So many ranks have cells of their own; those below share the cells of the last one. None
        takes the length of the longest page, at least 10 and at most 50.
    shards : int, default 8
        Parts into which queries are dealt, each of which has one writer in `update`.
    sync_every : int, default 8192
        After so many pages of `update` the writers tell each other what they learnt of cells.
    max_pairs : int, optional
        So many pairs are kept at most; those with the least evidence go first.
    window : int, default 100000
        A page whose id is among so many last ones is left out; 0 takes all.
    n_threads : int, optional
        Threads; None takes all cores. The result does not depend on it.
    verbose : bool, "bar" or "lines", default False
        Show progress.

    Attributes
    ----------
    click_rates_ : (1,) float64
        The chance of a click.
    n_pairs_ : int
        How many pairs of a query and a document were met.
    history_ : list of dict
        One a round of `fit`: change (by how much cells moved, the mean over their uses), seconds.
    converged_ : bool
        Whether `fit` came to its end; False after an interruption, or at `max_iter`.
    pages_seen_, dropped_ : int
        How many pages were learnt from, and how many left out as they came twice.
    rate_, rates_tried_ : float, dict
        After ``update(forget="auto")``: the rate in use, and what each has foretold.

    Examples
    --------
    >>> from purport.records.pages import Pages
    >>> clicks = [[0, 1, 0], [1, 0, 0], [0, 1, 1]]
    >>> pages = Pages.from_lists(["cats"] * 3, [["a", "b", "c"]] * 3, clicks)
    >>> model = GCTR(prior=(0.5, 2.0), ranks=3).fit(pages)
    >>> model.click_rates_.round(2).tolist()
    [0.45]
    >>> model.click_probabilities(pages[0]).round(2).tolist()
    [[0.45, 0.45, 0.45]]
    """

    @property
    def click_rates_(self) -> NDArray[np.float64]:
        """The chance of a click (1,)."""
        return self._cells()


class RCTR(ClickModel):
    """Click rates by rank: a chance of a click for each rank, R cells.

    All position bias and nothing else: the floor under models that know queries and documents.
    Learnt by counting.

    Parameters
    ----------
    prior : "learned" or (float, float), default "learned"
        What stands beside the sums of every parameter. With ``"learned"`` pages that are kept back
        in turns choose what to expect of cells, and how firmly; a pair (mean, strength) expects the
        mean of all parameters and counts as so many results.
    ranks : int, optional
        So many ranks have cells of their own; those below share the cells of the last one. None
        takes the length of the longest page, at least 10 and at most 50.
    shards : int, default 8
        Parts into which queries are dealt, each of which has one writer in `update`.
    sync_every : int, default 8192
        After so many pages of `update` the writers tell each other what they learnt of cells.
    max_pairs : int, optional
        So many pairs are kept at most; those with the least evidence go first.
    window : int, default 100000
        A page whose id is among so many last ones is left out; 0 takes all.
    n_threads : int, optional
        Threads; None takes all cores. The result does not depend on it.
    verbose : bool, "bar" or "lines", default False
        Show progress.

    Attributes
    ----------
    click_rates_ : (R,) float64
        The chance of a click at each rank.
    n_pairs_ : int
        How many pairs of a query and a document were met.
    history_ : list of dict
        One a round of `fit`: change (by how much cells moved, the mean over their uses), seconds.
    converged_ : bool
        Whether `fit` came to its end; False after an interruption, or at `max_iter`.
    pages_seen_, dropped_ : int
        How many pages were learnt from, and how many left out as they came twice.
    rate_, rates_tried_ : float, dict
        After ``update(forget="auto")``: the rate in use, and what each has foretold.

    Examples
    --------
    >>> from purport.records.pages import Pages
    >>> clicks = [[0, 1, 0], [1, 0, 0], [0, 1, 1]]
    >>> pages = Pages.from_lists(["cats"] * 3, [["a", "b", "c"]] * 3, clicks)
    >>> model = RCTR(prior=(0.5, 2.0), ranks=3).fit(pages)
    >>> model.click_rates_.round(2).tolist()
    [0.4, 0.6, 0.4]
    >>> model.click_probabilities(pages[0]).round(2).tolist()
    [[0.4, 0.6, 0.4]]
    """

    @property
    def click_rates_(self) -> NDArray[np.float64]:
        """The chance of a click by rank (R,)."""
        return self._cells()


class DCTR(ClickModel):
    """Click rates by pair: a chance of a click for each pair of a query and a document.

    No cell, and no position bias either: what people click because it stands on top is taken for
    good. The floor under models that take the bias out. Learnt by counting.

    Parameters
    ----------
    prior : "learned" or (float, float), default "learned"
        What stands beside the sums of every parameter. With ``"learned"`` pages that are kept back
        in turns choose what to expect of pairs by their rank and query, and how firmly; a pair
        (mean, strength) expects the mean of all parameters and counts as so many results.
    ranks : int, optional
        So many ranks have cells of their own; those below share the cells of the last one. None
        takes the length of the longest page, at least 10 and at most 50.
    shards : int, default 8
        Parts into which queries are dealt, each of which has one writer in `update`.
    sync_every : int, default 8192
        After so many pages of `update` the writers tell each other what they learnt of cells.
    max_pairs : int, optional
        So many pairs are kept at most; those with the least evidence go first.
    window : int, default 100000
        A page whose id is among so many last ones is left out; 0 takes all.
    n_threads : int, optional
        Threads; None takes all cores. The result does not depend on it.
    verbose : bool, "bar" or "lines", default False
        Show progress.

    Attributes
    ----------
    n_pairs_ : int
        How many pairs of a query and a document were met.
    history_ : list of dict
        One a round of `fit`: change (by how much cells moved, the mean over their uses), seconds.
    converged_ : bool
        Whether `fit` came to its end; False after an interruption, or at `max_iter`.
    pages_seen_, dropped_ : int
        How many pages were learnt from, and how many left out as they came twice.
    rate_, rates_tried_ : float, dict
        After ``update(forget="auto")``: the rate in use, and what each has foretold.

    Examples
    --------
    >>> from purport.records.pages import Pages
    >>> clicks = [[0, 1, 0], [1, 0, 0], [0, 1, 1]]
    >>> pages = Pages.from_lists(["cats"] * 3, [["a", "b", "c"]] * 3, clicks)
    >>> model = DCTR(prior=(0.5, 2.0), ranks=3).fit(pages)
    >>> model.click_probabilities(pages[0]).round(2).tolist()
    [[0.4, 0.6, 0.4]]
    """
