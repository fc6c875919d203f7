"""What ran between two recorded calls, as far as the text tells it."""
