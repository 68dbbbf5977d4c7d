"""Where nodes come from: one folder per cloud."""
