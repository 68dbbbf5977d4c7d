"""What a ModelBooster is expanded into, and what that becomes."""
