"""Accelerators: visible memory, speed, valid parallelism, and instance types on which a model would fit."""
