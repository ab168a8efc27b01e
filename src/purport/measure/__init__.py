"""Scores of predictions, and how sure they are."""

from purport.measure.bootstrap import (
    bootstrap_interval,
    paired_bootstrap,
    score_comparisons,
    score_intervals,
)
from purport.measure.confusions import confusion
from purport.measure.mistakes import errors_worth_a_look
from purport.measure.ranking import ebu, ndcg, rr_dbn, u_ubm
from purport.measure.reliability import calibration
from purport.measure.resampled_t import corrected_resampled_t
from purport.measure.slots import slot_scores
from purport.measure.tags import spans
from purport.measure.tokens import token_scores

__all__ = [
    "bootstrap_interval",
    "calibration",
    "confusion",
    "corrected_resampled_t",
    "ebu",
    "errors_worth_a_look",
    "ndcg",
    "paired_bootstrap",
    "rr_dbn",
    "score_comparisons",
    "score_intervals",
    "slot_scores",
    "spans",
    "token_scores",
    "u_ubm",
]
