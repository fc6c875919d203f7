"""Everything that knows Paddle by name: where its operations stand, what they do, what its tensors and nodes tell.

It may know Paddle's private attributes, each with a line on what breaks if it vanishes. It does not know
``capture/torch``, nor the session that uses it.
"""
