"""Elements of one memory that are read and written in one call, in one statement, or in the passes of one loop."""
