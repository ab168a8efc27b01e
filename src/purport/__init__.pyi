from purport import clicks, fold
from purport.errors import (
    CheckFailedError,
    ConvergenceWarning,
    DataConversionWarning,
    DependencyError,
    FormatError,
    InputError,
    KernelCacheWarning,
    ModelCorruptError,
    ModelError,
    ModelTooNewError,
    NotFittedError,
    OutputExistsError,
    ParameterError,
    PurportError,
    PurportWarning,
    RecordError,
    ShapeError,
    SkippedRowsWarning,
    UnseenWarning,
)
from purport.features.sensor_windows import SensorWindows
from purport.features.session_windows import SessionWindows
from purport.features.token_windows import TokenWindows
from purport.margin.svm import LinearSVM
from purport.measure import flat as metrics
from purport.measure import scorers
from purport.records.pages import Pages
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances
from purport.sequence.crf import CRF
from purport.sequence.dictionary import dictionary_labels
from purport.sequence.explaining import StateSummary, StepExample
from purport.sequence.ldcrf import LDCRF
from purport.sequence.shdcrf import SHDCRF
from purport.store.folders import load, save
from purport.study.tuning import choose_l2

__version__: str

__all__ = [
    "CRF",
    "LDCRF",
    "SHDCRF",
    "CheckFailedError",
    "ConvergenceWarning",
    "DataConversionWarning",
    "DependencyError",
    "FormatError",
    "InputError",
    "KernelCacheWarning",
    "LinearSVM",
    "ModelCorruptError",
    "ModelError",
    "ModelTooNewError",
    "NotFittedError",
    "OutputExistsError",
    "Pages",
    "ParameterError",
    "PurportError",
    "PurportWarning",
    "RecordError",
    "SensorWindows",
    "SessionWindows",
    "Sessions",
    "ShapeError",
    "SkippedRowsWarning",
    "StateSummary",
    "StepExample",
    "TokenWindows",
    "UnseenWarning",
    "Utterances",
    "__version__",
    "choose_l2",
    "clicks",
    "dictionary_labels",
    "fold",
    "load",
    "metrics",
    "save",
    "scorers",
]
