"""The model of queues over arrays of numbers: whatever of it needs numpy."""
