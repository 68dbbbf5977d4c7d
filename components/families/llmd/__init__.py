"""llm-d's Workload Variant Autoscaler: replicas for a service level (``llmd.ai/v1alpha1``)."""
