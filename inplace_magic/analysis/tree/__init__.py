"""What the tree of calls is made of, and whose call each is."""
