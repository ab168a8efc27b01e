"""Click models: what results are worth once position bias is out of the clicks."""

from purport.clicks.models import (
    CCM,
    DBN,
    DCM,
    DCTR,
    GCTR,
    PBM,
    RCTR,
    SDBN,
    UBM,
    CascadeModel,
)
from purport.clicks.prequential import DriftReport, Way, drift_report

__all__ = [
    "CCM",
    "DBN",
    "DCM",
    "DCTR",
    "GCTR",
    "PBM",
    "RCTR",
    "SDBN",
    "UBM",
    "CascadeModel",
    "DriftReport",
    "Way",
    "drift_report",
]
