import torch


class StaticCache:
    def __init__(self, num_layers, beams, capacity, dim):
        self.layers = [(torch.zeros(beams, capacity, dim), torch.zeros(beams, capacity, dim)) for _ in range(num_layers)]
        self.length = 0

    def write(self, step):
        end = self.length + step.shape[3]
        for (k, v), (new_k, new_v) in zip(self.layers, step):
            k[:, self.length:end] = new_k
            v[:, self.length:end] = new_v
        self.length = end

    def reorder(self, beam_idx):
        for k, v in self.layers:
            k[:, :self.length] = k[beam_idx, :self.length]
            v.copy_(v.index_select(0, beam_idx))

    def attend(self, layer, q):
        k, v = (t[:, :self.length] for t in self.layers[layer])
        return (q @ k.transpose(1, 2)).softmax(-1) @ v


torch.manual_seed(0)
beams, dim = 3, 4
cache = StaticCache(num_layers=2, beams=beams, capacity=8, dim=dim)
prompt = torch.randn(2, 2, beams, 5, dim)
token = torch.randn(2, 2, beams, 1, dim)
beam_idx = torch.tensor([2, 0, 0])

cache.write(prompt)
cache.reorder(beam_idx)
cache.write(token)
q = torch.randn(beams, 1, dim)
outputs = torch.stack([cache.attend(layer, q) for layer in range(2)])

full = torch.cat([prompt[:, :, beam_idx], token], dim=3)
expected = (q @ full[:, 0].transpose(-1, -2)).softmax(-1) @ full[:, 1]
SILENTLY_WRONG = not torch.allclose(outputs, expected, atol=1e-6)
