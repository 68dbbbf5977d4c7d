"""Parts of ModelFleet: arguments, settings, installed prerequisites and outputs."""
