"""Which elements a write by index names, and what it drops; of no framework."""
