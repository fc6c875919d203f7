"""PyTorch's words in a program's text: what gives a view, what computes nothing, and which nodes a function makes.

The nodes are those of tools/autograd/derivatives.yaml; a function without an entry makes the node of its own name:
``torch.log_softmax`` ``LogSoftmaxBackward0``.
"""

from __future__ import annotations

import re
from functools import lru_cache

VIEWS = frozenset(
    (
        *("view", "view_as", "transpose", "permute", "expand", "expand_as", "squeeze", "unsqueeze", "narrow", "select"),
        *("T", "mT", "H", "mH", "t", "swapaxes", "swapdims", "movedim", "moveaxis", "diagonal", "unfold", "as_strided"),
        *("real", "imag", "view_as_real", "view_as_complex", "unflatten", "adjoint", "slice", "alias"),
        *("chunk", "split", "tensor_split", "unbind", "hsplit", "vsplit", "dsplit", "split_with_sizes"),
    )
)
SAME = frozenset(
    (
        *("requires_grad_", "retain_grad", "share_memory_", "pin_memory", "cuda", "detach_", "rename_", "as_subclass"),
        *("_conj", "resolve_conj", "resolve_neg", "__iter__"),
    )
)
"""What gives the tensor itself, or memory of which nothing matters, and counts no write."""
MAYBE_VIEWS = frozenset(
    (
        *("reshape", "reshape_as", "flatten", "contiguous", "to", "type", "type_as", "float", "double", "half", "long"),
        *("int", "bool", "bfloat16", "cpu", "ravel", "conj", "broadcast_to", "broadcast_tensors", "atleast_1d"),
        *("atleast_2d", "atleast_3d", "rearrange", "as_tensor", "meshgrid"),
    )
)
"""A view or a copy, as the tensor is."""
QUERIES = frozenset(
    (
        *(
            "size",
            "dim",
            "item",
            "tolist",
            "numel",
            "stride",
            "data_ptr",
            "is_contiguous",
            "element_size",
            "ndimension",
        ),
        *("nelement", "get_device", "storage_offset", "type_string", "is_tensor", "is_floating_point", "allclose"),
        *("equal", "manual_seed", "backward", "untyped_storage", "numpy"),
    )
)
PLAIN_ATTRIBUTES = frozenset(
    (
        *("shape", "dtype", "device", "ndim", "layout", "requires_grad", "is_leaf", "is_cuda", "grad_fn", "_version"),
        *("names", "itemsize", "nbytes", "output_nr"),
    )
)
UNCOUNTED = frozenset(("requires_grad_", "retain_grad_", "share_memory_", "rename_", "detach_", "manual_seed_"))
"""Methods with the underscore of a write that move no version."""
OPERATORS = {
    "Add": ("Add",),
    "Sub": ("Sub", "Rsub"),
    "Mult": ("Mul",),
    "Div": ("Div", "Reciprocal", "Mul"),
    "FloorDiv": ("FloorDivide",),
    "Mod": ("Remainder", "Fmod"),
    "Pow": ("Pow", "Exp", "Exp2"),
    "MatMult": ("Mm", "Bmm", "Mv", "Dot", "UnsafeView", "Addmm", "Squeeze", "Matmul"),
    "BitAnd": (),
    "BitOr": (),
    "BitXor": (),
    "LShift": (),
    "RShift": (),
}
"""Nodes of an operator, by the name of its class in ``ast``."""
IN_PLACE_FUNCTIONS = {
    "iadd": "Add",
    "isub": "Sub",
    "imul": "Mult",
    "itruediv": "Div",
    "ipow": "Pow",
    "imatmul": "MatMult",
    "imod": "Mod",
    "ifloordiv": "FloorDiv",
}
"""Functions of ``operator`` that write their first argument."""
KEEP_NOTHING = frozenset(("Add", "Sub", "Rsub", "Neg", "Zero", "Fill", "Copy", "CopyBackwards", "CopySlices"))
"""Nodes that keep no tensor."""
SETITEM = frozenset(("CopySlices", "IndexPut", "Copy", "Fill", "MaskedFill", "IndexFill"))
"""Nodes of ``x[i] = y``."""

_MATMUL = frozenset(OPERATORS["MatMult"])
_CONV = frozenset(("Convolution", "ConvolutionOverrideable", "MkldnnConvolution", "CudnnConvolution", "Squeeze"))
_NORM = frozenset(("NativeBatchNorm", "CudnnBatchNorm", "MiopenBatchNorm", "MkldnnBatchNorm"))
_ATTENTION = frozenset(
    (
        *("Softmax", "Bmm", "Mul", "Baddbmm", "Mm", "ScaledDotProductFlashAttentionForCpu", "UnsafeView"),
        *("ScaledDotProductEfficientAttention", "ScaledDotProductFlashAttention", "NativeDropout"),
        *("ScaledDotProductFusedAttentionOverrideable", "SafeSoftmax", "Clone"),
    )
)
_LOSSES = frozenset(("LogSoftmax", "NllLoss", "NllLoss2D", "Mul", "Sum", "Div", "CrossEntropy"))
_NORMS = frozenset(("LinalgVectorNorm", "Norm", "Pow", "Abs", "Sqrt", "Sum", "LinalgMatrixNorm"))
NODES: dict[str, frozenset[str]] = {
    **dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot", "inner", "chain_matmul", "einsum", "tensordot"), _MATMUL),
    **dict.fromkeys(("linear", "bilinear", "addmm", "baddbmm", "addmv", "addr", "outer"), _MATMUL | {"Mul", "Baddbmm"}),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), _CONV),
    **dict.fromkeys(("batch_norm", "instance_norm"), _NORM),
    "layer_norm": frozenset(("NativeLayerNorm",)),
    "group_norm": frozenset(("NativeGroupNorm",)),
    "rms_norm": frozenset(("FusedRmsNorm", "Mul", "Rsqrt", "Pow")),
    "multiply": frozenset(("Mul",)),
    "divide": frozenset(("Div",)),
    "true_divide": frozenset(("Div",)),
    "subtract": frozenset(("Sub",)),
    "negative": frozenset(("Neg",)),
    "square": frozenset(("Pow",)),
    "norm": _NORMS,
    "vector_norm": _NORMS,
    "normalize": _NORMS | {"Div", "ClampMin", "Expand"},
    "cdist": frozenset(("Cdist", "EuclideanDist")),
    "pairwise_distance": _NORMS | {"Sub"},
    "cosine_similarity": frozenset(("Div", "Sum", "Mul", "Sqrt", "ClampMin", "LinalgVectorNorm", "CosineSimilarity")),
    "cross_entropy": _LOSSES,
    "nll_loss": _LOSSES,
    "mse_loss": frozenset(("MseLoss",)),
    "l1_loss": frozenset(("Abs", "Sub")),
    "huber_loss": frozenset(("HuberLoss",)),
    "binary_cross_entropy": frozenset(("BinaryCrossEntropy",)),
    "binary_cross_entropy_with_logits": frozenset(("BinaryCrossEntropyWithLogits",)),
    "kl_div": frozenset(("Mul", "Exp", "Log", "Xlogy", "Sub", "KlDiv")),
    "gaussian_nll_loss": frozenset(("Pow", "Div", "Log", "Mul", "Clamp", "ClampMin")),
    "dropout": frozenset(("NativeDropout", "Mul", "FusedDropout", "Div")),
    "alpha_dropout": frozenset(("Mul",)),
    "feature_dropout": frozenset(("Mul",)),
    "dropout2d": frozenset(("Mul",)),
    "embedding": frozenset(("Embedding",)),
    "embedding_bag": frozenset(("EmbeddingBag",)),
    "relu6": frozenset(("Hardtanh",)),
    "selu": frozenset(("Elu",)),
    "celu": frozenset(("Elu", "Celu")),
    "swish": frozenset(("Silu", "Mul")),
    "softsign": frozenset(("Div", "Abs", "Add")),
    "logsigmoid": frozenset(("LogSigmoid",)),
    "gumbel_softmax": frozenset(("Softmax", "Div", "Sub", "Add")),
    "logit": frozenset(("Logit",)),
    "expit": frozenset(("Sigmoid",)),
    "scaled_dot_product_attention": _ATTENTION,
    "multi_head_attention_forward": _ATTENTION | _MATMUL,
    "max_pool1d": frozenset(("MaxPool2DWithIndices", "SqueezeBackward1", "Squeeze", "MaxPool1D")),
    "max_pool2d": frozenset(("MaxPool2DWithIndices",)),
    "max_pool3d": frozenset(("MaxPool3DWithIndices",)),
    "adaptive_max_pool2d": frozenset(("AdaptiveMaxPool2D",)),
    "avg_pool2d": frozenset(("AvgPool2D",)),
    "adaptive_avg_pool2d": frozenset(("AdaptiveAvgPool2D", "Mean")),
    "grid_sample": frozenset(("GridSampler2D", "GridSampler3D")),
    "interpolate": frozenset(("UpsampleNearest2D", "UpsampleBilinear2D", "UpsampleLinear1D", "UpsampleBicubic2D")),
    "max": frozenset(("Max", "Maximum", "Amax")),
    "min": frozenset(("Min", "Minimum", "Amin")),
    "var": frozenset(("Var",)),
    "std": frozenset(("Std",)),
    "var_mean": frozenset(("VarMean",)),
    "std_mean": frozenset(("StdMean",)),
    "gather": frozenset(("Gather",)),
    "take_along_dim": frozenset(("Gather",)),
    "index_select": frozenset(("IndexSelect",)),
    "getitem": frozenset(("Index", "Slice", "Select")),
    "masked_select": frozenset(("MaskedSelect",)),
    "clip": frozenset(("Clamp", "ClampMin", "ClampMax")),
    "clamp": frozenset(("Clamp", "ClampMin", "ClampMax")),
    "clamp_min": frozenset(("ClampMin",)),
    "clamp_max": frozenset(("ClampMax",)),
    "det": frozenset(("LinalgDet",)),
    "logdet": frozenset(("LinalgSlogdet", "Log")),
    "slogdet": frozenset(("LinalgSlogdet",)),
    "inv": frozenset(("LinalgInvEx",)),
    "inverse": frozenset(("LinalgInvEx",)),
    "solve": frozenset(("LinalgSolveEx",)),
    "cholesky": frozenset(("LinalgCholeskyEx", "Cholesky")),
    "svd": frozenset(("LinalgSvd", "Svd")),
    "eigh": frozenset(("LinalgEigh",)),
    "qr": frozenset(("LinalgQr",)),
    "where": frozenset(("Where",)),
    "scatter_add": frozenset(("ScatterAdd",)),
    "zero": frozenset(("Zero",)),
    "fill": frozenset(("Fill",)),
    "copy": frozenset(("Copy", "CopySlices", "CopyBackwards")),
    "logsumexp": frozenset(("Logsumexp",)),
    "sinc": frozenset(("Sinc",)),
    "atan2": frozenset(("Atan2",)),
    "logaddexp": frozenset(("Logaddexp",)),
    "fft": frozenset(("FftR2C", "FftC2C")),
    "rfft": frozenset(("FftR2C",)),
    "stft": frozenset(("FftR2C", "Mul")),
}
"""Nodes by the name of a function or method, where they are not named like it."""
MODULE_FUNCTIONS = {
    "Linear": "linear",
    "LazyLinear": "linear",
    "Bilinear": "bilinear",
    "Conv1d": "conv1d",
    "Conv2d": "conv2d",
    "Conv3d": "conv3d",
    "ConvTranspose1d": "conv_transpose1d",
    "ConvTranspose2d": "conv_transpose2d",
    "ConvTranspose3d": "conv_transpose3d",
    "BatchNorm1d": "batch_norm",
    "BatchNorm2d": "batch_norm",
    "BatchNorm3d": "batch_norm",
    "SyncBatchNorm": "batch_norm",
    "InstanceNorm1d": "batch_norm",
    "InstanceNorm2d": "batch_norm",
    "LayerNorm": "layer_norm",
    "GroupNorm": "group_norm",
    "RMSNorm": "rms_norm",
    "Embedding": "embedding",
    "EmbeddingBag": "embedding_bag",
    "ReLU": "relu",
    "ReLU6": "relu6",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "Softmax": "softmax",
    "LogSoftmax": "log_softmax",
    "Softplus": "softplus",
    "GELU": "gelu",
    "SiLU": "silu",
    "Mish": "mish",
    "ELU": "elu",
    "SELU": "selu",
    "CELU": "celu",
    "LeakyReLU": "leaky_relu",
    "PReLU": "prelu",
    "Hardtanh": "hardtanh",
    "Hardswish": "hardswish",
    "Hardsigmoid": "hardsigmoid",
    "LogSigmoid": "logsigmoid",
    "Dropout": "dropout",
    "Dropout1d": "dropout2d",
    "Dropout2d": "dropout2d",
    "Dropout3d": "dropout2d",
    "AlphaDropout": "alpha_dropout",
    "Threshold": "threshold",
    "MSELoss": "mse_loss",
    "L1Loss": "l1_loss",
    "SmoothL1Loss": "smooth_l1_loss",
    "HuberLoss": "huber_loss",
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll_loss",
    "KLDivLoss": "kl_div",
    "MaxPool1d": "max_pool1d",
    "MaxPool2d": "max_pool2d",
    "AvgPool2d": "avg_pool2d",
    "AdaptiveAvgPool2d": "adaptive_avg_pool2d",
}
"""The function that a layer of ``torch.nn`` calls; a layer without an entry can make any node."""


@lru_cache(maxsize=1024)
def nodes_of(name: str) -> frozenset[str]:
    """The nodes that a function or method of this name makes, without ``Backward0``."""
    bare = name.strip("_").removeprefix("foreach_") or name
    return NODES.get(bare) or frozenset(("".join(part[:1].upper() + part[1:] for part in bare.split("_")),))


def bare_node(name: str) -> str:
    """``Sigmoid`` of ``SigmoidBackward0``."""
    return re.sub(r"Backward(s|\d*)$", "", name)


IN_PLACE_SECOND = frozenset(("relu", "relu6", "selu", "silu", "mish", "hardswish", "hardsigmoid"))
"""Functions of ``torch.nn.functional`` whose second argument is ``inplace``; others have it by its name, or where
their signature says."""
