"""The programs of the loop, and the modules that pin them."""

from ..go_tools import Tool

PROMETHEUS = Tool(
    "prometheus",
    ("github.com/prometheus/prometheus/cmd/prometheus",),
    # Clouds' service discovery is three quarters of the program; files, HTTP and static targets stay.
    tags="remove_all_sd",
)
ADAPTER = Tool("adapter", ("sigs.k8s.io/prometheus-adapter/cmd/adapter",))
