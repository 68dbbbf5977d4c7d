"""A rule of the layout: what offends, why it is forbidden, and what to do instead."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pytest

from tests.layers.modules import Module, project

Tree = Mapping[str, str]
"""A small synthetic project: the text of each module by its path."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule with examples of its own, so that it cannot pass because it finds nothing.

    Attributes:
        find: Yields every offender of a project as ``path:line: what``.
        why: What goes wrong otherwise.
        instead: What to do about an offender.
        offends: Projects in which each rule must find something; one per case that it is meant to catch.
        passes: Projects that come close, and in which it must find nothing.
    """

    find: Callable[[Sequence[Module]], Iterable[str]]
    why: str
    instead: str
    offends: tuple[Tree, ...]
    passes: tuple[Tree, ...]

    def check(self) -> None:
        """Fail with every offender of the whole project."""
        offenders = list(dict.fromkeys(self.find(project())))
        if offenders:
            lines = "\n  ".join(offenders)
            pytest.fail(f"{len(offenders)} against the rule.\n{self.why}\n{self.instead}\n  {lines}", pytrace=False)

    def check_examples(self) -> None:
        """Fail with every example that the rule judges wrongly."""
        missed = [tree for tree in self.offends if not list(self.find(planted(tree)))]
        assert missed == [], "the rule must find an offender in each of these"
        invented = {found: tree for tree in self.passes for found in self.find(planted(tree))}
        assert invented == {}, "the rule must find nothing here"
        assert self.offends, "a rule that has no example of an offender may be one that never finds any"
        assert self.passes, "a rule that has no example of what is allowed may be one that forbids everything"


def each(find: Callable[[Module], Iterable[str]]) -> Callable[[Sequence[Module]], Iterable[str]]:
    """Return a search of a whole project, from one that looks at a single module."""
    return lambda modules: (offender for module in modules for offender in find(module))


def planted(tree: Tree) -> list[Module]:
    """Return the modules of a synthetic project."""
    return [Module(path, text) for path, text in tree.items()]
