"""A toy family: what a fifth API would add, and nothing outside this folder knows of it."""
