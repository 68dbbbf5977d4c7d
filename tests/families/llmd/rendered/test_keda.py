"""With KEDA: what the name of a variant's autoscaler can be."""

import pytest

from components.checks.metrics.chain import MetricSettings, metric_chain
from components.checks.metrics.words import Adapter
from tests.families.llmd.support import fleet, of_llmkube, variant
from tests.fleets import errors


def faults(length: int, adapter: Adapter) -> list[tuple[str, str, str]]:
    """Title, field and reason of what is wrong with the autoscaler of a variant whose name has a length."""
    name = "c" * length
    weights, service = of_llmkube()
    service["metadata"]["name"] = name
    found = fleet(weights, service, variant(name))
    assert not errors(found)
    return [(p.kind, p.path, p.reason) for p in metric_chain(found, MetricSettings(adapter=adapter)).problems]


@pytest.mark.parametrize(("length", "adapter"), [(60, Adapter.KEDA), (61, Adapter.PROMETHEUS_ADAPTER)])
def test_names_that_fit(length: int, adapter: Adapter) -> None:
    assert faults(length, adapter) == []


def test_keda_makes_a_label_of_the_name() -> None:
    """Of what is added to it too: 61 and 3 characters."""
    ((kind, path, reason),) = faults(61, Adapter.KEDA)
    assert (kind, path) == ("VariantAutoscaling", "metadata.name")
    assert reason.startswith(f"the name of ScaledObject '{'c' * 61}-va' has 64 characters")
    assert reason.endswith("at most 63; shorten the name")
