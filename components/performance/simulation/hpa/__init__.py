"""The algorithm of HorizontalPodAutoscalers (kubernetes v1.36.3, pkg/controller/podautoscaler)."""
