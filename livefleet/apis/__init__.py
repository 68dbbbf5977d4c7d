"""The APIs of the simulated engines, their deterministic answers, and ``/metrics``."""
