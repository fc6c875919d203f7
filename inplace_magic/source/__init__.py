"""The user's text: from a place to its lines, its syntax tree, its names and the ways to edit it.

It may know files, cells and Python's syntax trees; both sides read it. It knows no framework, runs no user code, and
returns None for a text that is not the one that ran.
"""
