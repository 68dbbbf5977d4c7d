"""Pure checks of a fleet: monitoring, the front door, hardening and memory."""
