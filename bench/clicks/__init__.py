"""Click models beside PyClick and clax-models, and the tables of the paper on online EM."""

from bench.benchmark import Part
from bench.clicks import drift, retraining

ABOUT = "click models that stay up to date"

PARTS = {
    "models": Part("Table 1: which model foretells best", drift.models, slow=True),
    "drift": Part("Table 3 and Figure 1: ways to keep up to date", drift.run, slow=True),
    "retraining": Part("Table 2: what keeping up to date costs", retraining.run, slow=True),
}
