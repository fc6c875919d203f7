"""References that went stale: who holds which tensor since when, who wrote it another way, who read it as if old."""
