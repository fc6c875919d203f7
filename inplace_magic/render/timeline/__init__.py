"""What happened to memory, drawn."""
