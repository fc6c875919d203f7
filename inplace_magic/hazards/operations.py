"""Which operations do what, by their exact names: the one place where rules say them.

A name is :attr:`CallEvent.operation`, without what it belongs to: ``add_`` of ``Tensor.add_``, ``relu`` of ``F.relu``,
``__iand__`` where Python's operator has no other name in the record. Only what stands here counts: the end of a name
tells nothing (``fill_`` forgets every old value, ``masked_fill_`` some of them).
"""

from __future__ import annotations

from inplace_magic.record.trace import NOT_ALWAYS_COPIES

TO_NUMPY = "Tensor.numpy"
"""Full name of ``t.numpy()``: an array on the same memory."""
GRADIENTS_ALONE = "torch.autograd.grad"
"""Full name of the backward that adds to nobody's ``.grad``."""

COPY = "copy_"
"""Copies another tensor's values in."""
ADD = "add_"
"""The second half of a running average, ``average.mul_(0.9).add_(p, alpha=0.1)``."""
SCALE = "mul_"
"""The first half of it."""
SET_ITEMS = "__setitem__"
"""``x[index] = values``."""
DETACH_IN_PLACE = "detach_"
"""Cuts the tensor itself off its history."""

ASSIGNING = frozenset((SET_ITEMS, COPY))
"""Copy values of one tensor into elements of another."""

ZEROING = frozenset(("zero_", "_foreach_zero_"))
"""Leave nothing but zeros, as ``zero_grad(set_to_none=False)`` does."""

OVERWRITING = frozenset(
    (
        *("zero_", "_foreach_zero_", "fill_", "copy_", "_foreach_copy_"),
        *("normal_", "uniform_", "log_normal_", "exponential_", "cauchy_", "geometric_", "random_", "bernoulli_"),
        *("kaiming_uniform_", "kaiming_normal_", "xavier_uniform_", "xavier_normal_", "trunc_normal_", "constant_"),
        *("ones_", "zeros_", "eye_", "orthogonal_", "dirac_"),
    )
)
"""Leave nothing of what stood there."""

SAME_WHEN_REPEATED = OVERWRITING | frozenset(
    (
        *(SET_ITEMS, "masked_fill_", "index_fill_", "index_copy_", "fill_diagonal_"),
        *("clamp_", "clamp_min_", "clamp_max_", "clip_"),
    )
)
"""Writes after which it does not matter, or not much, what stood there: done again, they change nothing more."""

SHIFTING = frozenset(("add_", "sub_", "subtract_", "__iadd__", "__isub__"))
"""Move all values by an amount, and once more when they are done again."""

NORMALISING_DATA = frozenset(("sub_", "subtract_", "div_", "divide_", "true_divide_", "__isub__", "__itruediv__"))
"""Take a mean off, or divide by a scale."""

NORMALISING_DATA_BY_NUMBERS = NORMALISING_DATA | frozenset(("mul_", "multiply_", "__imul__", "add_", "__iadd__"))
"""The same, where the mean and the scale are plain numbers."""

SCALING = frozenset(("mul_", "multiply_", "div_", "divide_", "true_divide_"))
"""The first half of a mean in place, ``x.mul_(a).add_(b * x.flip(0))``."""

ADDING = frozenset(("add_", "sub_", "subtract_"))
"""Its second half."""

PROMOTING = frozenset(("add_", "sub_", "mul_", "div_", "__iadd__", "__isub__", "__imul__", "__itruediv__"))
"""Keep their dtype where the twin that makes a new tensor promotes it: ``half += single``."""

SAVING_NOTHING = frozenset((SET_ITEMS, "copy_", "fill_", "zero_", "add_", "sub_", "neg_"))
"""Write in place with a gradient that needs none of the values."""

TURNING = frozenset(("t_", "transpose_", "swapaxes_", "swapdims_"))
"""Leave the values alone and change which of them stands where."""

MAKING_BUFFERS = frozenset(
    (
        *("zeros", "empty", "full", "ones", "zeros_like", "empty_like", "full_like", "ones_like"),
        *("new_zeros", "new_empty", "new_full", "new_ones", "empty_strided", "empty_permuted"),
    )
)
"""Make a tensor that is there to be filled."""

COPYING = NOT_ALWAYS_COPIES | frozenset(
    ("clone", "empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like")
)
"""Give a copy of data, or new memory of its size; of :data:`NOT_ALWAYS_COPIES` at times the tensor itself."""

DETACHED = frozenset(("detach", "from_dlpack"))
"""Give a tensor on the same memory that is no part of the graph, as a thing to look at."""

GATHERING = frozenset(("stack", "cat", "concat", "concatenate", "vstack", "hstack", "dstack", "column_stack"))
"""Put a list of tensors together into a new one."""

LOOKING = frozenset(("item", "tolist", "numpy", "equal", "allclose", "__float__", "__int__", "__bool__"))
"""Give no tensor and read values, not shapes."""

COMPARING = frozenset(
    (
        *("sub", "__rsub__", "sub_", "div", "__rdiv__", "eq", "ne", "lt", "gt", "le", "ge"),
        *("__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__", "isclose", "allclose", "equal"),
        *("mse_loss", "l1_loss", "smooth_l1_loss", "kl_div", "cosine_similarity", "pairwise_distance", "dist", "cdist"),
        COPY,
    )
)
"""Hold one tensor against another, or bring one up to the other; pointless where both are one memory."""

LOSSES_OF_CLASSES = frozenset(("cross_entropy", "nll_loss", "one_hot"))
"""Take integers as the numbers of classes."""

NORMALISING_SCORES = frozenset(("softmax", "log_softmax", "cross_entropy", "softmin", "gumbel_softmax"))
"""What scores are masked for: with ``-inf`` there the gradient is zero, recorded or not."""

ELEMENTWISE = frozenset(
    (
        *(SET_ITEMS, "copy_", "add_", "sub_", "mul_", "div_", "true_divide_", "pow_", "remainder_", "floor_divide_"),
        *("fmod_", "lerp_", "addcmul_", "addcdiv_", "maximum", "minimum", "atan2_", "hypot_", "masked_fill_", "where"),
        *("logical_and_", "logical_or_", "logical_xor_", "bitwise_and_", "bitwise_or_", "bitwise_xor_"),
        *("__iand__", "__ior__", "__ixor__", "add", "sub", "mul", "div"),
    )
)
"""Go through memory element by element; others (``cumsum_``, ``matmul``) take their own precautions."""

IN_PLACE_BY_A_FLAG = frozenset(
    ("relu", "leaky_relu", "elu", "celu", "selu", "rrelu", "threshold", "dropout", "alpha_dropout")
)
"""Functions of ``torch.nn.functional`` that write in place with ``inplace=True``."""

IN_PLACE_BY_AN_UNDERSCORE = frozenset(
    (
        *("add", "sub", "mul", "div", "true_divide", "neg", "abs", "exp", "exp2", "expm1", "sqrt", "rsqrt", "sigmoid"),
        *("tanh", "reciprocal", "masked_fill", "clamp", "clamp_min", "clamp_max", "round", "floor", "ceil", "tril"),
        *("triu", "lerp", "addcmul", "addcdiv"),
    )
)
"""Of ``torch`` and ``torch.Tensor``: write in place with an underscore at the end."""
