"""A watch in the loops of others: one file for each library that runs the training loop itself."""
