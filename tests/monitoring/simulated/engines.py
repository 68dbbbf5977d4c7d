"""What the engines and their neighbours export: names and types as upstream documents them.

A second reading of the same documents that the project's own tables are made from; kept apart from them, so that a
wrong name in a generated rule finds no series here.
"""

from collections.abc import Mapping
from dataclasses import dataclass

GAUGE, COUNTER, HISTOGRAM = "gauge", "counter", "histogram"


@dataclass(frozen=True, slots=True)
class Engine:
    """One kind of ``/metrics`` page.

    Attributes:
        metrics: type by name; a histogram's name is without ``_bucket``, ``_sum`` and ``_count``.
        labels: what every series carries, with the value an engine starts with; None must be given by the test.
        queue: the gauge of requests that wait, where there is one.
        running: the gauge of requests in flight, where there is one.
        port: where it listens.
    """

    name: str
    port: int
    metrics: Mapping[str, str]
    labels: Mapping[str, str | None]
    queue: str = ""
    running: str = ""


VLLM = Engine(
    name="vllm",
    port=8000,
    queue="vllm:num_requests_waiting",
    running="vllm:num_requests_running",
    # engine: one series per data-parallel engine in the same process.
    labels={"model_name": "model", "engine": "0"},
    metrics={
        "vllm:num_requests_waiting": GAUGE,
        "vllm:num_requests_running": GAUGE,
        "vllm:kv_cache_usage_perc": GAUGE,
        "vllm:request_success_total": COUNTER,
        "vllm:prompt_tokens_total": COUNTER,
        "vllm:generation_tokens_total": COUNTER,
        "vllm:request_queue_time_seconds": HISTOGRAM,
        "vllm:time_to_first_token_seconds": HISTOGRAM,
        "vllm:inter_token_latency_seconds": HISTOGRAM,
        "vllm:e2e_request_latency_seconds": HISTOGRAM,
        "vllm:request_prompt_tokens": HISTOGRAM,
        "vllm:request_generation_tokens": HISTOGRAM,
    },
)
SGLANG = Engine(
    name="sglang",
    port=30000,
    queue="sglang:num_queue_reqs",
    running="sglang:num_running_reqs",
    labels={"model_name": "model", "engine_type": "unified", "tp_rank": "0", "pp_rank": "0"},
    metrics={
        "sglang:num_queue_reqs": GAUGE,
        "sglang:num_running_reqs": GAUGE,
        "sglang:token_usage": GAUGE,
        "sglang:cache_hit_rate": GAUGE,
        "sglang:num_used_tokens": GAUGE,
        "sglang:gen_throughput": GAUGE,
        "sglang:time_to_first_token_seconds": HISTOGRAM,
        "sglang:prompt_tokens_total": COUNTER,
        "sglang:generation_tokens_total": COUNTER,
        "sglang:num_requests_total": COUNTER,
    },
)
TGI = Engine(
    name="tgi",
    port=80,
    queue="tgi_queue_size",
    running="tgi_batch_current_size",
    labels={},
    metrics={
        "tgi_queue_size": GAUGE,
        "tgi_batch_current_size": GAUGE,
        "tgi_batch_current_max_tokens": GAUGE,
        "tgi_request_count": COUNTER,
        "tgi_request_success": COUNTER,
        "tgi_request_queue_duration": HISTOGRAM,
        "tgi_request_duration": HISTOGRAM,
        "tgi_request_mean_time_per_token_duration": HISTOGRAM,
    },
)
LLAMACPP = Engine(
    name="llamacpp",
    port=8080,
    queue="llamacpp:requests_deferred",
    running="llamacpp:requests_processing",
    labels={},
    metrics={
        "llamacpp:requests_deferred": GAUGE,
        "llamacpp:requests_processing": GAUGE,
        "llamacpp:prompt_tokens_seconds": GAUGE,
        "llamacpp:predicted_tokens_seconds": GAUGE,
        "llamacpp:n_busy_slots_per_decode": COUNTER,
        "llamacpp:n_tokens_max": COUNTER,
        "llamacpp:prompt_tokens_total": COUNTER,
        "llamacpp:tokens_predicted_total": COUNTER,
        "llamacpp:n_decode_total": COUNTER,
    },
)
DCGM = Engine(
    name="dcgm",
    port=9400,
    # pod, namespace and container name the workload on the GPU, not the exporter.
    labels={"gpu": None, "UUID": None, "Hostname": None, "namespace": None, "pod": None, "container": None},
    metrics={
        "DCGM_FI_DEV_GPU_UTIL": GAUGE,
        "DCGM_FI_DEV_FB_USED": GAUGE,
        "DCGM_FI_DEV_FB_FREE": GAUGE,
        "DCGM_FI_DEV_XID_ERRORS": GAUGE,
        "DCGM_FI_DEV_POWER_USAGE": GAUGE,
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE": GAUGE,
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": GAUGE,
        "DCGM_FI_PROF_DRAM_ACTIVE": GAUGE,
    },
)
WVA = Engine(
    name="wva",
    port=8443,
    labels={"variant_name": None, "namespace": None, "accelerator_type": None},
    metrics={
        "inferno_desired_replicas": GAUGE,
        "inferno_current_replicas": GAUGE,
        "inferno_desired_ratio": GAUGE,
        "inferno_replica_scaling_total": COUNTER,
    },
)
KUBE_STATE = Engine(
    name="kube-state-metrics",
    port=8080,
    # Labels of nodes are exported only as far as the chart is told to.
    labels={"node": None, "label_node_kubernetes_io_instance_type": None},
    metrics={"kube_node_labels": GAUGE},
)
ENGINES = (VLLM, SGLANG, TGI, LLAMACPP)
