"""What a watch leaves: plain frozen data, its JSON, and what holds it together. Standard library only."""
