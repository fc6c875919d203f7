"""What operations do, in words of no framework: capture knows operations by their names, all others by their traits.

A trait says what every call of an operation does, or may do, whatever it is given; what one call did is told by its
inputs, outputs and mutations.
"""

from __future__ import annotations

from typing import Literal

Trait = Literal[
    # how it is called
    "method",  # on its first input: `x.add_(1)`
    "of lists",  # on lists of tensors, one line for all of them
    "has a form in place",  # a method that writes the tensor it is called on
    "takes a flag",  # has a parameter that makes it write its input
    # what it does to elements
    "sets item",  # copies values into some elements: `x[index] = values`
    "copies in",  # copies another tensor's values into all of them
    "assigns",  # either of the two
    "zeroes",  # leaves nothing but zeros
    "fills",  # gives all elements one value
    "draws",  # gives all elements random numbers
    "overwrites",  # leaves nothing of what stood there
    "repeatable",  # done again, it changes nothing more, or not much
    "adds",  # or subtracts, as an operator or in place
    "shifts",  # moves all values by an amount, and once more when it is done again
    "scales",  # multiplies or divides all values
    "subtracts or divides",  # takes a mean off, or divides by a scale
    "elementwise",  # goes through memory element by element, and takes no precautions against an overlap
    "saves nothing",  # writes in place with a gradient that needs none of the values
    "takes in order",  # the elements of its source, whatever their places
    "looks up",  # rows of a table, by their numbers
    "mixes",  # reads an input's elements more than once, or elsewhere than it writes
    "adds a product",  # of its other inputs to the first one, element by element
    "resizes",  # shows so many elements of a memory, from its own first one on
    "turns",  # leaves the values alone and changes which of them stands where
    # what it gives
    "gives item",  # a part of a tensor: `x[index]`
    "gives data",  # a tensor on the same memory, with a version counter of its own
    "gives array",  # an array of another library on the same memory
    "gives out memory",  # others than the framework can write the memory from then on
    "may hand back",  # taken for a copy by many; where it gives a view, or the tensor itself, it made none
    "detached",  # a tensor on the same memory that is no part of the graph
    "buffer",  # a tensor that is there to be filled
    "gives address",  # others than the framework can find the memory by it
    "picks",  # elements of its input, unchanged: as a view, or in a new tensor
    "clone",  # a copy, always
    "copy",  # a copy, or new memory of the same size
    "gathers",  # a list of tensors put together into a new one
    "normalises scores",  # where a score was `-inf`, zero; and a gradient of zero
    # what it reads
    "reads values",  # gives no tensor, and what it gives depends on values, not on shapes
    "compares",  # holds one tensor against another, or brings one up to the other
    # what it does to a tensor as an object
    "sets gradient",  # gives it another gradient or takes it away, nothing is written: `x.grad = None`
    "takes memory",  # the tensor gets another one's memory, nothing is written: `x.data = other`
    "detaches itself",  # cuts the tensor off its history
    "registers hook",  # the tensor's node runs the user's function in backward
    "gives gradients",  # a backward that adds to nobody's gradient
    # what a node of autograd does
    "writes a part",  # stands for a write into a part of a tensor, with what that part was computed from
    "passes gradient on",  # can hand one buffer, or views of one, to several branches
    "runs a module's hook",
    "accumulates",  # adds to the gradient of a leaf
]

Role = Literal["result", "first input", "second input", "statistics"]
"""What a saved tensor was to the call whose node saved it. ``statistics``: what normalisation keeps of past
batches; a call that trains writes them, and its backward does not read them."""
