"""Large sections of the settings."""
