"""What a ModelFleet is made of: its arguments, the settings in them, what it installs and what it tells."""
