"""What Kthena's own controllers make of a ModelBooster, defects included, for comparison (Kthena spec 2, LITERAL)."""
