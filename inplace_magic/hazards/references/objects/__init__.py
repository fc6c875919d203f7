"""Which objects, classes, dicts and lists hold a tensor, and by which of them a line comes to it."""
