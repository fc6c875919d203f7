"""One memory that a program takes for two: results, operands, copies."""
