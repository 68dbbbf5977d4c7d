"""Hardening of workloads: security, availability, priorities and network access."""
