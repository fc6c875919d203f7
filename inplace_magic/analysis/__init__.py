"""What follows from a trace without judging it: plain data derived from plain data."""
