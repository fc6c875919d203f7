"""Ways to change the user's lines, one file each; which rule tries which stands in ``cures.py``."""
