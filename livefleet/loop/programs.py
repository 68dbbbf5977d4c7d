"""The programs of the autoscaling loop, and the Go modules that pin them."""

from ..go_tools import Tool

PROMETHEUS = Tool(
    "prometheus",
    ("github.com/prometheus/prometheus/cmd/prometheus",),
    # Service discovery of the clouds is three quarters of the program; files, HTTP and static targets remain.
    tags="remove_all_sd",
)
ADAPTER = Tool("adapter", ("inference-platform/livefleet/tools/adapter",))
