"""What holds for every ModelBooster: what it becomes is valid, depends on it alone, and shows nothing in clear."""

import copy

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.families import objects as read
from components.families.kthena.booster.context import ExpansionOptions
from tests.families.kthena.booster.strategies import boosters
from tests.families.kthena.booster.support import (
    CONTROLLERS,
    SERVING,
    Object,
    backend,
    engine_of,
    expanded,
    problems_of,
    role_of,
    words_of,
)

OPTIONS = st.sampled_from([ExpansionOptions(), CONTROLLERS])
runs = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))


@runs
@given(boosters(), OPTIONS)
def test_what_it_becomes_is_valid(document: Object, options: ExpansionOptions) -> None:
    bodies = list(expanded(document, options).values())
    again = read(bodies)
    assert not again.problems, list(map(str, again.problems))
    assert [source.resource.wire() for source in again.resources] == bodies


@runs
@given(boosters(), OPTIONS)
def test_it_is_the_same_each_time(document: Object, options: ExpansionOptions) -> None:
    assert expanded(document, options) == expanded(copy.deepcopy(document), options)


@runs
@given(boosters())
def test_the_servers_select_their_own_pods_alone(document: Object) -> None:
    found = expanded(document)
    servings = {name: body for (kind, name), body in found.items() if kind == "ModelServing"}
    servers = {name: body for (kind, name), body in found.items() if kind == "ModelServer"}
    assert set(servings) == set(servers)
    for name, server in servers.items():
        wanted = server["spec"]["workloadSelector"]["matchLabels"].items()
        for other, serving in servings.items():
            for place, _ in enumerate(serving["spec"]["template"]["roles"]):
                labels = role_of(serving, place)["entryTemplate"]["metadata"]["labels"]
                assert (wanted <= labels.items()) is (name == other)


@runs
@given(boosters())
def test_the_references_lead_somewhere(document: Object) -> None:
    found = expanded(document)
    for (kind, _), body in found.items():
        if kind == "ModelRoute":
            for rule in body["spec"]["rules"]:
                assert all(("ModelServer", each["modelServerName"]) in found for each in rule["targetModels"])
        if kind == "AutoscalingPolicyBinding":
            spec = body["spec"]
            assert ("AutoscalingPolicy", spec["policyRef"]["name"]) in found
            optimizer = spec.get("optimizerConfiguration", {})
            for part in optimizer.get("params") or [spec["scalingConfiguration"]]:
                serving = found["ModelServing", part["target"]["targetRef"]["name"]]
                (role,) = part["target"]["additionalMatchLabels"].values()
                assert role in [each["name"] for each in serving["spec"]["template"]["roles"]]


@runs
@given(boosters(), OPTIONS)
def test_no_variable_stands_twice(document: Object, options: ExpansionOptions) -> None:
    for (kind, _), body in expanded(document, options).items():
        if kind != "ModelServing":
            continue
        for role in body["spec"]["template"]["roles"]:
            for part in (role["entryTemplate"], role.get("workerTemplate")):
                for container in part["spec"]["containers"] if part else ():
                    names = [each["name"] for each in container["env"]]
                    assert len(names) == len(set(names))


@runs
@given(boosters())
def test_an_edit_of_one_backend_leaves_the_others_alone(document: Object) -> None:
    before = expanded(document)
    edited = copy.deepcopy(document)
    edited["spec"]["backends"][0]["modelURI"] = "hf://org/edited"
    edited["spec"]["backends"].append(
        backend("zz", scalingCost=1) if "autoscalingPolicy" in document["spec"] else backend("zz")
    )
    if any("autoscalingPolicy" in each for each in document["spec"]["backends"]):
        edited["spec"]["backends"][-1]["maxReplicas"] = 1
    after = expanded(edited)
    model, own = document["metadata"]["name"], document["spec"]["backends"][0]["name"]
    touched = {(kind, name) for (kind, name), body in before.items() if after.get((kind, name)) != body}
    assert touched <= {("ModelServing", f"{model}-{own}"), ("ModelRoute", model), ("AutoscalingPolicyBinding", model)}


@runs
@given(boosters(), OPTIONS)
def test_strings_of_the_user_reach_the_engine_as_they_are(document: Object, options: ExpansionOptions) -> None:
    found = expanded(document, options)
    for part in document["spec"]["backends"]:
        serving = found["ModelServing", f"{document['metadata']['name']}-{part['name']}"]
        for place, worker in enumerate(part["workers"]):
            words = words_of(engine_of(serving, place))
            for key, value in (worker.get("config") or {}).items():
                if isinstance(value, str) and value and key.startswith("x-"):
                    assert value in words or f"--{key.replace('_', '-')}={value}" in words
            variables = engine_of(serving, place)["env"]
            assert variables[: len(part["env"])] == part["env"]


@runs
@given(boosters(), OPTIONS)
def test_labels_of_pods_are_those_of_nobody_else(document: Object, options: ExpansionOptions) -> None:
    for (kind, _), body in expanded(document, options).items():
        if kind == "ModelServing":
            for role in body["spec"]["template"]["roles"]:
                labels = role["entryTemplate"]["metadata"]["labels"]
                assert not any(key.startswith(SERVING) for key in labels), "which whoever runs it gives"


@runs
@given(boosters())
def test_there_is_nothing_to_say_against_it(document: Object) -> None:
    assert [str(problem) for problem in problems_of(document) if problem.is_error] == []
