"""The loop of autoscaling: real Prometheus and prometheus-adapter, fed by the rendered PodMonitors and rules."""
