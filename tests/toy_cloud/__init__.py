"""A cloud that the project does not know: two instance types, prices, and one rule of its own."""
