"""Sentences with formulas and code in them, in the language that holds now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import Formatter

from gradexplain.language import spaced, template
from gradexplain.render.blocks import Code, Formula, Inline, Line, Strong, Text, line

Part = str | Inline | Sequence[str | Inline]


def phrase(sentence: str, /, **parts: Part) -> Line:
    """A template of the catalogue with inlines in its places; text beside text becomes one.

    >>> phrase("put in {equations}", equations=Formula("u = x", "u = x"))
    (Text(text='put in '), Formula(text='u = x', latex='u = x'))
    """
    found: list[Inline] = []
    for inline in line(*_parts(template(sentence), parts)):
        if isinstance(inline, Text) and found and isinstance(found[-1], Text):
            inline = Text(spaced(found.pop().text + inline.text))
        if not isinstance(inline, Text) or inline.text:
            found.append(inline)
    return tuple(found)


def _parts(opened: str, parts: dict[str, Part]) -> Iterator[str | Inline]:
    for literal, name, _, _ in Formatter().parse(opened):
        yield literal
        part = parts[name] if name is not None else ""
        yield from [part] if isinstance(part, (str, Text, Formula, Code, Strong)) else part


def listed(parts: Sequence[Inline]) -> Line:
    """One, two and three formulas in a sentence.

    >>> "".join(inline.text for inline in listed([Formula(c, c) for c in "xyz"]))
    'x, y and z'
    """
    if len(parts) < 2:
        return tuple(parts)
    return phrase("{names} and {last}", names=separated(parts[:-1]), last=parts[-1])


def separated(parts: Sequence[Inline]) -> Line:
    """Formulas with commas between them."""
    comma = template(", ")
    return tuple(inline for i, part in enumerate(parts) for inline in (*(line(comma) if i else ()), part))
