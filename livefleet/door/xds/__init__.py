"""From objects to what Envoy reads: translated, brought to loopback, and written to files."""
