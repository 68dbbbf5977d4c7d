"""From the plan of a stack to what is played of it."""
