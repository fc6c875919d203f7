"""What the user's text did with memory, followed line by line without running it.

A small interpreter of syntax trees. Its values are no numbers: of a tensor it knows which memory it is on, of
everything that still exists the object itself. So each operation and each write becomes an event with its line, in the
order in which the lines ran, and says which memory it read and wrote.
"""
