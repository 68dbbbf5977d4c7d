"""What messages, tables and logs may show of texts that others wrote."""
