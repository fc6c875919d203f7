import torch


class Melody:
    """Notes in a buffer with room at the end, so that longer melodies need no copy."""

    def __init__(self, notes, room=0):
        self.buffer = torch.cat([notes, torch.zeros(room)])
        self.filled = torch.tensor(len(notes))

    @property
    def notes(self):
        return self.buffer[: self.filled]

    def __len__(self):
        return int(self.filled)


def join(first, more):
    longer = Melody.__new__(Melody)
    longer.filled = first.filled
    longer.filled += len(more)
    if longer.filled <= len(first.buffer):
        longer.buffer = first.buffer
    else:
        longer.buffer = torch.cat([first.buffer, torch.zeros(2 * len(more))])
    longer.buffer[longer.filled - len(more) : longer.filled] = more
    return longer


def restless(notes):
    return (notes[1:] - notes[:-1]).abs().mean()


theme = Melody(torch.tensor([60.0, 62.0, 64.0, 60.0, 67.0]), room=12)
endings = [torch.tensor(e) for e in ([65.0, 64.0, 62.0, 60.0], [69.0, 67.0, 60.0], [55.0, 57.0, 59.0, 60.0])]
unrest = []
for ending in endings:
    played = join(theme, ending)
    unrest.append(restless(played.notes))
print("unrest of each ending", [round(float(u), 2) for u in unrest], "notes of the theme", len(theme))

opening = torch.tensor([60.0, 62.0, 64.0, 60.0, 67.0])
expected = [restless(torch.cat([opening, ending])) for ending in endings]
SILENTLY_WRONG = not torch.allclose(torch.stack(unrest), torch.stack(expected), atol=1e-5)
