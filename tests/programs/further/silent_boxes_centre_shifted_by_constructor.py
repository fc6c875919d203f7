import torch


class Boxes:
    def __init__(self, boxes, origin):
        self.tensor = torch.as_tensor(boxes)
        self.tensor[:, 2] += 0.5 * (1 - 2 * origin) * self.tensor[:, 5]

    def volume(self):
        return self.tensor[:, 3:6].prod(1)


torch.manual_seed(0)
annotations = torch.rand(3, 6) + 1
height = annotations[:, 2].clone()
honest = Boxes(annotations.clone(), 0.0).tensor[:, 2]
train = Boxes(annotations, 0.0)
evaluation = Boxes(annotations, 0.0)
SILENTLY_WRONG = not torch.allclose(evaluation.tensor[:, 2], honest)
