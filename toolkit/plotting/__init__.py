"""Charts for terminals, and pictures as files."""
