"""The part of the queueing model that needs numpy: many cases at once, as arrays."""
