"""The performance model of a replica: a queue with continuous batching. Pure functions, without a clock."""
