"""Where the Prometheus of this package answers inside the cluster."""

PROMETHEUS_URL = "http://kube-prometheus-stack-prometheus.monitoring.svc"
PROMETHEUS_PORT = 9090
PROMETHEUS_ACCOUNT = "kube-prometheus-stack-prometheus"
"""Name that the chart gives to the ServiceAccount of Prometheus, in the release that is installed here."""
