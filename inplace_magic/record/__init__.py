"""What a watch leaves: plain frozen data, its JSON, and what holds it together; and what a person can ask a watch for.

It may know the standard library, and the words of any framework as strings alone. It knows no other room, no tensor,
and no object of the user's: so it opens on a machine without torch.
"""
