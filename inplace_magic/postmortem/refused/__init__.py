"""Errors of autograd other than an overwritten saved tensor: one file for each idea, one table in each.

They may know the exception, its frames and the user's text. They run nothing of the user's, and name no line that the
facts leave in doubt.
"""
