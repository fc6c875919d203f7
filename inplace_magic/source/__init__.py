"""The user's text: from a place to its lines, its syntax tree, its names and the ways to edit it.

It may know files, cells and Python's syntax trees; both sides read it. It knows no framework, runs no code of the
user's, and says None for a text that is not the one that ran.
"""
