"""Rows from the words around each token: a specification, learnt and applied in whole columns.

Words are handled once for each different word, templates once for each batch: an attribute of a
word is a whole number, a template's feature is a number made of those, and its column is the rank
of that number among the ones met in training. No Python code runs for a token.

Symbols: N sentences, P tokens of all sentences together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from purport.estimator.base import Estimator, State
from purport.estimator.constraints import BOOLEAN, Constraint, Several, Span, Whole, optional
from purport.features.combinations import Combinations
from purport.features.keys import UNSEEN
from purport.features.rows import Rows
from purport.features.surroundings import Surroundings, Tokenized
from purport.features.template_columns import AFTER, BEFORE, TemplateColumns
from purport.features.templates import Template, attributes
from purport.features.unique import unique_rows
from purport.features.vocabulary import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TokenWindows(Estimator):
    """The words around a token, alone and together, and what they look like.

    Parameters
    ----------
    words : (first, last) or None
        The offsets of the words that are features each by itself: ``(-2, 2)`` takes the word, two
        before and two after it. None for no words.
    conjunctions : tuple of tuples of int
        Offsets of words that make one feature together: ``(-1, 0)`` is the word with the one before
        it.
    prefixes, suffixes : tuple of int
        Lengths of the beginnings and ends of words; a shorter word stands for itself.
    shapes : bool
        The pattern of capitals, other letters, digits and the rest, as "Xx" for "San".
    digits : bool
        Whether a digit is in the word.
    lengths : bool
        How many characters the word has.
    attribute_window : (first, last)
        The offsets of the words whose prefixes, suffixes, shapes, digits and lengths are features.
    previous_words : int
        How many words before the token are features without regard to their order.
    bias : bool
        One feature that every token has.
    marks : bool
        Places before the first and after the last word count as words of their own, so that a model
        knows where a sentence begins and ends. False leaves out each feature that reaches beyond
        the sentence.
    lowercase : bool
        Words, prefixes and suffixes without regard to capitals; shapes keep them.
    min_count : int
        A feature that training shows less often is left out.

    Attributes
    ----------
    values_ : dict of Vocabulary
        The values of each attribute, the word itself included.
    columns_ : list of TemplateColumns
        The templates, each with the columns that it has learnt.

    Examples
    --------
    >>> from purport.records.utterances import Utterances
    >>> talk = Utterances.from_lists([["to", "san", "jose"], ["jose"]])
    >>> windows = TokenWindows(
    ...     words=(-1, 0), conjunctions=(), prefixes=(), suffixes=(), digits=False
    ... )
    >>> rows = windows.fit_transform(talk)
    >>> windows.feature_names()
    ['bias', 'w[-1]=to', 'w[-1]=san', 'w[-1]=<s>', 'w[0]=to', 'w[0]=san', 'w[0]=jose']
    >>> windows.strings(talk)[1]
    [['bias', 'w[-1]=<s>', 'w[0]=jose']]
    >>> rows.positions, rows.unique
    (4, 4)
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "words": optional(Span()),
        "conjunctions": Several(Several(Whole(), least=2)),
        "prefixes": Several(Whole(1)),
        "suffixes": Several(Whole(1)),
        "shapes": BOOLEAN,
        "digits": BOOLEAN,
        "lengths": BOOLEAN,
        "attribute_window": Span(),
        "previous_words": Whole(0),
        "bias": BOOLEAN,
        "marks": BOOLEAN,
        "lowercase": BOOLEAN,
        "min_count": Whole(1),
    }

    values_: dict[str, Vocabulary]
    columns_: list[TemplateColumns]

    def __init__(
        self,
        words: tuple[int, int] | None = (-2, 2),
        conjunctions: Sequence[Sequence[int]] = ((-1, 0), (0, 1)),
        prefixes: Sequence[int] = (3,),
        suffixes: Sequence[int] = (3,),
        shapes: bool = False,
        digits: bool = True,
        lengths: bool = False,
        attribute_window: tuple[int, int] = (0, 0),
        previous_words: int = 0,
        bias: bool = True,
        marks: bool = True,
        lowercase: bool = False,
        min_count: int = 1,
    ) -> None:
        self.words = words
        self.conjunctions = conjunctions
        self.prefixes = prefixes
        self.suffixes = suffixes
        self.shapes = shapes
        self.digits = digits
        self.lengths = lengths
        self.attribute_window = attribute_window
        self.previous_words = previous_words
        self.bias = bias
        self.marks = marks
        self.lowercase = lowercase
        self.min_count = min_count

    def fit(self, records: Tokenized) -> Self:
        """Learn the columns from records.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> talk = Utterances.from_lists([["hi"]])
        >>> len(TokenWindows().fit(talk).feature_names())
        11
        """
        self.fit_transform(records)
        return self

    def fit_transform(self, records: Tokenized) -> Rows:
        """Learn the columns from records and return the rows of their tokens.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> rows = TokenWindows().fit_transform(Utterances.from_lists([["ha", "ha", "ha", "ha"]]))
        >>> rows.positions, rows.unique
        (4, 4)
        """
        self._check_parameters()
        around = Surroundings(records)
        used = around.words_as_they_come()
        self.values_ = {name: Vocabulary(map(of, used)) for name, of in self._attributes().items()}
        self.columns_ = [
            TemplateColumns(template, len(self.values_[template.attribute]))
            for template in self._templates()
        ]
        return self._rows(around, learn=True)

    def learn(self, batches: Iterable[Tokenized]) -> Self:
        """Learn the columns from batches of records, as `fit` does from all of them at once.

        No more than one batch, and the features that training shows, are held at a time.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> talk = Utterances.from_lists([["hi"], ["ha"]])
        >>> windows = TokenWindows(words=(0, 0), conjunctions=(), prefixes=(), suffixes=())
        >>> windows.learn([talk[:1], talk[1:]]).feature_names()
        ['bias', 'w[0]=hi', 'w[0]=ha', 'digit=no']
        """
        self._check_parameters()
        asked, templates = self._attributes(), self._templates()
        values = {name: Vocabulary() for name in asked}
        met = [Combinations(1 if each.bag else len(each.offsets)) for each in templates]
        for records in batches:
            around = Surroundings(records)
            used = around.words_as_they_come()
            tables = {}
            for name, of in asked.items():
                values[name].learn(map(of, used))
                tables[name] = around.table(of, values[name])
                tables[name][-2:] = BEFORE, AFTER
            for template, combinations in zip(templates, met, strict=True):
                codes = self._codes(around, tables[template.attribute], template)
                told = np.empty((around.positions, len(codes)), np.int32)
                for place, code in enumerate(codes):
                    told[:, place] = code
                combinations.add(told.reshape(-1, 1) if template.bag else told)
        self.values_ = values
        self.columns_ = []
        for template, combinations in zip(templates, met, strict=True):
            columns = TemplateColumns(template, len(values[template.attribute]))
            columns.learn_counted(*combinations.finish(), self.min_count)
            self.columns_.append(columns)
        return self

    def transform(self, records: Tokenized) -> Rows:
        """Return the rows of tokens; features that training has not shown are left out and counted.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> talk = Utterances.from_lists([["hi"]])
        >>> TokenWindows().fit(talk).transform(talk).unseen
        0
        """
        self._check_fitted()
        return self._rows(Surroundings(records), learn=False)

    @property
    def width(self) -> int:
        """How many columns there are."""
        self._check_fitted()
        return sum(map(len, self.columns_))

    def feature_names(self) -> list[str]:
        """Return what each column stands for.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> talk = Utterances.from_lists([["hi"]])
        >>> TokenWindows(words=(-1, 0), conjunctions=()).fit(talk).feature_names()
        ['bias', 'w[-1]=<s>', 'w[0]=hi', 'prefix3=hi', 'suffix3=hi', 'digit=no']
        """
        self._check_fitted()
        values = {name: vocabulary.strings() for name, vocabulary in self.values_.items()}
        return [
            name
            for columns in self.columns_
            for name in columns.names(values[columns.template.attribute])
        ]

    def strings(self, records: Tokenized) -> list[list[list[str]]]:
        """Return the features of each token as strings, whether learnt or not; slow.

        Two features with one name (words with "|" or "<s>" in them) are two columns, but equal
        strings.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> windows = TokenWindows(words=None, prefixes=(), digits=False, bias=False)
        >>> windows.strings(Utterances.from_lists([["hello"]]))
        [[['w[-1]|w[0]=<s>|hello', 'w[0]|w[1]=hello|</s>', 'suffix3=llo']]]
        """
        self._check_parameters()
        asked, templates = self._attributes(), self._templates()
        sentences = []
        for words in Surroundings(records).sentences():
            values = {name: [of(word) for word in words] for name, of in asked.items()}
            sentence: list[list[str]] = [[] for _ in words]
            for position, features in enumerate(sentence):
                for template in templates:
                    features += template.spell(values[template.attribute], position, self.marks)
            sentences.append(sentence)
        return sentences

    def _templates(self) -> list[Template]:
        templates = [Template("bias")] if self.bias else []
        if self.words is not None:
            first, last = self.words
            templates += [Template.joined((offset,)) for offset in range(first, last + 1)]
        templates += [Template.joined(offsets) for offsets in self.conjunctions]
        if self.previous_words:
            before = tuple(range(-1, -self.previous_words - 1, -1))
            templates.append(Template("before", "word", before, bag=True))
        first, last = self.attribute_window
        for attribute in self._attributes():
            if attribute != "word":
                window = range(first, last + 1)
                templates += [Template.single(attribute, offset) for offset in window]
        return templates

    def _attributes(self) -> dict[str, Callable[[str], str]]:
        return attributes(
            self.prefixes, self.suffixes, self.shapes, self.digits, self.lengths, self.lowercase
        )

    def _codes(
        self, around: Surroundings, table: NDArray[np.int32], template: Template
    ) -> list[NDArray[np.int32]]:
        outside = self.marks and not template.bag
        return [around.codes(table, offset, outside) for offset in template.offsets]

    def _rows(self, around: Surroundings, learn: bool) -> Rows:
        """Put the columns of all templates side by side, each behind those before it."""
        attributes_asked = self._attributes()
        tables = {
            name: around.table(attributes_asked[name], values)
            for name, values in self.values_.items()
        }
        slots = sum(columns.slots for columns in self.columns_)
        entries = np.empty((around.positions, slots), np.int32)
        slot = width = 0
        for columns in self.columns_:
            template = columns.template
            codes = self._codes(around, tables[template.attribute], template)
            if learn:
                ranks = columns.learn(codes, around.positions, self.min_count)
            else:
                ranks = columns.rank(codes, around.positions)
            entries[:, slot : slot + columns.slots] = np.where(ranks >= 0, ranks + width, ranks)
            slot += columns.slots
            width += len(columns)
        unseen = int(np.count_nonzero(entries == UNSEEN))
        starts = np.arange(around.positions + 1, dtype=np.int64) * slots
        return unique_rows(entries.ravel(), starts, None, width, around.offsets, unseen)

    def _to_state(self) -> State:
        self._check_fitted()
        state = State()
        for number, columns in enumerate(self.columns_):
            state = state.join(f"template{number}", columns.to_state())
        for name, values in self.values_.items():
            state = state.join(name, State(values.to_arrays()))
        return state

    def _restore(self, state: State) -> None:
        self.values_ = {
            name: Vocabulary.from_arrays(state.nested(name).arrays) for name in self._attributes()
        }
        self.columns_ = [
            TemplateColumns(template, len(self.values_[template.attribute]))
            for template in self._templates()
        ]
        for number, columns in enumerate(self.columns_):
            columns.restore(state.nested(f"template{number}"))
