"""Where the Prometheus of this package answers inside the cluster."""

PROMETHEUS_URL = "http://kube-prometheus-stack-prometheus.monitoring.svc"
PROMETHEUS_PORT = 9090
