"""Simulated nodes: held in reserve by cordoning, started for unschedulable pods, and returned when idle."""
