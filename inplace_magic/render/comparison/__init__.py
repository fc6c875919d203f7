"""A comparison as HTML, text and tables.

It may know a ``Comparison`` and the language. It measures nothing and runs nothing.
"""
