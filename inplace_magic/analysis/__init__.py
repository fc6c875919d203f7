"""What follows from a record without judging it: names over time, writes, memory, loops and modules, lifetimes.

It may know the record and the user's text, and turns plain data into plain data. It knows no framework, does not say
what is a mistake, and draws nothing: rules and renderers both ask it.
"""
