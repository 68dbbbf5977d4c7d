"""Metrics: scraping, adapters for autoscalers, dashboard and alerts."""
