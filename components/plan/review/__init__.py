"""What a reviewer reads: one revision as plain data, and what another one changes."""
