"""Simulates Kthena's autoscaler on a trace of metrics (Kthena spec 4)."""
