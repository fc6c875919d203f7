import torch
import torch.nn as nn

torch.manual_seed(0)
embed, proj, head = nn.Embedding(9, 4), nn.Linear(4, 4), nn.Linear(4, 9)
prompt = [1, 5, 2]


@torch.inference_mode()
def generate(tokens, steps):
    cache = torch.zeros(len(tokens) + steps, 4)
    cache[: len(tokens)] = proj(embed(torch.tensor(tokens)))
    for n in range(len(tokens), len(tokens) + steps):
        context = cache[:n].mean(0, keepdim=True)
        logits = head(context)
        logits /= 0.7
        logits[logits < logits.topk(3).values[..., -1:]] = -float("inf")
        token = torch.multinomial(logits.softmax(-1), 1)
        tokens.append(int(token))
        cache[n] = proj(embed(token))[0, 0]
    return tokens


text = generate(prompt, 4)
assert len(text) == 7
