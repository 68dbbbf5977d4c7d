"""Metrics: what is scraped, adapted for autoscalers, shown and alerted of."""
