"""Any ModelServing: as many pods as Kthena makes, gangs that can be met, names that no two objects share."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.fleet.rendered import Fleet
from components.fleet.words import Realization
from tests.families.kthena.serving.support import LABEL, Object, engine, group_of, model_serving, pods, role
from tests.fleets import errors, fleet_of
from tests.tries import tries

REQUESTS = {"cpu": "250m", "memory": "64Mi"}


@st.composite
def roles(draw: st.DrawFn) -> list[Object]:
    names = draw(st.lists(st.sampled_from(["a", "b1", "router", "x-y"]), min_size=1, max_size=4, unique=True))
    found = []
    for name in names:
        workers = draw(st.integers(0, 3))
        entry = pods(engine(resources={"requests": REQUESTS}))
        templates: dict[str, Any] = {"entryTemplate": entry}
        if workers or draw(st.booleans()):
            templates["workerTemplate"] = entry
        found.append(role(name, workers, replicas=draw(st.integers(0, 3)), **templates))
    return found


@st.composite
def servings(draw: st.DrawFn) -> Object:
    several = draw(roles())
    template: Object = {}
    if draw(st.booleans()):
        least = {
            each["name"]: draw(st.integers(0, each["replicas"] + each["workerReplicas"]))
            for each in several
            if draw(st.booleans())
        }
        template["gangPolicy"] = {"minRoleReplicas": least} if least else {}
    if draw(st.booleans()):
        template["networkTopology"] = {"mode": draw(st.sampled_from(["hard", "soft"]))}
    return model_serving("ms", *several, template=template, replicas=draw(st.integers(0, 4)))


def rendered(document: Object, **options: Any) -> Fleet:
    fleet = fleet_of(document, **options)
    assert not errors(fleet), [str(problem) for problem in errors(fleet)]
    return fleet


def pods_of_kthena(document: Object) -> int:
    """The sum over roles of (1 + workers) times replicas, for each group (Kthena spec 3.1)."""
    several = document["spec"]["template"]["roles"]
    return int(document["spec"]["replicas"] * sum((1 + r["workerReplicas"]) * r["replicas"] for r in several))


EXAMPLES = settings(max_examples=tries(150), deadline=None, suppress_health_check=list(HealthCheck))


@EXAMPLES
@given(servings())
def test_there_are_as_many_pods_as_kthena_makes(document: Object) -> None:
    # Its controller does not start such a gang (D-09).
    alone = model_serving("ms", *document["spec"]["template"]["roles"], replicas=document["spec"]["replicas"])
    for fleet in (rendered(document), rendered(alone, realization=Realization.OPERATOR)):
        demanded = sum(d.pods for _, workload in fleet.workloads for d in workload.pods)
        assert demanded == pods_of_kthena(document)
    bodies = [body for body in rendered(document).objects if body["kind"] == "LeaderWorkerSet"]
    assert sum(body["spec"]["replicas"] * group_of(body)["size"] for body in bodies) == pods_of_kthena(document)


@EXAMPLES
@given(servings())
def test_the_order_of_documents_and_the_number_of_times_change_nothing(document: Object) -> None:
    other = model_serving("other")
    first = [body for body in fleet_of(document, other).objects if body["metadata"]["name"] != "other"]
    second = [body for body in fleet_of(other, document).objects if body["metadata"]["name"] != "other"]
    assert first == second


@EXAMPLES
@given(servings())
def test_a_gang_can_be_met_by_its_pods(document: Object) -> None:
    """Each task that a PodGroup waits for has as many pods as it says, and the pods find the PodGroup."""
    bodies = list(rendered(document).objects)
    groups = {body["metadata"]["name"]: body["spec"] for body in bodies if body["kind"] == "PodGroup"}
    there: dict[tuple[str, str], int] = {}
    for body in (body for body in bodies if body["kind"] == "LeaderWorkerSet"):
        group = group_of(body)
        templates = [group[part] for part in ("leaderTemplate", "workerTemplate") if part in group]
        for template in templates:
            notes = template["metadata"].get("annotations", {})
            assert bool(notes) is bool(groups)
            assert template["spec"].get("schedulerName") == ("volcano" if groups else None)
            if notes:
                key = notes["scheduling.k8s.io/group-name"], notes["volcano.sh/task-spec"]
                there[key] = group["size"]
                assert template["metadata"]["labels"][f"{LABEL}/group-name"] == key[0]
    for name, spec in groups.items():
        assert spec["minMember"] == sum(spec["minTaskMember"].values())
        for task, count in spec["minTaskMember"].items():
            assert there[name, task] == count


@EXAMPLES
@given(servings(), st.integers(0, 3))
def test_more_groups_leave_the_others_as_they_are(document: Object, more: int) -> None:
    """An edit of the replicas adds objects and removes some, and changes none but the scale of the one set."""
    before = {(b["kind"], b["metadata"]["name"]): b for b in rendered(document).objects}
    larger = {**document, "spec": {**document["spec"], "replicas": document["spec"]["replicas"] + more}}
    after = {(b["kind"], b["metadata"]["name"]): b for b in rendered(larger).objects}
    assert before.keys() <= after.keys()
    for key, body in before.items():
        if key != ("LeaderWorkerSet", "ms"):
            assert after[key] == body
