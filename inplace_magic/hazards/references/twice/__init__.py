"""One memory that a function gives as two results."""
