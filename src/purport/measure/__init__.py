"""Scores of predictions, and how sure they are."""

from purport.measure.bootstrap import bootstrap_interval, paired_bootstrap
from purport.measure.slots import slot_scores
from purport.measure.tags import spans

__all__ = ["bootstrap_interval", "paired_bootstrap", "slot_scores", "spans"]
