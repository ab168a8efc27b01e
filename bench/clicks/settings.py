"""What every table of this benchmark stands on, written down before the bars were run."""

from __future__ import annotations

DEVELOPMENT_SEEDS = (1, 2)
"""On these worlds the rates of `forget="auto"` were chosen, and how they are meant."""
BAR_SEEDS = (201, 202, 203, 204, 205, 206, 207, 208, 209, 210)
COST_SEED = 211
TRUTHS = {"UBM": BAR_SEEDS[:5], "DBN": BAR_SEEDS[:3], "CCM": BAR_SEEDS[:3]}
"""Whose clicks Table 1 looks at, and in which worlds."""

DRIFTS = (0.0, 0.08, 0.2)
CHURN = 0.0
SWAPS = 0.25
PAGES_A_DAY = 6000
COST_PAGES_A_DAY = 10_000
DAYS, HISTORY, WINDOW = 27, 14, 7
SHARES = (0.001, 0.005, 0.01)
"""Of Eq. 4; as in the paper, of what all pages share as well as of pairs."""

FIT = {"max_iter": 50, "tol": 1e-3}
"""At most as many rounds as the paper has, whether parameters still move then or not."""
PLAIN_ROUNDS = 50
PLAIN_PRIOR = (0.5, 2.0)
"""As PyClick has it: every parameter is (sum + 1) / (count + 2)."""

LOST_AT_MOST = 0.0005
"""Log-likelihood that looking for a rate may cost where there is nothing to forget."""
SIGNIFICANT = 0.01
CHEAPER = 130.0
