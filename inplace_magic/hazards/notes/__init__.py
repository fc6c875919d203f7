"""What is worth knowing and nothing wrong, one file each."""
