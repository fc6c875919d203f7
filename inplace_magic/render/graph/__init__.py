"""The autograd graph: DOT, its layout, its SVG."""
