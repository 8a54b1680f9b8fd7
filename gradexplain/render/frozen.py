"""`Frozen`: an explanation without its function, as it comes out of a pickle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gradexplain.exposition.model import Overview
from gradexplain.render.display import Display
from gradexplain.simplify.form import ClosedForm, Gradients

if TYPE_CHECKING:
    from gradexplain.render.blocks import Document


class Kept(Display):
    """A record whose blocks were made before, with the renderings that it had then."""

    def __init__(self, data: Any, document: Document, screen: Document) -> None:
        super().__init__(data)
        self._document, self._screen = document, screen

    @property
    def document(self) -> Document:
        """The blocks that all formats print."""
        return self._document

    @property
    def screen(self) -> Document:
        """The blocks as a notebook shows them."""
        return self._screen


class Frozen(Kept):
    """An explanation that came out of a pickle: its formulas, numbers and renderings, without the function.

    The document is kept as it was: SymPy evaluates what it unpickles, and x*x would become x**2.
    """

    def __init__(
        self,
        data: Overview,
        document: Document,
        screen: Document,
        forms: Mapping[str, ClosedForm],
        gradient_values: Mapping[str, Any],
        value: Any,
    ) -> None:
        super().__init__(data, document, screen)
        self.gradients, self.gradient_values, self.value = Gradients(forms), gradient_values, value

    def __getitem__(self, key: str) -> ClosedForm:
        return self.gradients[key]

    @property
    def gradient(self) -> Any:
        """As `Explanation.gradient`."""
        return self.gradients.together
