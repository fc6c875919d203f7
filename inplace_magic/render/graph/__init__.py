"""The autograd graph as DOT, laid out, and as SVG.

It may know what ``analysis/graph.py`` and ``folding.py`` give, and the layout engines. It decides only how something is
drawn, and does not know the page around it.
"""
