"""What a cluster must provide for a resource to work; :mod:`..prerequisites` has a chart for each."""

LEADER_WORKER_SET = "leaderworkerset"
RESOURCE_METRICS = "metrics-server"
CUSTOM_METRICS = "custom-metrics"
EXTERNAL_METRICS = "external-metrics"
