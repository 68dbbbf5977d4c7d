"""Kthena: ModelBooster, ModelServing, AutoscalingPolicy, AutoscalingPolicyBinding, ModelServer and ModelRoute."""
