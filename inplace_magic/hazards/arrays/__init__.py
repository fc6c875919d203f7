"""Rules on memory that arrays and tensors share, which NumPy or other libraries read and write."""
