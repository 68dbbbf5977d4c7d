"""What an engine is told that decides how much memory it needs."""
