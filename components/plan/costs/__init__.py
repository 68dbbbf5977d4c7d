"""What a fleet and its environment cost: dated prices, and arithmetic on plain data."""
