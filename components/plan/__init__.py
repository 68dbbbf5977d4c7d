"""One pipeline with every check, before anything is created."""
