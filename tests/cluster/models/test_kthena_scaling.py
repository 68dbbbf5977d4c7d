"""A real API server takes the autoscaler of any policy that is not refused here, and no other."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from components.families import objects
from components.fleet.options import Options
from components.plan.rendering import render_fleet
from tests.families.kthena.autoscaling.bindings import binding, metric, policy, serving
from tests.families.kthena.autoscaling.test_any_policy import BEHAVIOR, BOUNDS, METRICS, TOLERANCE
from tests.tries import tries
from toolkit.kube import APPLY, Kube, KubeError

Object = dict[str, Any]
STRICT = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": "test-kthena-scaling", "force": "true"}
EXAMPLES = tries(300)


def answer(kube: Kube, body: Object, namespace: str) -> Object | str:
    """The object as the server would store it, or why it is refused."""
    there = {**body, "metadata": {**body["metadata"], "namespace": namespace}}
    try:
        stored: Object = kube.request("PATCH", kube.path_of(there), params=STRICT, body=there, content_type=APPLY)
    except KubeError as error:
        return error.message
    return stored


def scaler(behavior: Object, metrics: dict[str, str], tolerance: int, bounds: tuple[int, int]) -> Object | None:
    asked = policy(*(metric(*each) for each in metrics.items()), behavior=behavior, tolerancePercent=tolerance)
    documents = serving(), asked, binding(minimum=max(1, bounds[0]), maximum=max(bounds))
    found = render_fleet(objects(list(documents)).resources, Options(tolerates_changes=True)).autoscalers
    return next((each.hpa for _, each in found), None)


def test_the_api_server_takes_the_autoscaler_of_any_policy(kube: Kube, namespace: str) -> None:
    stored = []

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(BEHAVIOR, METRICS, TOLERANCE, BOUNDS)
    def taken(behavior: Object, metrics: dict[str, str], tolerance: int, bounds: tuple[int, int]) -> None:
        hpa = scaler(behavior, metrics, tolerance, bounds)
        if hpa is None:
            return
        found = answer(kube, hpa, namespace)
        assert isinstance(found, dict), found
        # Nothing is dropped or filled in: what is rendered is all that is said.
        assert found["spec"]["behavior"] == hpa["spec"]["behavior"]
        stored.append(found)

    taken()
    assert len(stored) > EXAMPLES / 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"policies": []}, "at least one Policy"),
        ({"policies": [{"type": "Pods", "value": 0, "periodSeconds": 15}]}, "greater than zero"),
        ({"policies": [{"type": "Pods", "value": 1, "periodSeconds": 0}]}, "greater than zero"),
        ({"policies": [{"type": "Pods", "value": 1, "periodSeconds": 1801}]}, "1800"),
        ({"stabilizationWindowSeconds": 3601}, "3600"),
        ({"tolerance": "-1"}, "tolerance"),
        ({"windowSeconds": 1}, "unknown"),
    ],
    ids=["none", "nothing", "no-time", "long", "window", "negative", "unknown"],
)
def test_what_would_be_wrong_is_refused_so(kube: Kube, namespace: str, change: Object, words: str) -> None:
    """Else the test above would pass whatever is made."""
    hpa = scaler({}, {"vllm:num_requests_waiting": "5"}, 10, (1, 4))
    assert hpa
    behavior = hpa["spec"]["behavior"]
    wrong = {**behavior, "scaleDown": {**behavior["scaleDown"], **change}}
    found = answer(kube, {**hpa, "spec": {**hpa["spec"], "behavior": wrong}}, namespace)
    assert isinstance(found, str)
    assert words in found
