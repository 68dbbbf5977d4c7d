"""What must set each alert off, and what must not: series over time, one row per alert.

Numbers are those of the alert's own words ("more than ten wait"), worked out by hand. Values are in promtool's
notation, one per minute: ``20x600`` stays at 20, ``0+6x600`` grows by 6.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.monitoring.alerts.series import NAMESPACE, autoscaler, blind, gpu, served, state

LONG = "x600"
"""Ten hours: longer than anything is waited for."""


@dataclass(frozen=True, slots=True)
class Case:
    """One way to set an alert off.

    Attributes:
        over: values by series, with which it must fire.
        under: values by series, with which it must never; the nearest that there are.
        labels: of the alert, besides its severity.
        summary: what is read first when it fires.
        since: minutes until the condition of ``over`` holds first.
    """

    over: Mapping[str, str]
    under: Mapping[str, str]
    labels: Mapping[str, str]
    summary: str
    since: int = 0


def of(engine: str) -> dict[str, str]:
    return {"namespace": NAMESPACE, "model": "qwen", "workload": engine}


ON_GPU = {"Hostname": "gpu-1", "gpu": "0"}


def queue(series: str, engine: str) -> Case:
    """15 and 9 in two pods are twelve per pod; 15 and 5 are ten, and not more."""
    return Case(
        over={served(series, engine): f"15{LONG}", served(series, engine, 1): f"9{LONG}"},
        under={served(series, engine): f"15{LONG}", served(series, engine, 1): f"5{LONG}"},
        labels=of(engine),
        summary=f"{engine}: 12 requests are waiting per pod",
    )


def first_token(series: str, engine: str) -> Case:
    """One request a second: all of them within 5 and 10 s, or all but one in twenty below 5 s."""

    def buckets(*growth: int) -> dict[str, str]:
        bounds = ("1.0", "5.0", "10.0", "+Inf")
        return {
            served(f"{series}_bucket", engine, le=bound): f"0+{each}{LONG}"
            for bound, each in zip(bounds, growth, strict=True)
        }

    return Case(
        over=buckets(0, 0, 60, 60),
        under=buckets(0, 57, 60, 60),
        labels=of(engine),
        summary=f"{engine}: time to first token (95th percentile) is 9.75s",
        since=1,
    )


def cache(series: str, engine: str) -> Case:
    return Case(
        over={served(series, engine): f"0.98{LONG}", served(series, engine, 1): f"0.96{LONG}"},
        under={served(series, engine): f"1{LONG}", served(series, engine, 1): f"0.9{LONG}"},
        labels=of(engine),
        summary=f"{engine}: the KV cache is 97% full",
    )


def http(status: str, handler: str = "/v1/chat/completions") -> str:
    return served("http_requests_total", "vllm", handler=handler, status=status)


def tgi(series: str) -> str:
    return served(f"tgi_request_{series}", "tgi")


RESTARTS = state("kube_pod_container_status_restarts_total", pod="vllm-5d-x", container="model-runner")
TENTH = "{}: 10% of the requests fail"
ROWS: Mapping[str, Mapping[str, Case]] = {
    "ModelQueueTooLong": {
        "vllm": queue("vllm:num_requests_waiting", "vllm"),
        "sglang": queue("sglang:num_queue_reqs", "sglang"),
        "tgi": queue("tgi_queue_size", "tgi"),
        "llamacpp": queue("llamacpp:requests_deferred", "llamacpp"),
        # Two engines in one pod: 16 wait there, and 6 in the other pod.
        "data-parallel": Case(
            over={
                served("vllm:num_requests_waiting", "vllm", engine="0"): f"8{LONG}",
                served("vllm:num_requests_waiting", "vllm", engine="1"): f"8{LONG}",
                served("vllm:num_requests_waiting", "vllm", 1, engine="0"): f"6{LONG}",
                served("vllm:num_requests_waiting", "vllm", 1, engine="1"): f"0{LONG}",
            },
            under={
                served("vllm:num_requests_waiting", "vllm", engine="0"): f"8{LONG}",
                served("vllm:num_requests_waiting", "vllm", engine="1"): f"2{LONG}",
            },
            labels=of("vllm"),
            summary="vllm: 11 requests are waiting per pod",
        ),
    },
    "ModelFirstTokenSlow": {
        "vllm": first_token("vllm:time_to_first_token_seconds", "vllm"),
        "sglang": first_token("sglang:time_to_first_token_seconds", "sglang"),
    },
    "ModelCacheNearlyFull": {
        "vllm": cache("vllm:kv_cache_usage_perc", "vllm"),
        "vllm-before-0.11": cache("vllm:gpu_cache_usage_perc", "vllm"),
        "sglang": cache("sglang:token_usage", "sglang"),
    },
    "ModelErrorRateHigh": {
        "vllm": Case(
            over={http("5xx"): f"0+6{LONG}", http("2xx"): f"0+54{LONG}"},
            under={http("5xx"): f"0+3{LONG}", http("2xx"): f"0+57{LONG}", http("5xx", "/metrics"): f"0+60{LONG}"},
            labels=of("vllm"),
            summary=TENTH.format("vllm"),
            since=1,
        ),
        "tgi": Case(
            over={tgi("count"): f"0+60{LONG}", tgi("success"): f"0+54{LONG}"},
            under={tgi("count"): f"0+60{LONG}", tgi("success"): f"0+58{LONG}"},
            labels=of("tgi"),
            summary=TENTH.format("tgi"),
            since=1,
        ),
        # A counter is there from its first event on: without a success there is no series of successes.
        "tgi-fails-always": Case(
            over={tgi("count"): f"0+60{LONG}"},
            under={tgi("count"): f"60{LONG}"},
            labels=of("tgi"),
            summary="tgi: 100% of the requests fail",
            since=1,
        ),
        "sglang": Case(
            over={
                served("sglang:num_aborted_requests_total", "sglang"): f"0+6{LONG}",
                served("sglang:num_requests_total", "sglang"): f"0+60{LONG}",
            },
            under={
                served("sglang:num_aborted_requests_total", "sglang"): f"0+3{LONG}",
                served("sglang:num_requests_total", "sglang"): f"0+60{LONG}",
            },
            labels=of("sglang"),
            summary=TENTH.format("sglang"),
            since=1,
        ),
    },
    "ModelNoReadyReplica": {
        "deployment": Case(
            over={
                state("kube_deployment_status_replicas_available", deployment="vllm"): f"0{LONG}",
                state("kube_deployment_spec_replicas", deployment="vllm"): f"2{LONG}",
            },
            # One that is ready, one that is scaled to zero, and somebody else's.
            under={
                state("kube_deployment_status_replicas_available", deployment="vllm"): f"1{LONG}",
                state("kube_deployment_spec_replicas", deployment="vllm"): f"2{LONG}",
                state("kube_deployment_status_replicas_available", deployment="tgi"): f"0{LONG}",
                state("kube_deployment_spec_replicas", deployment="tgi"): f"0{LONG}",
                state("kube_deployment_status_replicas_available", deployment="other"): f"0{LONG}",
                state("kube_deployment_spec_replicas", deployment="other"): f"1{LONG}",
            },
            labels={"namespace": NAMESPACE, "job": "kube-state-metrics", "deployment": "vllm"},
            summary="vllm: no replica is ready",
        ),
        "group": Case(
            over={
                state("kube_statefulset_status_replicas_ready", statefulset="vllm"): f"0{LONG}",
                state("kube_statefulset_replicas", statefulset="vllm"): f"1{LONG}",
            },
            under={
                state("kube_statefulset_status_replicas_ready", statefulset="vllm"): f"1{LONG}",
                state("kube_statefulset_replicas", statefulset="vllm"): f"1{LONG}",
            },
            labels={"namespace": NAMESPACE, "job": "kube-state-metrics", "statefulset": "vllm"},
            summary="vllm: no replica is ready",
        ),
    },
    "ModelNotScraped": {
        "pod": Case(
            over={served("up", "vllm"): f"0{LONG}"},
            # Pods of others have no such labels.
            under={served("up", "vllm"): f"1{LONG}", f'up{{namespace="{NAMESPACE}",pod="x"}}': f"0{LONG}"},
            labels={**of("vllm"), "pod": "vllm-0"},
            summary="vllm-0: its metrics cannot be scraped",
        ),
    },
    "ModelAutoscalerAtMaximum": {
        "hpa": Case(
            over={
                autoscaler("status_current_replicas"): f"4{LONG}",
                autoscaler("spec_max_replicas"): f"4{LONG}",
                autoscaler("spec_min_replicas"): f"1{LONG}",
            },
            # One with room, and one that is held at two replicas on purpose.
            under={
                autoscaler("status_current_replicas"): f"3{LONG}",
                autoscaler("spec_max_replicas"): f"4{LONG}",
                autoscaler("spec_min_replicas"): f"1{LONG}",
                autoscaler("status_current_replicas", "tgi"): f"2{LONG}",
                autoscaler("spec_max_replicas", "tgi"): f"2{LONG}",
                autoscaler("spec_min_replicas", "tgi"): f"2{LONG}",
            },
            labels={"namespace": NAMESPACE, "job": "kube-state-metrics", "horizontalpodautoscaler": "vllm"},
            summary="vllm: at its maximum of 4 replicas",
        ),
    },
    "ModelAutoscalerBlind": {
        "hpa": Case(
            over={
                blind("vllm"): f"1{LONG}",
                autoscaler("status_current_replicas"): f"1{LONG}",
            },
            # One that sees, and one of a workload that was stopped by hand.
            under={
                blind("vllm"): f"0{LONG}",
                autoscaler("status_current_replicas"): f"1{LONG}",
                blind("tgi"): f"1{LONG}",
                autoscaler("status_current_replicas", "tgi"): f"0{LONG}",
            },
            labels={
                "namespace": NAMESPACE, "job": "kube-state-metrics", "horizontalpodautoscaler": "vllm",
                "condition": "ScalingActive", "status": "false",
            },
            summary="vllm: cannot read its metric and does not scale",
        ),
    },
    "ModelPodPending": {
        "pod": Case(
            over={state("kube_pod_status_phase", pod="vllm-5d-x", phase="Pending"): f"1{LONG}"},
            under={
                state("kube_pod_status_phase", pod="vllm-5d-x", phase="Pending"): f"0{LONG}",
                state("kube_pod_status_phase", pod="vllm-5d-x", phase="Running"): f"1{LONG}",
                state("kube_pod_status_phase", pod="other-5d-x", phase="Pending"): f"1{LONG}",
            },
            labels={"namespace": NAMESPACE, "job": "kube-state-metrics", "pod": "vllm-5d-x", "phase": "Pending"},
            summary="vllm-5d-x: stays Pending",
        ),
    },
    # From five to eight and to seven: extrapolated over the hour, these are 3.05 and 2.03.
    "ModelEngineRestarts": {
        "pod": Case(
            over={RESTARTS: f"5x60 8{LONG}"},
            under={RESTARTS: f"5x60 7{LONG}"},
            labels={
                "namespace": NAMESPACE, "job": "kube-state-metrics", "pod": "vllm-5d-x", "container": "model-runner",
            },
            summary="vllm-5d-x: container model-runner was restarted 3 times in an hour",
            since=61,
        ),
    },
    "GpuXidError": {
        "gpu": Case(
            over={gpu("DCGM_FI_DEV_XID_ERRORS"): f"79{LONG}"},
            under={gpu("DCGM_FI_DEV_XID_ERRORS"): f"0{LONG}"},
            labels=ON_GPU,
            summary="gpu-1 GPU 0: XID error 79",
        ),
    },
    "GpuTooHot": {
        "gpu": Case(
            over={gpu("DCGM_FI_DEV_GPU_TEMP"): f"86{LONG}"},
            under={gpu("DCGM_FI_DEV_GPU_TEMP"): f"85{LONG}"},
            labels=ON_GPU,
            summary="gpu-1 GPU 0: 86 degrees Celsius",
        ),
    },
    "GpuIdle": {
        "gpu": Case(
            over={gpu("DCGM_FI_DEV_GPU_UTIL"): f"0{LONG}"},
            # One busy minute in each half of an hour.
            under={gpu("DCGM_FI_DEV_GPU_UTIL"): " ".join(["0x28 50"] * 20)},
            labels=ON_GPU,
            summary="gpu-1 GPU 0: has been idle for hours",
        ),
    },
}  # fmt: skip
