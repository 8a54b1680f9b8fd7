"""The language of the sentences: `say` gives a sentence in the language that holds now (`options(language="zh")`).

The program speaks English; the English sentence, or its template with named placeholders, is the key of the catalogue
(`CHINESE`). Where words are chosen for a rendering they go through `say`. A sentence that is kept in a record is a
`Sentence`: English text that knows what it was made from, so that it can be said in another language later. What is
in no catalogue, such as the user's own words, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

from gradexplain.language.findings import FINDINGS
from gradexplain.language.pictures import PICTURES
from gradexplain.language.rules import RULES
from gradexplain.language.sentences import SENTENCES
from gradexplain.language.tapes import TAPES
from gradexplain.settings import Language, language

CHINESE: Mapping[str, str] = {**RULES, **SENTENCES, **PICTURES, **FINDINGS, **TAPES}
_CATALOGUES: Mapping[Language, Mapping[str, str]] = {"zh": CHINESE}
# Spaces stand between Chinese and what is not, but not beside Chinese punctuation.
_SPACES = re.compile(r"(?<=[一-鿿，。：；、）]) (?=[一-鿿])|(?<=[，。：；、）]) | (?=[，。：；、（）])")
_SAMPLES: Mapping[Language, str] = {"en": "", "zh": "导数，其中"}  # what an encoding must have


class Sentence(str):
    """English text that is kept, with what `say` needs to say it in another language.

    >>> Sentence("{name} is not used", name="x")
    'x is not used'
    """

    template: str
    values: Mapping[str, Any]

    def __new__(cls, template: str, /, **values: Any) -> Sentence:
        if isinstance(template, Sentence):
            return template
        self = super().__new__(cls, template.format(**values) if values else template)
        self.template, self.values = template, values
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str], Mapping[str, Any]]:
        return (self.template,), self.values


def say(sentence: str, /, **values: Any) -> str:
    """A sentence, or a template with what stands in its places, in the language that holds now.

    >>> from gradexplain.settings import options
    >>> with options(language="zh"):
    ...     say("product rule"), say("With respect to {variables}", variables="x")
    ('乘积法则', '对 x 求导')
    """
    if isinstance(sentence, Sentence):
        return say(sentence.template, **sentence.values)
    catalogue = _CATALOGUES.get(language())
    if catalogue is None:
        return sentence.format(**values) if values else str(sentence)
    said = {name: say(value) if isinstance(value, Sentence) else value for name, value in values.items()}
    template = catalogue.get(sentence, sentence)
    return spaced(template.format(**said) if said else template)


def spaced(text: str) -> str:
    """Text in the language that holds now without the spaces that its punctuation has in itself."""
    return text if text.isascii() or language() == "en" else _SPACES.sub("", text)


def template(sentence: str) -> str:
    """A template in the language that holds now, with its places left open."""
    return _CATALOGUES.get(language(), {}).get(sentence, sentence)


def chained(sentences: Iterable[str]) -> Sentence:
    """Sentences with commas between them, as one that is kept.

    >>> chained(["common power", "trigonometric identity"])
    'common power, trigonometric identity'
    """
    first, *others = sentences
    result = Sentence(first)
    for other in others:
        result = Sentence("{first}, {other}", first=result, other=Sentence(other))
    return result


def joined(names: Iterable[str]) -> str:
    """Names with "and" between all of them.

    >>> joined(["x twice", "y", "z"])
    'x twice and y and z'
    """
    return reduce(lambda first, other: say("{first} and {other}", first=first, other=other), names)


def enumerated(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> enumerated(["x", "u", "v"])
    'x, u and v'
    """
    if len(names) == 1:
        return names[0]
    return say("{names} and {last}", names=say(", ").join(names[:-1]), last=names[-1])


def is_encodable(spoken: Language, encoding: str) -> bool:
    """Whether an encoding has the characters of a language.

    >>> is_encodable("zh", "gbk"), is_encodable("zh", "cp1252")
    (True, False)
    """
    try:
        _SAMPLES[spoken].encode(encoding)
    except (UnicodeError, LookupError):
        return False
    return True
