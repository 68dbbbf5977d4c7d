"""What the command line and the live fleet share; it knows neither of them, and no family."""
