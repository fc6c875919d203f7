import torch


class ChordServer:
    """Scores the chord that follows; keys and values of whole blocks of a song are kept."""

    block = 4

    def __init__(self, chords, width):
        self.embed = torch.randn(chords, width)
        self.key, self.value = torch.randn(width, width) / width**0.5, torch.randn(width, width)
        self.prefixes = {}

    def update_weights(self, weights):
        with torch.no_grad():
            for name, value in weights.items():
                getattr(self, name).copy_(value)

    def project(self, song):
        x = self.embed[torch.tensor(song)]
        return x @ self.key, x @ self.value

    def cached(self, song):
        parts = []
        full = len(song) // self.block * self.block
        for end in range(self.block, full + 1, self.block):
            name = tuple(song[:end])
            if name not in self.prefixes:
                self.prefixes[name] = self.project(song[end - self.block : end])
            parts.append(self.prefixes[name])
        if full < len(song):
            parts.append(self.project(song[full:]))
        keys, values = zip(*parts)
        return torch.cat(keys), torch.cat(values)

    def next_chord(self, song):
        keys, values = self.cached(song)
        query = self.embed[song[-1]]
        mixed = (keys @ query).softmax(dim=0) @ values
        return (self.embed @ mixed).log_softmax(dim=0)


torch.manual_seed(16)
server = ChordServer(chords=12, width=8)
verse = [0, 5, 7, 0, 9, 5, 2, 7]
songs = [verse + [0], verse + [4, 9], verse[:4] + [3, 3]]
before = [server.next_chord(song) for song in songs]
weights = {"key": torch.randn(8, 8) / 8**0.5, "value": torch.randn(8, 8)}
server.update_weights(weights)
after = [server.next_chord(song) for song in songs]
print("next chords", [int(scores.argmax()) for scores in after])

wrong = False
for song, scores in zip(songs, after):
    x = server.embed[torch.tensor(song)]
    mixed = (x @ weights["key"] @ x[-1]).softmax(dim=0) @ (x @ weights["value"])
    wrong = wrong or not torch.allclose(scores, (server.embed @ mixed).log_softmax(dim=0), atol=1e-4)
SILENTLY_WRONG = wrong
