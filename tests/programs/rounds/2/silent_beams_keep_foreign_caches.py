import torch


class DecoderCache:
    def __init__(self, num_layers, beams, dim):
        self.past = [(torch.empty(beams, 0, dim), torch.empty(beams, 0, dim)) for _ in range(num_layers)]

    def append(self, layer, k, v):
        keys, values = self.past[layer]
        self.past[layer] = (torch.cat([keys, k], 1), torch.cat([values, v], 1))

    def reorder(self, beam_idx):
        for k, v in self.past:
            k = k.index_select(0, beam_idx)
            v = v.index_select(0, beam_idx)

    def attend(self, layer, q):
        keys, values = self.past[layer]
        weights = (q @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5).softmax(-1)
        return weights @ values


torch.manual_seed(0)
layers, beams, dim = 2, 3, 4
cache = DecoderCache(layers, beams, dim)
prompt = torch.randn(layers, 2, beams, 5, dim)
for layer in range(layers):
    cache.append(layer, prompt[layer, 0], prompt[layer, 1])

beam_idx = torch.tensor([2, 0, 0])
cache.reorder(beam_idx)

q = torch.randn(beams, 1, dim)
outputs = torch.stack([cache.attend(layer, q) for layer in range(layers)])

chosen = prompt[:, :, beam_idx]
weights = (q @ chosen[:, 0].transpose(-1, -2) / dim ** 0.5).softmax(-1)
expected = weights @ chosen[:, 1]
SILENTLY_WRONG = not torch.allclose(outputs, expected, atol=1e-6)
