"""What users are after, from their logs and a few labels: the public names, loaded when used."""

from __future__ import annotations

from importlib import import_module

# The module that holds each public name; a name without a second part is the module itself.
_HOMES = {
    "CRF": "purport.sequence.crf:CRF",
    "CheckFailedError": "purport.errors:CheckFailedError",
    "ConvergenceWarning": "purport.errors:ConvergenceWarning",
    "DataConversionWarning": "purport.errors:DataConversionWarning",
    "DependencyError": "purport.errors:DependencyError",
    "FormatError": "purport.errors:FormatError",
    "InputError": "purport.errors:InputError",
    "KernelCacheWarning": "purport.errors:KernelCacheWarning",
    "LDCRF": "purport.sequence.ldcrf:LDCRF",
    "LinearSVM": "purport.margin.svm:LinearSVM",
    "ModelCorruptError": "purport.errors:ModelCorruptError",
    "ModelError": "purport.errors:ModelError",
    "ModelTooNewError": "purport.errors:ModelTooNewError",
    "NotFittedError": "purport.errors:NotFittedError",
    "OutputExistsError": "purport.errors:OutputExistsError",
    "Pages": "purport.records.pages:Pages",
    "ParameterError": "purport.errors:ParameterError",
    "PurportError": "purport.errors:PurportError",
    "PurportWarning": "purport.errors:PurportWarning",
    "RecordError": "purport.errors:RecordError",
    "SHDCRF": "purport.sequence.shdcrf:SHDCRF",
    "SensorWindows": "purport.features.sensor_windows:SensorWindows",
    "SessionWindows": "purport.features.session_windows:SessionWindows",
    "Sessions": "purport.records.sessions:Sessions",
    "ShapeError": "purport.errors:ShapeError",
    "SkippedRowsWarning": "purport.errors:SkippedRowsWarning",
    "StateSummary": "purport.sequence.explaining:StateSummary",
    "StepExample": "purport.sequence.explaining:StepExample",
    "TokenWindows": "purport.features.token_windows:TokenWindows",
    "UnseenWarning": "purport.errors:UnseenWarning",
    "Utterances": "purport.records.utterances:Utterances",
    "__version__": "purport.version:VERSION",
    "choose_l2": "purport.study.tuning:choose_l2",
    "clicks": "purport.clicks",
    "dictionary_labels": "purport.sequence.dictionary:dictionary_labels",
    "fold": "purport.fold",
    "load": "purport.store.folders:load",
    "metrics": "purport.measure.flat",
    "save": "purport.store.folders:save",
    "scorers": "purport.measure.scorers",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    value = import_module(module)
    if attribute:
        value = getattr(value, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
