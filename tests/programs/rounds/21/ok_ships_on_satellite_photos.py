import torch


def to_photo(found, square, height, width):
    """Boxes of the padded square in pixels of the photo."""
    boxes = found.clone()
    gain = min(square / height, square / width)
    boxes[:, 0:4:2] -= (square - width * gain) / 2
    boxes[:, 1:4:2] -= (square - height * gain) / 2
    boxes[:, :4] /= gain
    boxes[:, 0:4:2].clamp_(0, width)
    boxes[:, 1:4:2].clamp_(0, height)
    return boxes


class Survey:
    def __init__(self, metres):
        self.metres = metres
        self.rows = []

    def add(self, found, square, height, width):
        boxes = to_photo(found, square, height, width)
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        small = to_photo(found, square, height // 2, width // 2)
        half = (small[:, 2] - small[:, 0]) * (small[:, 3] - small[:, 1])
        self.rows.append(torch.stack([area * self.metres ** 2, half, found[:, 4]], dim=1))


torch.manual_seed(35)
survey = Survey(metres=0.5)
photos = []
for height, width in ((300, 400), (500, 200), (256, 256)):
    corner = 40 + 110 * torch.rand(9, 2)
    found = torch.cat([corner, corner + 5 + 60 * torch.rand(9, 2), torch.rand(9, 1)], dim=1)
    photos.append((found.tolist(), height, width))
    survey.add(found, 200, height, width)
table = torch.cat(survey.rows)
print("mean area", table[:, 0].mean().item(), "in the small photo", table[:, 1].mean().item())

expected = []
for found, height, width in photos:
    for left, top, right, bottom, score in found:
        areas = []
        for h, w in ((height, width), (height // 2, width // 2)):
            g = min(200 / h, 200 / w)
            x = [min(max((v - (200 - w * g) / 2) / g, 0), w) for v in (left, right)]
            y = [min(max((v - (200 - h * g) / 2) / g, 0), h) for v in (top, bottom)]
            areas.append((x[1] - x[0]) * (y[1] - y[0]))
        expected.append([0.25 * areas[0], areas[1], score])
SILENTLY_WRONG = not torch.allclose(table, torch.tensor(expected), rtol=1e-3, atol=1e-2)
