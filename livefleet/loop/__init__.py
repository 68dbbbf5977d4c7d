"""The autoscaling loop: real Prometheus and prometheus-adapter with the rendered PodMonitors and rules."""
