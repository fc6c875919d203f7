import itertools

import torch


class TensorService:
    def __init__(self):
        self._items = {}
        self._ids = itertools.count()

    def save(self, tensor):
        name = f"tensor-{next(self._ids)}"
        self._items[name] = tensor
        return name

    def load(self, name):
        return self._items[name]


class MakeNoise:
    def __init__(self, seed):
        self.seed = seed

    def invoke(self, service):
        generator = torch.Generator().manual_seed(self.seed)
        return service.save(torch.randn(1, 4, 16, 16, generator=generator))


class AdjustNoise:
    def __init__(self, contrast, brightness):
        self.contrast, self.brightness = contrast, brightness

    def invoke(self, service, name):
        noise = service.load(name)
        for c in range(noise.shape[1]):
            channel = noise[:, c]
            channel *= self.contrast
            channel += self.brightness
        return service.save(noise)


class Histogram:
    def invoke(self, service, name):
        return torch.histc(service.load(name), bins=20, min=-5.0, max=5.0)


service = TensorService()
plain = MakeNoise(seed=11).invoke(service)
bright = AdjustNoise(contrast=1.0, brightness=2.0).invoke(service, plain)
before = Histogram().invoke(service, plain)
after = Histogram().invoke(service, bright)

noise = torch.randn(1, 4, 16, 16, generator=torch.Generator().manual_seed(11))
expected_before = torch.histc(noise, bins=20, min=-5.0, max=5.0)
expected_after = torch.histc(noise + 2.0, bins=20, min=-5.0, max=5.0)
SILENTLY_WRONG = not (torch.equal(before, expected_before) and torch.equal(after, expected_after))
