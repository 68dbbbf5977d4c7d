"""Pure functions: does it fit, and what is wrong, before anything is created."""
