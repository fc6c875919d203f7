"""One tensor stands for two: objects, slots or parameters hold it, and each is written as if it had its own."""
