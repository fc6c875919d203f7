"""Rules about the buffers that backward adds to."""
