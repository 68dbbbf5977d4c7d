"""Helm and the copies of charts, where they are at hand."""

from collections.abc import Callable

import pytest

from tests.charts.rendering import Helm, NotAtHandError, Rendered, helm_for
from tests.charts.variants import USUAL, values


@pytest.fixture(scope="session")
def helm() -> Callable[[str], Helm]:
    """Helm with the copy of a chart; the tests of a chart of which there is none are skipped."""

    def found(chart: str) -> Helm:
        try:
            return helm_for(chart)
        except NotAtHandError as error:
            pytest.skip(str(error))

    return found


@pytest.fixture(scope="session")
def rendered(helm: Callable[[str], Helm]) -> Callable[..., Rendered]:
    """What a chart becomes under a choice; each is rendered once."""
    known: dict[tuple[str, str], Rendered] = {}

    def found(chart: str, choice: str = USUAL) -> Rendered:
        program = helm(chart)
        if (chart, choice) not in known:
            known[chart, choice] = program.render(values(chart, choice))
        return known[chart, choice]

    return found
