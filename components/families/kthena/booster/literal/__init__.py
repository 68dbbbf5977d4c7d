"""What Kthena's own controllers generate from a ModelBooster, including defects (Kthena spec 2, LITERAL)."""
