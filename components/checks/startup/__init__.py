"""Arguments that an engine refuses at startup."""
