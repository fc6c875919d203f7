"""By what the user's program knows a tensor: names, second names, containers; from when on, and in whose function."""
