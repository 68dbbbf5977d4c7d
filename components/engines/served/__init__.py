"""What a server serves: the names it answers to, and the adapters it is told of."""
