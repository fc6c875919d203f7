"""What a watch keeps of what is over: packed, and of too much of it a part."""
