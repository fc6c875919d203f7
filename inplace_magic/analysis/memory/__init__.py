"""Which bytes were allocated and freed, and by whom."""
