import torch

torch.manual_seed(0)
prompt = torch.randn(1, 4)
special = torch.full((4,), 9.0)
honest = prompt.repeat(3, 1)
honest[0] = special

tokens = prompt.expand(3, -1)
tokens[0] = special
SILENTLY_WRONG = not torch.allclose(tokens, honest)
