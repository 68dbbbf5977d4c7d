"""``ENTRY_ADDRESS`` where each role instance is a set of its own: a name that a Service gives to the entry pod."""

import pytest

from tests.families.kthena.serving.support import Object, made, model_serving, pods, role
from tests.group_pods import pods_of, service_of
from tests.kubelet import environment

TEMPLATES: dict[str, Object] = {
    "no template of workers, so no Service of its own": {},
    "a template without workers": {"workerTemplate": pods()},
    "workers": {"workers": 2},
}


@pytest.mark.parametrize("fields", TEMPLATES.values(), ids=TEMPLATES)
def test_it_is_a_name_of_the_entry_pod(fields: Object) -> None:
    found = made(model_serving("ms", role("a", replicas=2, **fields), role("b")))
    sets = [body for (kind, _), body in found.items() if kind == "LeaderWorkerSet"]
    services = {name: body for (kind, name), body in found.items() if kind == "Service"}
    services |= {body["metadata"]["name"]: service_of(body) for body in sets}
    assert len(sets) == 3
    for each in sets:
        entry, *workers = pods_of(each)
        for pod in (entry, *workers):
            *host, service, namespace = environment(pod["spec"]["containers"][0], {})["ENTRY_ADDRESS"].split(".")
            assert namespace == "ns"
            assert host in ([], [entry["metadata"]["name"]])
            assert services[service]["spec"]["clusterIP"] == "None"
            assert services[service]["spec"]["selector"].items() <= entry["metadata"]["labels"].items()
