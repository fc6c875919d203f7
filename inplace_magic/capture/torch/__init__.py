"""Everything that knows PyTorch by name: the modes it calls, and what is read from its tensors and nodes.

It may know torch's private attributes, each with a line on what breaks if it vanishes. It does not know Paddle, the
session, or what is a mistake.
"""
