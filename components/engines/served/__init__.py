"""What a server accepts: model names, adapters, and how many requests."""
