"""Rules about references that went stale: held, written another way, read as if old."""
