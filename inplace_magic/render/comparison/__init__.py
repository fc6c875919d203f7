"""A comparison shown: HTML, text, tables."""
