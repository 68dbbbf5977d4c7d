"""Metrics of CPU and memory need requests, and metrics from elsewhere a series."""

from typing import Any

import pytest

from tests.checks.metrics.checked import CPU, TRIGGER, UTILIZATION, problems, read, scaled, the_problem
from tests.fleets import playground, runtime


class TestExternal:
    def test_a_desired_count_with_value_runs_away(self) -> None:
        wrong = read("External", "inferno_desired_replicas", "1", "Value")
        problem = the_problem(scaled(wrong))
        assert (problem.severity, problem.path) == ("error", f"{TRIGGER}.metrics[0].external.target.type")
        assert "without bound" in problem.reason
        assert not problems(scaled(read("External", "inferno_desired_replicas", "1")))

    def test_a_desired_ratio_is_the_other_way_round(self) -> None:
        assert not problems(scaled(read("External", "inferno_desired_ratio", "1", "Value")))
        assert the_problem(scaled(read("External", "inferno_desired_ratio", "1"))).path.endswith("target.type")

    def test_a_share_is_not_divided_once_more(self) -> None:
        wrong = read("External", "sglang:token_usage", "800m")
        assert the_problem(scaled(wrong, backend="sglang")).path.endswith("external.target.type")
        assert not problems(scaled(read("External", "sglang:token_usage", "800m", "Value"), backend="sglang"))
        assert the_problem(
            scaled(read("External", "sglang:token_usage", "80", "Value"), backend="sglang")
        ).path.endswith("external.target.value")

    def test_what_nothing_exports_is_pointed_out(self) -> None:
        problem = the_problem(scaled(read("External", "vllm_num_requests_wating")))
        assert (problem.severity, problem.path) == ("warning", f"{TRIGGER}.metrics[0].external.metric.name")
        assert "did you mean 'vllm_num_requests_waiting'" in problem.reason

    def test_a_metric_of_another_engine(self) -> None:
        problem = the_problem(scaled(read("External", "tgi_queue_size")))
        assert problem.severity == "warning"
        assert "namespace 'default'" in problem.reason

    def test_several_models_are_not_added_up_unnoticed(self) -> None:
        own = scaled(read("External", "vllm:num_requests_waiting"))
        problem = the_problem(own, playground("other"))
        assert problem.severity == "warning"
        assert "is the sum over other, p" in problem.reason
        assert "workload: p" in problem.reason
        chosen = scaled(read("External", "vllm:num_requests_waiting", selector={"matchLabels": {"workload": "p"}}))
        assert not problems(chosen, playground("other"))
        elsewhere = playground("other")
        elsewhere["metadata"]["namespace"] = "elsewhere"
        assert not problems(own, elsewhere)

    def test_the_version_counts_here_too(self) -> None:
        problem = the_problem(scaled(read("External", "vllm:kv_cache_usage_perc", "800m", "Value")))
        assert "0.9.2" in problem.reason


class TestRequests:
    """A share of the requests needs requests (autoscaling/v2)."""

    @staticmethod
    def document(*metrics: Any, **resources: Any) -> Any:
        fields: dict[str, Any] = {"resources": resources} if resources else {}
        return scaled(*metrics, backend="own", **fields)

    @pytest.mark.parametrize("metrics", [(), (CPU,)])
    def test_without_requests_it_cannot_be_read(self, metrics: Any) -> None:
        problem = the_problem(runtime(), self.document(*metrics))
        assert problem.severity == "error"
        assert problem.path.startswith(f"{TRIGGER}.metrics")
        assert "resources.requests.cpu" in problem.reason

    @pytest.mark.parametrize("metrics", [(), (CPU,)])
    def test_with_requests_it_can(self, metrics: Any) -> None:
        assert not problems(runtime(), self.document(*metrics, requests={"cpu": "1"}))
        assert not problems(runtime(), self.document(*metrics, limits={"cpu": "1"}))
        assert not problems(scaled(*metrics))

    def test_requests_of_something_else_do_not_help(self) -> None:
        memory = {"type": "Resource", "resource": {"name": "memory", "target": UTILIZATION}}
        assert the_problem(runtime(), self.document(memory, requests={"cpu": "1"})).path.endswith("resource.name")

    def test_an_amount_needs_none(self) -> None:
        amount = {
            "type": "Resource",
            "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "2"}},
        }
        assert not problems(runtime(), self.document(amount))

    def test_one_container(self) -> None:
        only = {
            "type": "ContainerResource",
            "containerResource": {"name": "cpu", "container": "model-runner", "target": UTILIZATION},
        }
        assert the_problem(runtime(), self.document(only)).path.endswith("containerResource.name")
        assert not problems(runtime(), self.document(only, requests={"cpu": "1"}))
