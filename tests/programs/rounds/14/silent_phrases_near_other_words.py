import torch
import torch.nn.functional as F


class Lexicon:
    def __init__(self, words, vectors):
        self.place = {word: i for i, word in enumerate(words)}
        self.vectors = vectors

    def phrase(self, text):
        for number, word in enumerate(text.split()):
            if number == 0:
                result = self.vectors[self.place[word]]
            else:
                result += self.vectors[self.place[word]]
        return result

    def likeness(self, text, other):
        return F.cosine_similarity(self.phrase(text), self.phrase(other), dim=0).item()


def compare(lexicon, pairs):
    return [lexicon.likeness(first, second) for first, second in pairs]


words = "old stone bridge river mill wheel garden gate".split()
torch.manual_seed(101)
vectors = torch.randn(len(words), 12)
numbers = dict(zip(words, vectors.tolist()))
pairs = [("stone bridge", "river"), ("mill wheel", "stone gate"), ("stone", "gate")]
pairs += [("river mill", "old garden gate"), ("mill", "river")]
found = compare(Lexicon(words, vectors), pairs)

expected = []
for first, second in pairs:
    a, b = ([sum(column) for column in zip(*(numbers[word] for word in text.split()))] for text in (first, second))
    dot = sum(p * q for p, q in zip(a, b))
    expected.append(dot / (sum(p * p for p in a) * sum(q * q for q in b)) ** 0.5)
SILENTLY_WRONG = not torch.allclose(torch.tensor(found), torch.tensor(expected), atol=1e-5)
