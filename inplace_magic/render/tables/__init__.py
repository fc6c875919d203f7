"""The tables: pandas frames, and the rows of the memory table in words."""
