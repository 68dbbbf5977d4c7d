"""Scripts that start an engine: what can be read of them, and what is wrong in them."""
