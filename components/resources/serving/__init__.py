"""ModelFleet, and what the components of all families share."""
