"""Statements that ran between two recorded calls, by the text.

It may know the text and the places of calls. If two statements are possible, it returns neither.
"""
