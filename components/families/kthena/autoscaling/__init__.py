"""Renders policies and bindings as autoscalers."""
