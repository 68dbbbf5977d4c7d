"""llmaz spec 2.6: Services written by hand, kinds of workload, and fleets of several resources."""

from typing import Any

import pytest
import yaml

from components.families import parse
from components.fleet.options import Options
from components.fleet.words import WorkloadChoice
from components.plan.rendering import render_fleet
from tests.families.llmaz.services import MODEL, lws, template, two
from tests.fleets import (
    GPU,
    endpoint_of,
    errors,
    fleet_of,
    objects,
    open_model,
    playground,
    runner,
    runtime,
    service,
    the_error,
    workload_of,
)

ROUTER: dict[str, Any] = {"spec": {"containers": [{"name": "router", "image": "example.com/r:1"}]}}
TOPOLOGY = {"leaderworkerset.sigs.k8s.io/exclusive-topology": "topology.kubernetes.io/zone"}


class TestHandWritten:
    def test_pods_keep_what_they_say(self) -> None:
        own = template(terminationGracePeriodSeconds=7, volumes=[{"name": "dshm", "emptyDir": {}}])
        own["metadata"] = {"labels": {"role": "x"}, "annotations": {"a": "b"}}
        made = objects(MODEL, service(workloadTemplate={"workerTemplate": own}))["Deployment"]["spec"]["template"]
        assert made["spec"]["terminationGracePeriodSeconds"] == 7
        assert made["spec"]["volumes"][0] == {"name": "dshm", "emptyDir": {}}
        assert made["metadata"]["labels"]["role"] == "x"
        assert made["metadata"]["annotations"] == {"a": "b"}
        assert made["spec"]["schedulerName"] == "default-scheduler"

    def test_labels_of_llmaz_overwrite(self) -> None:
        own = template()
        own["metadata"] = {"labels": {"llmaz.io/model-name": "other"}}
        made = objects(MODEL, service(workloadTemplate={"workerTemplate": own}))["Deployment"]["spec"]["template"]
        assert made["metadata"]["labels"]["llmaz.io/model-name"] == "m"

    def test_rendering_leaves_the_manifest_as_it_was(self) -> None:
        documents = (open_model(flavors=[GPU]), service(workloadTemplate=two()))
        fleet = fleet_of(*documents)
        before = fleet.rendered[0].source.resource.wire()
        assert before["spec"]["workloadTemplate"] == two()
        assert "env" not in before["spec"]["workloadTemplate"]["workerTemplate"]["spec"]["containers"][0]

    def test_a_group_starts_together_and_keeps_its_policies(self) -> None:
        policy = {"subGroupPolicyType": "LeaderWorker", "subGroupSize": 1}
        spec = lws(MODEL, service(replicas=2, workloadTemplate=two(restartPolicy="None", subGroupPolicy=policy)))
        assert (spec["replicas"], spec["startupPolicy"]) == (2, "LeaderCreated")
        group = spec["leaderWorkerTemplate"]
        assert (group["size"], group["restartPolicy"], group["subGroupPolicy"]) == (2, "None", policy)

    @pytest.mark.parametrize("made", [service(annotations=TOPOLOGY), playground("s", annotations=TOPOLOGY)])
    def test_where_groups_may_be_is_told_to_the_controller_even_of_single_pods(self, made: dict[str, Any]) -> None:
        body = objects(MODEL, made)["LeaderWorkerSet"]
        assert body["metadata"]["annotations"] == TOPOLOGY
        problem = the_error(MODEL, made, workload=WorkloadChoice.DEPLOYMENT)
        assert "exclusive-topology requires a LeaderWorkerSet" in problem.reason

    @pytest.mark.parametrize("notes", [{"team": "a"}, {"llmaz.io/skip-model-loader": "false"}])
    def test_other_annotations_stay_where_they_are(self, notes: dict[str, str]) -> None:
        (body,) = (body for kind, body in objects(MODEL, service(annotations=notes)).items() if kind == "Deployment")
        assert "annotations" not in body["metadata"]
        assert (
            "annotations"
            not in objects(MODEL, service(annotations=notes, workloadTemplate=two()))["LeaderWorkerSet"]["metadata"]
        )

    def test_only_leaders_carry_the_labels_by_which_a_model_is_found(self) -> None:
        """llmaz spec 2.6, 3: requests and metrics of a model come from its leaders."""
        named = open_model(flavors=[GPU])
        claims = {"models": [{"name": "m"}], "inferenceFlavors": ["a10g"]}
        group = lws(named, service(modelClaims=claims, workloadTemplate=two()))["leaderWorkerTemplate"]
        assert group["leaderTemplate"]["metadata"] == {
            "labels": {"llmaz.io/model-name": "m", "llmaz.io/model-family-name": "qwen2"},
            "annotations": {"llmaz.io/inference-service-flavors": "a10g"},
        }
        assert "metadata" not in group["workerTemplate"]

    def test_without_leader_template_the_workers_carry_them(self) -> None:
        flat = {"size": 2, "workerTemplate": template()}
        group = lws(MODEL, service(workloadTemplate=flat))["leaderWorkerTemplate"]
        assert group["workerTemplate"]["metadata"]["labels"]["llmaz.io/model-name"] == "m"

    def test_the_deprecated_restart_policy_is_written_as_the_webhook_would(self) -> None:
        assert lws(MODEL, service(workloadTemplate=two(restartPolicy="Default")))["leaderWorkerTemplate"][
            "restartPolicy"
        ] == "None"  # fmt: skip

    def test_a_rollout_strategy_is_copied_and_has_a_default(self) -> None:
        written = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 2, "maxSurge": 1}}
        assert lws(MODEL, service(rolloutStrategy=written), workload=WorkloadChoice.LWS)["rolloutStrategy"] == written
        assert lws(MODEL, service(), workload=WorkloadChoice.LWS)["rolloutStrategy"] == {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0},
        }
        made = objects(MODEL, service(rolloutStrategy=written))["Deployment"]["spec"]["strategy"]
        assert made == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2, "maxSurge": 1}}

    def test_limits_and_places_reach_both_templates(self) -> None:
        flavored = open_model(flavors=[{**GPU, "params": {"INSTANCE-TYPE": "g5.xlarge"}}])
        group = lws(flavored, service(workloadTemplate=two()))["leaderWorkerTemplate"]
        for part in ("leaderTemplate", "workerTemplate"):
            spec = group[part]["spec"]
            assert spec["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": 1}
            assert "nodeAffinity" in spec["affinity"]
            assert spec["tolerations"][0]["key"] == "nvidia.com/gpu"

    def test_a_leader_may_do_without_the_runner(self) -> None:
        """The contract asks for one among the workers alone; a router reads no weights."""
        flavored = open_model(flavors=[GPU])
        group = lws(flavored, service(workloadTemplate=two(leaderTemplate=ROUTER)))["leaderWorkerTemplate"]
        leader, worker = group["leaderTemplate"]["spec"], group["workerTemplate"]["spec"]
        assert "initContainers" not in leader
        assert "volumes" not in leader
        assert "resources" not in leader["containers"][0]
        assert [container["name"] for container in worker["initContainers"]] == ["model-loader"]

    def test_a_leader_that_mounts_the_weights_gets_them(self) -> None:
        mounts = [{"name": "model-volume", "mountPath": "/models"}]
        reads = {"spec": {"containers": [{**ROUTER["spec"]["containers"][0], "volumeMounts": mounts}]}}
        group = lws(MODEL, service(workloadTemplate=two(leaderTemplate=reads)))["leaderWorkerTemplate"]
        leader = group["leaderTemplate"]["spec"]
        assert [container["name"] for container in leader["initContainers"]] == ["model-loader"]
        assert leader["volumes"] == [{"name": "model-volume", "emptyDir": {}}]
        assert leader["containers"][0]["volumeMounts"] == mounts

    def test_a_leader_that_is_alone_needs_the_runner(self) -> None:
        problem = the_error(MODEL, service(workloadTemplate=two(size=1, leaderTemplate=ROUTER)))
        assert problem.path == "spec.workloadTemplate.leaderTemplate.spec.containers"
        assert "model-runner" in problem.reason

    @pytest.mark.parametrize(
        ("container", "port"),
        [
            (runner(), 8080),
            (runner(args=["--port", "9000"]), 9000),
            (runner(command=["sh", "-c"], args=["ray start --head --port=6379; serve --port 9000"]), 9000),
            (runner(command=["sh", "-c"], args=["ray start --head --port 6379 && serve"]), 8080),
            (runner(ports=[{"containerPort": 40000}]), 40000),
            (runner(ports=[{"containerPort": 1}, {"name": "http", "containerPort": 40000}]), 40000),
            (runner(ports=[{"name": "http", "containerPort": 40000}], args=["--port", "9000"]), 40000),
        ],
    )
    def test_the_balancer_finds_the_port(self, container: Any, port: int) -> None:
        own = {"workerTemplate": {"spec": {"containers": [container]}}}
        made = objects(MODEL, service(workloadTemplate=own))["Service"]["spec"]["ports"]
        assert made == [{"name": "http", "port": 8080, "protocol": "TCP", "targetPort": port}]


class TestWorkloadKind:
    """A replica of one pod is a Deployment, unless a group is asked for (decision 58)."""

    @pytest.mark.parametrize(
        ("fields", "kind"),
        [
            ({}, "Deployment"),
            ({"workloadTemplate": two()}, "LeaderWorkerSet"),
            ({"workloadTemplate": {"size": 1, "workerTemplate": template()}}, "Deployment"),
            (
                {"workloadTemplate": {"workerTemplate": template(), "leaderTemplate": template()}},
                "Deployment",
            ),
            (
                {
                    "replicas": 3,
                    "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": {"partition": 1}},
                },
                "LeaderWorkerSet",
            ),
        ],
    )
    def test_auto(self, fields: Any, kind: str) -> None:
        fleet = fleet_of(MODEL, service(**fields))
        assert [workload_of(item).kind for item in fleet.rendered] == [kind]

    def test_a_leader_alone_is_what_runs(self) -> None:
        one = {"workerTemplate": template(), "leaderTemplate": template(priorityClassName="leader")}
        made = objects(MODEL, service(workloadTemplate=one))["Deployment"]["spec"]["template"]
        assert made["spec"]["priorityClassName"] == "leader"

    def test_lws_when_asked_for(self) -> None:
        spec = lws(MODEL, service(replicas=4), workload=WorkloadChoice.LWS)
        assert (spec["replicas"], spec["startupPolicy"], spec["leaderWorkerTemplate"]["size"]) == (
            4,
            "LeaderReady",
            1,
        )

    def test_deployments_need_no_leader_worker_set(self) -> None:
        assert fleet_of(MODEL, service()).rendered[0].needs == frozenset()

    def test_a_new_pod_does_not_wait_for_an_idle_accelerator(self) -> None:
        spec = objects(MODEL, playground())["Deployment"]["spec"]
        assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 1, "maxSurge": 0}


def test_a_namespace_must_be_a_name() -> None:
    with pytest.raises(ValueError, match=r"^namespace must be lower-case letters"):
        Options(namespace="A b")


class TestFleet:
    def test_what_could_not_be_read_is_not_called_missing(self) -> None:
        """One mistake, one message."""
        config: dict[str, Any] = {"backendRuntimeConfig": {"backendName": "own"}}
        for broken in (open_model(), runtime("own")):
            broken["spec"]["typo"] = 1
            other = runtime("own") if broken["kind"] == "OpenModel" else MODEL
            documents = [broken, other, playground(**config)]
            manifests = parse(yaml.safe_dump_all(documents))
            assert len(manifests.problems) == 1
            assert len(render_fleet(manifests.resources).problems) == 1
            fleet = render_fleet(manifests.resources, unread=manifests.problems)
            assert (fleet.problems, fleet.rendered) == ((), ())

    def test_a_missing_model_is_named_with_the_nearest(self) -> None:
        problem = the_error(open_model("qwen2-7b"), playground(model="qwen2-7"))
        assert problem.path == "spec.modelClaim.modelName"
        assert "did you mean 'qwen2-7b'" in problem.reason
        assert (problem.file, problem.kind, problem.name) == ("fleet.yaml", "Playground", "p")
        assert problem.line > 1

    def test_every_missing_model_of_a_claim_is_named(self) -> None:
        refs = {"models": [{"name": "a"}, {"name": "b", "role": "draft"}]}
        problems = errors(fleet_of(playground(modelClaims=refs)))
        assert [p.path for p in problems] == ["spec.modelClaims.models[0].name", "spec.modelClaims.models[1].name"]

    def test_problems_of_all_resources_come_at_once_and_the_rest_is_rendered(self) -> None:
        fleet = fleet_of(MODEL, playground("a", "x"), playground("b", "z"), playground("c"))
        assert [p.name for p in errors(fleet)] == ["a", "b"]
        assert [item.name for item in fleet.rendered] == ["c"]

    @pytest.mark.parametrize(
        "documents",
        [
            (MODEL, MODEL),
            (runtime(), runtime()),
            (MODEL, playground(), playground()),
            (MODEL, playground("x"), service("x")),
        ],
    )
    def test_a_name_is_taken_once(self, documents: tuple[dict[str, Any], ...]) -> None:
        (problem,) = errors(fleet_of(*documents))
        assert problem.path == "metadata.name"
        assert "fleet.yaml:" in problem.reason

    def test_a_namespace_that_is_the_default_one_is_no_other(self) -> None:
        named = playground()
        named["metadata"]["namespace"] = "default"
        assert len(errors(fleet_of(MODEL, playground(), named))) == 1
        named["metadata"]["namespace"] = "other"
        assert not errors(fleet_of(MODEL, playground(), named))

    def test_objects_of_two_resources_cannot_have_one_name(self) -> None:
        """The headless Service of a LeaderWorkerSet ``a-lb`` is the balancer of ``a``."""
        problem = the_error(MODEL, playground("a"), playground("a-lb"), workload=WorkloadChoice.LWS)
        assert "a-lb" in problem.reason
        assert not errors(fleet_of(MODEL, playground("a"), playground("a-lb")))

    def test_namespaces(self) -> None:
        own = playground()
        own["metadata"]["namespace"] = "own"
        (item,) = fleet_of(MODEL, own, namespace="other").rendered
        assert {body["metadata"]["namespace"] for body in item.objects} == {"own"}
        (item,) = fleet_of(MODEL, playground(), namespace="other").rendered
        assert {body["metadata"]["namespace"] for body in item.objects} == {"other"}
        assert endpoint_of(item).url == "http://p-lb.other.svc.cluster.local:8080/v1"

    def test_a_leader_worker_set_of_the_user_passes_through(self) -> None:
        body = {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {"name": "raw"},
            "spec": {"leaderWorkerTemplate": {"workerTemplate": template()}},
        }
        (item,) = fleet_of(body).rendered
        assert item.objects == ({**body, "metadata": {"name": "raw", "namespace": "default"}},)
        assert item.needs == {"leaderworkerset"}
