import torch
import torch.nn.functional as F


class Subject(dict):
    def spawn(self, **changed):
        return Subject(self, **changed)


def blur(subject, width=3):
    image = F.avg_pool2d(subject["image"][None], width, stride=1, padding=width // 2)[0]
    return subject.spawn(image=image)


def keep_bright(subject, level):
    bright = (subject["image"] > level)[0]
    subject["organ"] &= bright
    return subject


def share_kept(subject, level):
    soft = keep_bright(blur(subject), level)
    return soft["organ"].sum() / subject["organ"].sum()


torch.manual_seed(27)
yy, xx = torch.meshgrid(torch.arange(24), torch.arange(24), indexing="ij")
organ = (xx - 12) ** 2 + (yy - 12) ** 2 < 64
image = torch.rand(1, 24, 24) + 0.3 * (xx > 11)
subject = Subject(image=image, organ=organ.clone())
shares = [float(share_kept(subject, level)) for level in (0.5, 0.6, 0.7)]

expected = []
for level in (0.5, 0.6, 0.7):
    bright = F.avg_pool2d(image[None], 3, stride=1, padding=1)[0, 0] > level
    expected.append(float((organ & bright).sum()) / float(organ.sum()))
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(shares, expected)) > 1e-6
