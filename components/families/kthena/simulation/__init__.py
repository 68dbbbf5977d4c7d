"""Kthena's autoscaler as a function: a trace of metrics in, replicas out (Kthena spec 4)."""
