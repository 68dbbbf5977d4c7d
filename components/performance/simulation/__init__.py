"""Simulates autoscalers on a trace of metrics: traces, HorizontalPodAutoscalers, and what runs are measured by."""
