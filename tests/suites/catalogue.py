"""The suites that are known by name: where their tests lie, and how to get them.

A suite lies in an installed package, or in a checkout in the folder given by ``--checkouts``, or anywhere, with
``--at`` and ``--tests``.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

UNITTEST_ONLY = ("--noconftest",)


@dataclass(frozen=True)
class Suite:
    """One suite."""

    name: str
    tests: tuple[str, ...]
    """Files and folders, from the root of the checkout, or of the package."""
    package: str | None = None
    """An installed package that holds its own tests."""
    checkout: str | None = None
    """The name of the checkout's folder, where the tests are not in the package."""
    source: str = ""
    """How to get it, in words."""
    paths: tuple[str, ...] = (".",)
    """What is put on Python's path, from the root."""
    directory: str = "."
    """Where its tests are run from."""
    arguments: tuple[str, ...] = ()
    """Further ones for pytest."""
    environment: tuple[tuple[str, str], ...] = ()

    def root(self, checkouts: Path | None) -> Path | None:
        """The folder; None where it is not to be had."""
        if self.package is not None:
            spec = importlib.util.find_spec(self.package)
            places = spec.submodule_search_locations if spec is not None else None
            return Path(places[0]) if places else None
        if checkouts is None or self.checkout is None:
            return None
        found = checkouts / self.checkout
        return found if found.is_dir() else None


def _pytorch(name: str, *files: str) -> Suite:
    return Suite(
        f"pytorch-{name}",
        tuple(f"test/{file}" for file in files),
        checkout="pytorch",
        source="the folder test/ of PyTorch's sources, of the installed version or a near one",
        paths=("test",),
        directory="test",
        arguments=UNITTEST_ONLY,
    )


def _checkout(name: str, *tests: str, paths: tuple[str, ...] = (".",), arguments: tuple[str, ...] = ()) -> Suite:
    return Suite(name, tests, checkout=name, source="a checkout of the project", paths=paths, arguments=arguments)


SUITES = {
    suite.name: suite
    for suite in (
        Suite(
            "einops",
            ("tests",),
            package="einops",
            source="pip install einops",
            environment=(("EINOPS_TEST_BACKENDS", "numpy,torch"),),
        ),
        # Run from its tests: Python puts the folder that it is started in first on its path, and would take
        # opt_einsum/typing.py for the module of that name.
        Suite("opt_einsum", ("tests",), package="opt_einsum", source="pip install opt_einsum", directory="tests"),
        Suite("skorch", ("tests",), package="skorch", source="pip install skorch"),
        _pytorch("autograd", "test_autograd.py"),
        _pytorch("views", "test_view_ops.py"),
        _pytorch("nn", "test_nn.py"),
        _pytorch("nn-parts", "nn"),
        _pytorch("torch", "test_torch.py"),
        _pytorch("optim", "test_optim.py", "optim/test_lrscheduler.py", "optim/test_swa_utils.py"),
        _pytorch("subclass", "test_subclass.py"),
        _pytorch(
            "basics",
            *("test_indexing.py", "test_namedtensor.py", "test_functionalization.py", "test_autocast.py"),
            *("test_dlpack.py", "test_stateless.py", "test_shape_ops.py", "test_type_promotion.py"),
        ),
        _pytorch("functorch", "functorch/test_eager_transforms.py", "functorch/test_vmap.py"),
        _pytorch("foreach", "test_foreach.py"),
        _pytorch("utils", "test_utils.py"),
        _pytorch("dispatch", "test_python_dispatch.py"),
        _pytorch("jit", "test_jit.py"),
        _checkout("gpytorch", "test"),
        _checkout("linear_operator", "test"),
        _checkout("kornia", "tests"),
        _checkout("pytorch_optimizer", "tests"),
        _checkout("opacus", "opacus/tests"),
        _checkout("captum", "tests"),
        # Its package has a part in C++, so the installed one is tested.
        Suite(
            "tensordict",
            ("test",),
            checkout="tensordict",
            source="pip install tensordict, and a checkout of that release",
            paths=(),
            directory="test",
        ),
        _checkout("torchmetrics", "tests/unittests", paths=("src", "tests")),
        _checkout("pyro", "tests"),
        _checkout("e3nn", "tests"),
        _checkout(
            "torchdiffeq", *(f"tests/{name}_tests.py" for name in ("api", "event", "gradient", "norm", "odeint"))
        ),
        _checkout("pytorch_geometric", "test"),
    )
}
