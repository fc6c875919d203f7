"""Calls that are over: packed, and thinned out where there are too many.

It may know calls as plain numbers and which of them are evidence. It does not know who records them, and a report says
how many were dropped.
"""
