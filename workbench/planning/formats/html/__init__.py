"""A review as one page that needs nothing else: no script, no network."""
