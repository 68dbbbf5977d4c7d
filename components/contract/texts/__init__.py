"""Makes untrusted text safe for messages, tables and logs: escapes control characters, and masks secrets."""
