"""What a driver may need beside the checkout: an environment that acts at random, and packages that do nothing."""

from __future__ import annotations

import importlib.util
import sys
import types
from typing import Any

import numpy
import torch


class Nothing:
    """An object of a package that is not installed: it takes everything and gives itself."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __call__(self, *given: Any, **__: Any) -> Any:
        return given[0] if len(given) == 1 and callable(given[0]) else self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __radd__(self, other: Any) -> Any:
        return other

    def __iter__(self) -> Any:
        return iter(())

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None: ...


class _Absent(types.ModuleType):
    __path__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing if name[0].isupper() else Nothing()


def missing(*names: str) -> None:
    """Let these modules be imported where they are not installed: what they hold does nothing."""
    for name in names:
        parts = name.split(".")
        if parts[0] != "torch" and parts[0] not in sys.modules and importlib.util.find_spec(parts[0]) is not None:
            continue
        for end in range(1, len(parts) + 1):
            whole = ".".join(parts[:end])
            if whole in sys.modules:
                continue
            sys.modules[whole] = module = _Absent(whole)
            if end > 1:
                setattr(sys.modules[".".join(parts[: end - 1])], parts[end - 1], module)


class Space:
    """Of observations or actions."""

    def __init__(self, size: int, discrete: bool) -> None:
        self.n, self.shape, self.size = size, () if discrete else (size,), size
        self.low, self.high = -numpy.ones(size, numpy.float32), numpy.ones(size, numpy.float32)
        self.dtype = numpy.int64 if discrete else numpy.float32

    def sample(self) -> Any:
        """Return a random action."""
        if self.shape == ():
            return int(numpy.random.randint(self.n))
        return numpy.random.uniform(-1, 1, self.size).astype(numpy.float32)

    def seed(self, seed: int | None = None) -> None: ...


class Environment:
    """Gives random observations and rewards, and is over every ten steps.

    Args:
        old: whether `step` gives four things, as it did before gym 0.26, or five.
    """

    def __init__(self, observations: int = 4, actions: int = 2, *, discrete: bool = True, old: bool = True) -> None:
        self.observation_space, self.action_space = Space(observations, discrete=False), Space(actions, discrete)
        self.old, self.steps = old, 0
        self._max_episode_steps, self.unwrapped = 10, self
        self.spec = types.SimpleNamespace(id="Random-v0", reward_threshold=100)

    def seed(self, *_: Any) -> list[int]:
        """Do nothing: the program's seed is enough."""
        return [0]

    def reset(self, **_: Any) -> Any:
        """Return the first observation."""
        self.steps = 0
        return self._observe() if self.old else (self._observe(), {})

    def step(self, _: Any) -> tuple[Any, ...]:
        """Return an observation, a reward, and whether it is over."""
        self.steps += 1
        over = self.steps >= 10
        reward = float(numpy.random.rand())
        return (self._observe(), reward, over, {}) if self.old else (self._observe(), reward, over, False, {})

    def render(self, *_: Any, **__: Any) -> None: ...

    def close(self) -> None: ...

    def _observe(self) -> Any:
        return numpy.random.randn(self.observation_space.size).astype(numpy.float32)


def gym(name: str = "gym", **of_the_environment: Any) -> None:
    """Let `import gym` give a module whose environments are these, whatever they are called."""
    missing(name)
    sys.modules[name] = module = _Absent(name)
    module.make = lambda *_, **__: Environment(**of_the_environment)  # type: ignore[attr-defined]
    module.Env = module.Wrapper = Environment  # type: ignore[attr-defined]


def random_images(count: int, shape: tuple[int, ...], classes: int = 10) -> torch.utils.data.TensorDataset:
    """Return a data set of noise and labels."""
    return torch.utils.data.TensorDataset(torch.rand(count, *shape), torch.randint(classes, (count,)))


def on_cpu() -> None:
    """Let `.cuda()` give what it is asked of, and NumPy have its old names: many programs ask for nothing else."""
    import torch._dynamo  # it looks at all functions of torch, and optimizers import it

    torch.Tensor.cuda = lambda self, *_, **__: self  # type: ignore[method-assign, assignment, misc]
    torch.nn.Module.cuda = lambda self, *_, **__: self  # type: ignore[method-assign, assignment, misc]
    for kind in ("Float", "Long", "Byte", "Int", "Bool"):
        setattr(torch.cuda, f"{kind}Tensor", getattr(torch, f"{kind}Tensor"))
    for name, kind_of in (("int", int), ("float", float)):
        setattr(numpy, name, kind_of)  # as it was called until NumPy 1.24


GIVEN = {"missing": missing, "gym_of": gym, "Environment": Environment, "random_images": random_images}
"""The names that every driver finds."""
