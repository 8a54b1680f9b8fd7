"""`Pictured`: what an explanation shows of itself as pictures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gradexplain.errors import ArgumentError
from gradexplain.exposition.model import Finding
from gradexplain.render.display import Display
from gradexplain.trace.run import Program

if TYPE_CHECKING:  # loaded when something is to be seen
    from gradexplain.exposition.picture import ComputationGraph
    from gradexplain.render.pictures.picture import GraphPicture, Plot


class Pictured(Display, ABC):
    """The computation graph and the plots of a program that is differentiated."""

    program: Program
    whole: Program
    wrt: tuple[str, ...]
    order: int
    kind: str
    title: str

    @property
    @abstractmethod
    def gradient_values(self) -> Mapping[str, Any]:
        """The derivatives' values at the point, {} without one."""

    @property
    @abstractmethod
    def _findings(self) -> tuple[Finding, ...]: ...

    def picture(self) -> GraphPicture:
        """The computation graph to look at: values, local derivatives, adjoints; large ones folded by line."""
        from gradexplain.render.pictures.picture import GraphPicture

        return GraphPicture(self._picture)

    def plot(
        self, name: str | None = None, *, secants: Sequence[float] = (), around: tuple[float, float] | None = None
    ) -> Plot:
        """The function along one of its arguments with its tangent at the point, and secants with the given steps."""
        from gradexplain.exposition.plots import tangent_plot
        from gradexplain.render.pictures.picture import Plot

        name, slope = self._plotted(name)
        kinks = tuple(found.text for found in self._findings if found.kind == "kink")
        return Plot(replace(tangent_plot(self.program, name, slope, secants, around), notes=kinks))

    def error_plot(self, name: str | None = None) -> Plot:
        """The error of difference quotients by their step, which is a V if the derivative is right."""
        from gradexplain.exposition.plots import error_plot
        from gradexplain.render.pictures.picture import Plot

        name, slope = self._plotted(name)
        return Plot(error_plot(self.program, name, slope))

    def _plotted(self, name: str | None) -> tuple[str, Any]:
        """The argument to plot along, and the gradient with respect to it."""
        name = name or self.wrt[0]
        if not self.program.is_numeric or self.kind != "gradient" or self.order != 1 or name not in self.wrt:
            raise ArgumentError(
                f"there is no slope in {name} to plot",
                why="plots show the first derivative of a function at a point",
                fix=f"explain the function at a point, and choose among {', '.join(self.wrt)}",
            )
        return name, self.gradient_values[name]

    @property
    def _small_picture(self) -> ComputationGraph | None:
        """The picture within the explanation, if it is one to look at."""
        from gradexplain.exposition.picture import is_small

        if not is_small(self.program):
            return None
        return self._picture if self._picture.edges and not self._picture.is_folded else None

    @cached_property
    def _picture(self) -> ComputationGraph:
        from gradexplain.exposition.picture import computation_graph

        graph = computation_graph(self.program if self.program.is_numeric else self.whole, self.wrt)
        return replace(graph, name=self.title or graph.name)
