"""Rules of Kthena that span fields: the CRDs' own, and those of webhooks that upstream never registers."""
