"""What Kthena's controllers cannot be told, do not do or do wrong: reported before it is left to them."""

OPERATOR = "kthena"
