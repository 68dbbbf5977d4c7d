"""What a cluster must provide for a resource to work: one of these, or the name of a chart of the prerequisites."""

LEADER_WORKER_SET = "leaderworkerset"
RESOURCE_METRICS = "metrics-server"
CUSTOM_METRICS = "custom-metrics"
EXTERNAL_METRICS = "external-metrics"
