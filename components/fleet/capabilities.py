"""What a cluster must offer for a resource to work, in words that :mod:`..prerequisites` has charts for."""

LEADER_WORKER_SET = "leaderworkerset"
RESOURCE_METRICS = "metrics-server"
CUSTOM_METRICS = "custom-metrics"
EXTERNAL_METRICS = "external-metrics"
