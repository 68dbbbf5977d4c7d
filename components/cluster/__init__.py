"""ComponentResources that make nodes."""
