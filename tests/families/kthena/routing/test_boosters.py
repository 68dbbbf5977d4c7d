"""Routes by hand lead to what a ModelBooster becomes, by its ModelServer or by the labels of its pods."""

import pytest

from tests.families.kthena.routing.routes import model_route, model_server, rule
from tests.families.kthena.serving.support import LABEL, VLLM, WORKLOAD_API, Object
from tests.fleets import errors, fleet_of

BOOSTER: Object = {
    "apiVersion": WORKLOAD_API,
    "kind": "ModelBooster",
    "metadata": {"name": "demo", "namespace": "ns"},
    "spec": {
        "backends": [
            {
                "name": "b1",
                "type": "vLLM",
                "modelURI": "hf://org/name",
                "minReplicas": 1,
                "maxReplicas": 1,
                "workers": [{"image": VLLM, "config": {"served-model-name": "q"}}],
            }
        ]
    },
}
OWN = model_server("own", model="q", workloadSelector={"matchLabels": {f"{LABEL}/name": "demo-b1"}})


@pytest.mark.parametrize(
    "documents",
    [(model_route(rule("demo-b1"), model="alias"),), (OWN, model_route(rule("own"), model="alias"))],
    ids=["its ModelServer", "its labels"],
)
def test_a_further_name_for_a_booster(documents: tuple[Object, ...]) -> None:
    fleet = fleet_of(BOOSTER, *documents)
    assert not errors(fleet), [str(problem) for problem in errors(fleet)]
    found = {e.model: [(b.service, b.workload, b.served_name) for b in e.backends] for _, e in fleet.endpoints}
    assert found == {
        "alias": [("demo-b1-leader", "demo-b1", "q")],
        "demo": [("demo-b1-leader", "demo-b1", "q")],
    }
    services = [body["metadata"]["name"] for body in fleet.objects if body["kind"] == "Service"]
    assert services == ["demo-b1-leader"]


@pytest.mark.parametrize(("regex", "wrong"), [("(?!/admin)/v1/.*", ["spec.modelMatch.uri.regex"]), ("/v1/.*", [])])
def test_a_pattern_of_a_booster_that_no_router_accepts_is_refused(regex: str, wrong: list[str]) -> None:
    spec = {**BOOSTER["spec"], "modelMatch": {"uri": {"regex": regex}}}
    assert [problem.path for problem in errors(fleet_of({**BOOSTER, "spec": spec}))] == wrong


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"modelURI": "pvc:///c/../x", "cacheURI": "pvc://c"}, ["spec.backends[0].modelURI"]),
        ({"modelURI": "pvc:///c/x", "cacheURI": "pvc://c"}, []),
    ],
)
def test_a_folder_above_the_claim_is_refused(fields: Object, wrong: list[str]) -> None:
    backend = {**BOOSTER["spec"]["backends"][0], **fields}
    fleet = fleet_of({**BOOSTER, "spec": {**BOOSTER["spec"], "backends": [backend]}})
    assert [problem.path for problem in errors(fleet)] == wrong
