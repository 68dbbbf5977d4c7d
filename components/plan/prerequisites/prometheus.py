"""Address of the Prometheus that this package installs."""

PROMETHEUS_URL = "http://kube-prometheus-stack-prometheus.monitoring.svc"
PROMETHEUS_PORT = 9090
PROMETHEUS_ACCOUNT = "kube-prometheus-stack-prometheus"
"""ServiceAccount of Prometheus in the installed release."""
