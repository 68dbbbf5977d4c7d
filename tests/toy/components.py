"""The component of the toy."""

from components.resources.serving.workload_component import WorkloadComponent


class Pair(WorkloadComponent):
    """Two Deployments, and a Service for each."""
