"""Statements that ran between two recorded calls, as far as the text tells.

It may know the text and the places of calls. Where two statements are possible it gives neither.
"""
