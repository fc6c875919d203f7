import torch
from torch import nn


def boxes_of(prediction, threshold):
    output = [None] * len(prediction)
    for image_i, pred in enumerate(prediction):
        class_conf, class_pred = pred[:, 5:].max(1)
        pred[:, 4] *= class_conf
        keep = pred[:, 4] > threshold
        if keep.any():
            output[image_i] = torch.cat([pred[keep, :5], class_pred[keep].unsqueeze(1).float()], dim=1)
    return output


torch.manual_seed(1)
head = nn.Conv2d(2, 8, 1)
maps = torch.sigmoid(head(torch.randn(2, 2, 3, 3)))
output = boxes_of(maps.flatten(2).transpose(1, 2), 0.2)
loss = sum(boxes[:, :5].sum() for boxes in output if boxes is not None)
loss.backward()
