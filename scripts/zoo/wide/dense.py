# SPDX-License-Identifier: Apache-2.0
"""Networks whose result is a map or a set of boxes: detection, segmentation, poses, pixels, and
generators."""

import torch
import torchvision
from torch import nn
from torch.nn import functional

from ..own_nets import conv_norm
from .parts import (ACTIVATIONS, Add, Cat, Do, Gate, Heads, Taps, calm, chain, conv, depthwise,
                    image, linears, squeeze_excite, up)
from .vision import basic, bottleneck, dark, inverted, partial, pyramid_stages


def resnet_stages(widths=(64, 128, 256, 512), repeats=(2, 2, 2, 2), stem=True, block=basic):
    """The stages of a ResNet, from a quarter of the image on."""
    stages, inputs = [], widths[0]
    for i, (width, count) in enumerate(zip(widths, repeats)):
        stages.append(chain(inputs, [(count, width, 1 if i == 0 else 2)], block)[0])
        inputs = width
    if stem:
        stages[0] = nn.Sequential(conv(3, widths[0], 7, 2), nn.MaxPool2d(3, 2, 1), stages[0])
    return stages


class TopDown(nn.Module):
    """A feature pyramid: each map gets the one above it, twice as large, added or side by side."""

    def __init__(self, widths, width, smooth=None, act="relu", added=True):
        super().__init__()
        self.side = nn.ModuleList(conv(w, width, 1, act=act) for w in widths)
        self.added = added
        smooth = smooth or (lambda inputs: conv(inputs, width, 3, act=act))
        self.smooth = nn.ModuleList(smooth(width if added else 2 * width) for _ in widths[:-1])

    def forward(self, maps):
        maps = [layer(m) for layer, m in zip(self.side, maps)]
        for i in reversed(range(len(maps) - 1)):
            above = functional.interpolate(maps[i + 1], scale_factor=2.0)
            maps[i] = self.smooth[i](maps[i] + above if self.added
                                     else torch.cat([maps[i], above], 1))
        return maps


def tower(width, outputs, depth):
    """A detector's head: `depth` convolutions and one that predicts."""
    return nn.Sequential(*(conv(width, width) for _ in range(depth)),
                         nn.Conv2d(width, outputs, 3, padding=1))


def flat_boxes(width, anchors, numbers, light=False):
    """SSD's head: a convolution (SSDLite: a depthwise one first), its results as rows of boxes."""
    layers = [conv(width, width, 3, 1, "relu6", width),
              nn.Conv2d(width, anchors * numbers,
                        1)] if light else [nn.Conv2d(width, anchors * numbers, 3, padding=1)]
    return nn.Sequential(*layers, Do(lambda x: x.permute(0, 2, 3,
                                                         1).reshape(x.shape[0], -1, numbers)))


class BoxHeads(nn.Module):
    """Boxes and classes of all maps, joined; classes as probabilities."""

    def __init__(self, trunk, widths, anchors, classes, light=False):
        super().__init__()
        self.trunk = trunk
        self.boxes = nn.ModuleList(flat_boxes(w, a, 4, light) for w, a in zip(widths, anchors))
        self.classes = nn.ModuleList(flat_boxes(w, a, classes, light)
                                     for w, a in zip(widths, anchors))

    def forward(self, x):
        maps = self.trunk(x)
        boxes = torch.cat([head(m) for head, m in zip(self.boxes, maps)], 1)
        return boxes, torch.cat([head(m) for head, m in zip(self.classes, maps)], 1).softmax(2)


ANCHORS = (4, 6, 6, 6, 4, 4)


def ssd(size):
    """SSD over a ResNet-18 up to a sixteenth of the image, and five smaller maps."""
    first = resnet_stages()[:3]
    extra = [nn.Sequential(conv(i, m, 1), conv(m, o, 3, 2))
             for i, m, o in ((256, 256, 512), (512, 128, 512), (512, 128, 256), (256, 128, 256),
                             (256, 128, 128))]
    trunk = Taps([nn.Sequential(*first), *extra])
    return BoxHeads(trunk, (256, 512, 512, 256, 256, 128), ANCHORS, 21), image(size)


def ssdlite(size):
    """SSDLite over MobileNetV2."""
    rows = [(1, 16, 1, 1), (2, 24, 2, 6), (3, 32, 2, 6), (4, 64, 2, 6), (3, 96, 1, 6)]
    first, width = chain(32, rows, inverted)
    second, wide = chain(width, [(3, 160, 2, 6), (1, 320, 1, 6)], inverted)
    extra = [inverted(i, o, 2, r) for i, o, r in ((1280, 512, 0.2), (512, 256, 0.25),
                                                  (256, 256, 0.5), (256, 64, 0.25))]
    trunk = Taps([nn.Sequential(conv(3, 32, 3, 2, "relu6"), first),
                  nn.Sequential(second, conv(wide, 1280, 1, act="relu6")), *extra])
    return BoxHeads(trunk, (96, 1280, 512, 256, 256, 64), (6,) * 6, 91, light=True), image(size)


def retinanet(size):
    """RetinaNet over a ResNet-18, its two towers shared by all maps, and the hundred best boxes."""
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.stages = Taps(resnet_stages(), (1, 2, 3))
            self.pyramid = TopDown((128, 256, 512), 128, act="")
            self.classes, self.boxes = tower(128, 9 * 20, 2), tower(128, 9 * 4, 2)

        def forward(self, x):
            maps = self.pyramid(self.stages(x))
            rows = lambda head, size: torch.cat([head(m).permute(0, 2, 3, 1).reshape(1, -1, size)
                                                 for m in maps], 1)
            scores, places = rows(self.classes, 20).sigmoid().flatten(1).topk(100)
            boxes = rows(self.boxes, 4)
            return scores, places, boxes.gather(1, (places // 20)[:, :, None].expand(-1, -1, 4))
    return Shared(), image(size)


def yolov2_tiny(size):
    rows = [(16, 3), 0, (32, 3), 0, (64, 3), 0, (128, 3), 0, (256, 3), 0, (512, 3), (1024, 3),
            (1024, 3)]
    body, width = dark(3, rows)
    return nn.Sequential(body, nn.Conv2d(width, 125, 1)), image(size)


def yolov3_tiny(size):
    """Two maps; the larger one also sees the smaller one, twice as large."""
    class Tiny(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = dark(3, [(16, 3), 0, (32, 3), 0, (64, 3), 0, (128, 3), 0, (256, 3)])[0]
            self.second = dark(256, [0, (512, 3), (1024, 3), (256, 1)])[0]
            self.small = nn.Sequential(conv(256, 512, act="leaky"), nn.Conv2d(512, 255, 1))
            self.side = nn.Sequential(conv(256, 128, 1, act="leaky"), up())
            self.large = nn.Sequential(conv(384, 256, act="leaky"), nn.Conv2d(256, 255, 1))

        def forward(self, x):
            kept = self.first(x)
            x = self.second(kept)
            return self.small(x), self.large(torch.cat([self.side(x), kept], 1))
    return Tiny(), image(size)


class PooledPyramid(nn.Module):
    """The same pooling three times in a row, all results side by side (SPPF)."""

    def __init__(self, width):
        super().__init__()
        self.first = conv(width, width // 2, 1, act="silu")
        self.last = conv(2 * width, width, 1, act="silu")
        self.pool = nn.MaxPool2d(5, 1, 2)

    def forward(self, x):
        kept = [self.first(x)]
        for _ in range(3):
            kept.append(self.pool(kept[-1]))
        return self.last(torch.cat(kept, 1))


def csp_backbone(width):
    def stage(inputs, outputs, repeats):
        return nn.Sequential(conv(inputs, outputs, 3, 2, "silu"),
                             partial(outputs, outputs, repeats))
    w = width
    return Taps([nn.Sequential(conv(3, w, 6, 2, "silu"), stage(w, 2 * w, 1)),
                 stage(2 * w, 4 * w, 2), stage(4 * w, 8 * w, 3),
                 nn.Sequential(stage(8 * w, 16 * w, 1), PooledPyramid(16 * w))], (1, 2, 3))


class PathAggregation(nn.Module):
    """Down and up again over three maps, a CSP stage after each junction (YOLOv5, YOLOX)."""

    def __init__(self, w):
        super().__init__()
        self.squeeze = nn.ModuleList([conv(16 * w, 8 * w, 1, act="silu"),
                                      conv(8 * w, 4 * w, 1, act="silu")])
        self.top = nn.ModuleList([partial(16 * w, 8 * w, 1, residual=False),
                                  partial(8 * w, 4 * w, 1, residual=False)])
        self.down = nn.ModuleList([conv(4 * w, 4 * w, 3, 2, "silu"),
                                   conv(8 * w, 8 * w, 3, 2, "silu")])
        self.bottom = nn.ModuleList([partial(8 * w, 8 * w, 1, residual=False),
                                     partial(16 * w, 16 * w, 1, residual=False)])

    def forward(self, maps):
        large, middle, small = maps
        grow = lambda x: functional.interpolate(x, scale_factor=2.0)
        a = self.squeeze[0](small)
        b = self.squeeze[1](self.top[0](torch.cat([grow(a), middle], 1)))
        first = self.top[1](torch.cat([grow(b), large], 1))
        second = self.bottom[0](torch.cat([self.down[0](first), b], 1))
        third = self.bottom[1](torch.cat([self.down[1](second), a], 1))
        return first, second, third


def decoded_yolo(width, anchors, classes):
    """Boxes from the numbers of a map: sigmoid, offsets and sizes."""
    numbers = classes + 5

    def decode(x):
        batch, _, height, length = x.shape
        x = x.view(batch, anchors, numbers, height, length).permute(0, 1, 3, 4, 2).sigmoid()
        rest = x[..., 4:]
        return torch.cat([x[..., :2] * 2.0 - 0.5, (x[..., 2:4] * 2.0) ** 2, rest],
                         4).view(batch, -1, numbers)
    return nn.Sequential(nn.Conv2d(width, anchors * numbers, 1), Do(decode))


def yolov5(size, width):
    trunk = nn.Sequential(csp_backbone(width), PathAggregation(width))
    return nn.Sequential(Heads(trunk, [decoded_yolo(w * width, 3, 80) for w in (4, 8, 16)]),
                         Do(lambda maps: torch.cat(maps, 1))), image(size)


def yolox(size, width):
    """Decoupled heads; the stem takes every second pixel apart (Focus)."""
    def head(inputs):
        class Decoupled(nn.Module):
            def __init__(self):
                super().__init__()
                self.stem = conv(inputs, 4 * width, 1, act="silu")
                self.classes = nn.Sequential(*(conv(4 * width, 4 * width, 3, act="silu")
                                               for _ in range(2)), nn.Conv2d(4 * width, 80, 1),
                                             nn.Sigmoid())
                self.boxes = nn.Sequential(*(conv(4 * width, 4 * width, 3, act="silu")
                                             for _ in range(2)))
                self.box, self.object = nn.Conv2d(4 * width, 4, 1), nn.Conv2d(4 * width, 1, 1)

            def forward(self, x):
                x = self.stem(x)
                boxes = self.boxes(x)
                return torch.cat([self.box(boxes), self.object(boxes).sigmoid(), self.classes(x)],
                                 1).flatten(2)
        return Decoupled()
    backbone = csp_backbone(width)
    backbone.stages[0][0] = nn.Sequential(
        Do(lambda x: torch.cat([x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2],
                                x[..., 1::2, 1::2]], 1)), conv(12, width, act="silu"))
    heads = Heads(nn.Sequential(backbone, PathAggregation(width)),
                  [head(w * width) for w in (4, 8, 16)])
    return nn.Sequential(heads, Do(lambda maps: torch.cat(maps, 2).transpose(1, 2))), image(size)


def nanodet(size):
    """NanoDet: ShuffleNetV2, a pyramid that only adds and resizes, depthwise heads."""
    net = torchvision.models.shufflenet_v2_x1_0(weights=None)
    stages = Taps([nn.Sequential(net.conv1, net.maxpool, net.stage2), net.stage3, net.stage4])
    light = lambda inputs: depthwise(inputs, 96, 3, 1, "leaky")
    pyramid = TopDown((116, 232, 464), 96, light, "leaky")
    heads = [nn.Sequential(depthwise(96, 96, 3, 1, "leaky"), depthwise(96, 96, 3, 1, "leaky"),
                           nn.Conv2d(96, 80 + 32, 1),
                           Do(lambda x: x.flatten(2).transpose(1, 2))) for _ in range(3)]
    return nn.Sequential(Heads(nn.Sequential(stages, pyramid), heads),
                         Do(lambda maps: torch.cat(maps, 1))), image(size)


def deconvolution(inputs, outputs, kernel=4, act="relu", norm=True):
    pad, extra = (kernel - 1) // 2, kernel % 2
    return nn.Sequential(nn.ConvTranspose2d(inputs, outputs, kernel, 2, pad, extra, bias=not norm),
                         *([nn.BatchNorm2d(outputs)] if norm else []), ACTIVATIONS[act]())


def centernet(size):
    """CenterNet over a ResNet-18: three deconvolutions, and peaks of the heat map by pooling."""
    trunk = nn.Sequential(*resnet_stages(), deconvolution(512, 256), deconvolution(256, 128),
                          deconvolution(128, 64))
    peaks = Do(lambda x: x * (functional.max_pool2d(x, 3, 1, 1) == x).float())
    shared = nn.Sequential(trunk, Do(lambda x: (x, x, x)))
    heads = [nn.Sequential(tower(64, 80, 1), nn.Sigmoid(), peaks), tower(64, 2, 1), tower(64, 2, 1)]
    return Heads(shared, heads), image(size)


def simple_pose(size):
    return nn.Sequential(*resnet_stages(), *(deconvolution(i, 128) for i in (512, 128, 128)),
                         nn.Conv2d(128, 17, 1)), image(size, width=size * 3 // 4)


def blaze(inputs, outputs, stride):
    body = nn.Sequential(nn.Conv2d(inputs, inputs, 5, stride, 2, groups=inputs),
                         nn.Conv2d(inputs, outputs, 1))
    side = nn.Sequential(*([nn.MaxPool2d(2, 2)] if stride > 1 else []),
                         Do(lambda x: functional.pad(x, (0, 0, 0, 0, 0, outputs - inputs))))
    return Add(body, side if stride > 1 or outputs > inputs else None, "relu")


def blazeface(size):
    first, width = chain(24, [(2, 24, 1), (1, 28, 1), (1, 32, 2), (1, 36, 1), (1, 42, 1),
                              (1, 48, 2), (1, 56, 1), (1, 64, 1), (1, 72, 1), (1, 80, 1),
                              (1, 88, 1)], blaze)
    second, _ = chain(width, [(1, 96, 2), (4, 96, 1)], blaze)
    trunk = Taps([nn.Sequential(nn.Conv2d(3, 24, 5, 2, 2), nn.ReLU(), first), second])
    return Heads(trunk, [flat_boxes(88, 2, 17), flat_boxes(96, 6, 17)]), image(size)


def openpose_light(size, stages=2):
    """OpenPose over MobileNet: stages of convolutions that see the maps of the stage before."""
    rows = [(1, 64, 1), (1, 128, 2), (1, 128, 1), (1, 256, 2), (1, 256, 1), (6, 512, 1)]
    first, width = chain(32, rows, depthwise_block)

    class Refined(nn.Module):
        def __init__(self):
            super().__init__()
            self.trunk = nn.Sequential(conv(3, 32, 3, 2), first, conv(width, 128, 1),
                                       Add(nn.Sequential(*(depthwise(128, 128, act="elu")
                                                           for _ in range(3)))), conv(128, 128))
            self.first = nn.Sequential(*(conv(128, 128) for _ in range(3)), conv(128, 512, 1),
                                       nn.Conv2d(512, 57, 1))
            unit = lambda inputs: nn.Sequential(conv(inputs, 128, 1),
                                                Add(
                nn.Sequential(conv(128, 128), conv(128, 128, dilation=2))))
            self.next = nn.ModuleList(nn.Sequential(unit(185), *(unit(128) for _ in range(4)),
                                                    conv(128, 128, 1), nn.Conv2d(128, 57, 1))
                                      for _ in range(stages - 1))

        def forward(self, x):
            x = self.trunk(x)
            y = self.first(x)
            for stage in self.next:
                y = stage(torch.cat([x, y], 1))
            return y
    return Refined(), image(size)


def depthwise_block(inputs, outputs, stride):
    return depthwise(inputs, outputs, 3, stride)


class Hourglass(nn.Module):
    """Pools `depth` times and comes back, with a shortcut at each size."""

    def __init__(self, width, depth):
        super().__init__()
        unit = lambda: bottleneck(width, width, 1, "", 1, width // 2)
        self.side, self.before, self.after = unit(), unit(), unit()
        self.inner = Hourglass(width, depth - 1) if depth > 1 else unit()

    def forward(self, x):
        y = self.after(self.inner(self.before(functional.max_pool2d(x, 2))))
        return self.side(x) + functional.interpolate(y, scale_factor=2.0)


def hourglass(size, width, depth):
    return nn.Sequential(conv(3, width // 2, 7, 2),
                         bottleneck(width // 2, width, 1, "", 1, width // 2), nn.MaxPool2d(2, 2),
                         Hourglass(width, depth), conv(width, width, 1),
                         nn.Conv2d(width, 16, 1)), image(size)


# Segmentation.

def deeplab(size):
    model = torchvision.models.segmentation.deeplabv3_mobilenet_v3_large(
        weights=None, weights_backbone=None, num_classes=21)
    return nn.Sequential(model, Do(lambda found: found["out"])), image(size)


class Summed(nn.Module):
    """FCN-8s: scores of three stages, enlarged by deconvolutions and added."""

    def __init__(self, stages, widths, classes):
        super().__init__()
        self.trunk = Taps(stages, range(1, len(stages)))
        self.scores = nn.ModuleList(nn.Conv2d(w, classes, 1) for w in widths)
        self.up = nn.ModuleList(nn.ConvTranspose2d(classes, classes, k, k // 2, k // 4, bias=False)
                                for k in (16, 4, 4))

    def forward(self, x):
        maps = [score(m) for score, m in zip(self.scores, self.trunk(x))]
        x = maps[2]
        x = maps[1] + self.up[2](x)
        return self.up[0](maps[0] + self.up[1](x))


def fcn(size):
    return Summed(resnet_stages(), (128, 256, 512), 21), image(size)


def pspnet(size):
    """Pools of four sizes, enlarged and side by side, over a ResNet-18 at a sixteenth."""
    side = size // 16
    pools = [nn.Sequential(nn.AvgPool2d(side // n, side // n), conv(256, 64, 1),
                           nn.Upsample(size=(side, side), mode="bilinear", align_corners=True))
             for n in (1, 2, 4, 8)]
    return nn.Sequential(*resnet_stages()[:3], Cat(nn.Identity(), *pools), conv(512, 128),
                         nn.Conv2d(128, 21, 1),
                         nn.Upsample(scale_factor=16, mode="bilinear",
                                     align_corners=True)), image(size)


class Linked(nn.Module):
    """LinkNet: each decoder adds what the encoder had at its size."""

    def __init__(self, widths=(64, 128, 256, 512)):
        super().__init__()
        self.stem = nn.Sequential(conv(3, widths[0], 7, 2), nn.MaxPool2d(3, 2, 1))
        self.stages = Taps(resnet_stages(widths, stem=False))
        self.decoders = nn.ModuleList(
            nn.Sequential(conv(i, i // 4, 1), deconvolution(i // 4, i // 4), conv(i // 4, o, 1))
            for i, o in zip(widths[:0:-1], widths[-2::-1]))
        self.head = nn.Sequential(deconvolution(widths[0], 32), conv(32, 32),
                                  deconvolution(32, 21, 2, ""))

    def forward(self, x):
        maps = self.stages(self.stem(x))
        x = maps[-1]
        for decoder, side in zip(self.decoders, maps[-2::-1]):
            x = decoder(x) + side
        return self.head(x)


def linknet(size, width):
    return Linked(tuple(width * 2 ** i for i in range(4))), image(size)


def segnet(size, width):
    widths = [width, 2 * width, 4 * width, 4 * width]
    down, up_, inputs = [], [], 3
    for w in widths:
        down += [conv(inputs, w), conv(w, w), nn.MaxPool2d(2, 2)]
        inputs = w
    for w in (*widths[-2::-1], width):
        up_ += [up(), conv(inputs, inputs), conv(inputs, w)]
        inputs = w
    return nn.Sequential(*down, *up_, nn.Conv2d(inputs, 12, 3, padding=1)), image(size)


def twice(inputs, outputs):
    return nn.Sequential(conv_norm(inputs, outputs, 3), conv_norm(outputs, outputs, 3))


class Nested(nn.Module):
    """UNet++: every map sees all maps of its size and the one below."""

    def __init__(self, width, levels):
        super().__init__()
        widths = [width * 2 ** i for i in range(levels)]
        self.levels = levels
        self.cells = nn.ModuleDict()
        for column in range(levels):
            for row in range(levels - column):
                inputs = (
                    [3] + widths)[row] if column == 0 else column * widths[row] + widths[row + 1]
                self.cells[f"{row}_{column}"] = twice(inputs, widths[row])
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        maps = {}
        for row in range(self.levels):
            x = self.cells[f"{row}_0"](x if row == 0 else functional.max_pool2d(x, 2))
            maps[row, 0] = x
        for column in range(1, self.levels):
            for row in range(self.levels - column):
                above = functional.interpolate(maps[row + 1, column - 1], scale_factor=2.0,
                                               mode="bilinear", align_corners=True)
                maps[row,
                     column] = self.cells[
                    f"{row}_{column}"](torch.cat([*(maps[row, c] for c in range(column)), above],
                                                 1))
        return self.head(maps[0, self.levels - 1])


def unetplusplus(size, width, levels):
    return Nested(width, levels), image(size)


class Attended(nn.Module):
    """A U-Net whose shortcuts are gated by the map below."""

    def __init__(self, width, levels):
        super().__init__()
        widths = [width * 2 ** i for i in range(levels)]
        self.down = nn.ModuleList(twice(a, b) for a, b in zip([3] + widths, widths))
        self.up = nn.ModuleList(nn.Sequential(up(), conv(b, a)) for a, b in zip(widths, widths[1:]))
        self.gates = nn.ModuleList(nn.ModuleList([conv(a, a // 2, 1, act=""),
                                                  conv(a, a // 2, 1, act=""),
                                                  nn.Sequential(nn.ReLU(),
                                                                conv(a // 2, 1, 1, act="sigmoid"))])
                                   for a in widths[:-1])
        self.merge = nn.ModuleList(twice(2 * a, a) for a in widths[:-1])
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        kept = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else functional.max_pool2d(x, 2))
            kept.append(x)
        for i in reversed(range(len(self.up))):
            x = self.up[i](x)
            mine, side, gate = self.gates[i]
            x = self.merge[i](torch.cat([kept[i] * gate(mine(x) + side(kept[i])), x], 1))
        return self.head(x)


def attention_unet(size, width, levels):
    return Attended(width, levels), image(size)


def erf_unit(width, dilation=1):
    """Two pairs of convolutions over one axis each (ERFNet)."""
    return Add(nn.Sequential(conv(width, width, (3, 1), norm=False), conv(width, width, (1, 3)),
                             nn.Conv2d(width, width, (3, 1), 1, (dilation, 0), (dilation, 1)),
                             nn.ReLU(),
                             nn.Conv2d(width, width, (1, 3), 1, (0, dilation), (1, dilation)),
                             nn.BatchNorm2d(width)), act="relu")


def down_cat(inputs, outputs):
    return nn.Sequential(Cat(conv(inputs, outputs - inputs, 3, 2, ""), nn.MaxPool2d(2, 2)),
                         nn.ReLU())


def erfnet(size):
    body = [down_cat(3, 16), down_cat(16, 64), *(erf_unit(64) for _ in range(5)), down_cat(64, 128),
            *(erf_unit(128, d) for d in (2, 4, 8, 16) * 2)]
    return nn.Sequential(*body, deconvolution(128, 64, 3), erf_unit(64), erf_unit(64),
                         deconvolution(64, 16, 3), erf_unit(16), erf_unit(16),
                         nn.ConvTranspose2d(16, 20, 2, 2)), image(size)


def enet_unit(inputs, outputs, kind="", dilation=1):
    """A bottleneck of ENet: plain, dilated, over one axis after the other, or with half the
    size."""
    middle = outputs // 4
    if kind == "down":
        body = nn.Sequential(conv(inputs, middle, 1, 1, "prelu") if inputs == outputs
                             else nn.Sequential(nn.Conv2d(inputs, middle, 2, 2, bias=False),
                                                nn.BatchNorm2d(middle), nn.PReLU()),
                             conv(middle, middle, act="prelu"), conv(middle, outputs, 1, act=""))
        return Add(body, nn.Sequential(nn.MaxPool2d(2, 2),
                                       Do(
            lambda x: functional.pad(x, (0, 0, 0, 0, 0, outputs - inputs)))), "prelu")
    if kind == "axes":
        core = nn.Sequential(nn.Conv2d(middle, middle, (5, 1), 1, (2, 0), bias=False),
                             nn.Conv2d(middle, middle, (1, 5), 1, (0, 2), bias=False),
                             nn.BatchNorm2d(middle), nn.PReLU())
    else:
        core = conv(middle, middle, act="prelu", dilation=dilation)
    return Add(calm(nn.Sequential(conv(inputs, middle, 1, act="prelu"), core,
                                  conv(middle, outputs, 1, act="")), 0.7), act="prelu")


def enet(size):
    middle = [("", 1), ("", 2), ("axes", 1), ("", 4), ("", 1), ("", 8), ("axes", 1), ("", 16)] * 2
    return nn.Sequential(
        Cat(nn.Conv2d(3, 13, 3, 2, 1), nn.MaxPool2d(2, 2)), enet_unit(16, 64, "down"),
        *(enet_unit(64, 64) for _ in range(4)),
        enet_unit(64, 128, "down"), *(enet_unit(128, 128, *kind) for kind in middle),
        deconvolution(128, 64, 3), enet_unit(64, 64), enet_unit(64, 64),
        deconvolution(64, 16, 3), enet_unit(16, 16), nn.ConvTranspose2d(16, 19, 2, 2)), image(size)


class FastScnn(nn.Module):
    """A shared start, a deep path at a thirty-second of the size, joined at an eighth."""

    def __init__(self, classes=19):
        super().__init__()
        self.start = nn.Sequential(conv(3, 32, 3, 2), depthwise_block(32, 48, 2),
                                   depthwise_block(48, 64, 2))
        self.deep = chain(64, [(3, 64, 2, 6), (3, 96, 2, 6), (3, 128, 1, 6)], inverted)[0]
        self.wide = nn.Sequential(conv(128, 128, 3, 1, "relu", 128, 4), conv(128, 128, 1, act=""))
        self.side = conv(64, 128, 1, act="")
        self.head = nn.Sequential(depthwise_block(128, 128, 1), depthwise_block(128, 128, 1),
                                  nn.Conv2d(128, classes, 1))

    def forward(self, x):
        kept = self.start(x)
        deep = functional.interpolate(self.deep(kept), scale_factor=4.0, mode="bilinear",
                                      align_corners=True)
        x = torch.relu(self.wide(deep) + self.side(kept))
        return functional.interpolate(self.head(x), scale_factor=8.0, mode="bilinear",
                                      align_corners=True)


def fast_scnn(size):
    return FastScnn(), image(size)


class SegFormer(nn.Module):
    """A pyramid transformer and a decoder of products over channels alone."""

    def __init__(self, net, size, width, classes=150):
        super().__init__()
        stages, widths = pyramid_stages(net, size)
        self.trunk = Taps(stages)
        self.side = nn.ModuleList(nn.Conv2d(w, width, 1) for w in widths)
        self.head = nn.Sequential(conv(4 * width, width, 1), nn.Conv2d(width, classes, 1))

    def forward(self, x):
        maps = [layer(m) for layer, m in zip(self.side, self.trunk(x))]
        maps = [m if i == 0 else functional.interpolate(m, scale_factor=2.0 ** i, mode="bilinear",
                                                        align_corners=False)
                for i, m in enumerate(maps)]
        return self.head(torch.cat(maps[::-1], 1))


def segformer(size, net, width):
    return SegFormer(net, size, width), image(size)


# Pixels and generators.

def fsrcnn(size, scale):
    body = [conv(1, 56, 5, 1, "prelu", norm=False), conv(56, 12, 1, 1, "prelu", norm=False),
            *(conv(12, 12, 3, 1, "prelu", norm=False) for _ in range(4)),
            conv(12, 56, 1, 1, "prelu", norm=False)]
    return nn.Sequential(*body, nn.ConvTranspose2d(56, 1, 9, scale, 4, scale - 1)), image(size, 1)


def srcnn(size):
    return nn.Sequential(conv(1, 64, 9, norm=False), conv(64, 32, 1, norm=False),
                         conv(32, 1, 5, 1, "", norm=False)), image(size, 1)


def vdsr(size, depth):
    return Add(nn.Sequential(conv(1, 64, norm=False),
                             *(conv(64, 64, norm=False) for _ in range(depth - 2)),
                             conv(64, 1, 3, 1, "", norm=False))), image(size, 1)


def dncnn(size, depth, channels):
    return Add(nn.Sequential(conv(channels, 64, norm=False),
                             *(conv(64, 64) for _ in range(depth - 2)),
                             conv(64, channels, 3, 1, "", norm=False)),
               Do(lambda x: -x)), image(size, channels)


def scaled(factor):
    return Do(lambda x: x * factor)


def edsr(size, width, blocks, scale):
    unit = lambda: Add(nn.Sequential(conv(width, width, norm=False),
                                     conv(width, width, 3, 1, "", norm=False), scaled(0.1)))
    return nn.Sequential(nn.Conv2d(3, width, 3, padding=1),
                         Add(nn.Sequential(*(unit() for _ in range(blocks)),
                                           nn.Conv2d(width, width, 3, padding=1))),
                         nn.Conv2d(width, width * scale * scale, 3, padding=1),
                         nn.PixelShuffle(scale), nn.Conv2d(width, 3, 3, padding=1)), image(size)


def rcan(size, width, groups, blocks, scale):
    unit = lambda: Add(nn.Sequential(conv(width, width, norm=False),
                                     conv(width, width, 3, 1, "", norm=False),
                                     squeeze_excite(width, width // 16)))
    group = lambda: Add(nn.Sequential(*(unit() for _ in range(blocks)),
                                      nn.Conv2d(width, width, 3, padding=1), scaled(0.2)))
    return nn.Sequential(nn.Conv2d(3, width, 3, padding=1),
                         Add(nn.Sequential(*(group() for _ in range(groups)),
                                           nn.Conv2d(width, width, 3, padding=1))),
                         nn.Conv2d(width, width * scale * scale, 3, padding=1),
                         nn.PixelShuffle(scale), nn.Conv2d(width, 3, 3, padding=1)), image(size)


class Distilled(nn.Module):
    """A block of IMDN: a quarter of the channels is kept after each convolution."""

    def __init__(self, width):
        super().__init__()
        kept, rest = width // 4, width - width // 4
        self.sizes = [kept, rest]
        self.convs = nn.ModuleList([conv(width, width, 3, 1, "leaky", norm=False),
                                    *(conv(rest, width, 3, 1, "leaky", norm=False)
                                      for _ in range(2)),
                                    conv(rest, kept, 3, 1, "leaky", norm=False)])
        self.gate, self.merge = squeeze_excite(width, width // 16), nn.Conv2d(width, width, 1)

    def forward(self, x):
        found, y = [], x
        for layer in self.convs[:-1]:
            first, y = layer(y).split(self.sizes, 1)
            found.append(first)
        return x + self.merge(self.gate(torch.cat([*found, self.convs[-1](y)], 1)))


def imdn(size, width, blocks, scale):
    return nn.Sequential(nn.Conv2d(3, width, 3, padding=1),
                         Add(nn.Sequential(*(Distilled(width) for _ in range(blocks)),
                                           nn.Conv2d(width, width, 3, padding=1))),
                         nn.Conv2d(width, 3 * scale * scale, 3, padding=1),
                         nn.PixelShuffle(scale)), image(size)


class ZeroDce(nn.Module):
    """Curves of brightness, applied eight times."""

    def __init__(self, width=32):
        super().__init__()
        self.first = nn.ModuleList(conv(3 if i == 0 else width, width, norm=False)
                                   for i in range(4))
        self.last = nn.ModuleList(conv(2 * width, 24 if i == 2 else width, 3, 1, "tanh" if i == 2
                                       else "relu", norm=False) for i in range(3))
        calm(self.last[2], 0.05)

    def forward(self, x):
        kept, y = [], x
        for layer in self.first:
            y = layer(y)
            kept.append(y)
        for layer, side in zip(self.last, (kept[2], kept[1], kept[0])):
            y = layer(torch.cat([side, y], 1))
        for curve in y.split(3, 1):
            x = x + curve * (x * x - x)
        return x


def zero_dce(size):
    return ZeroDce(), image(size)


class ChannelNorm(nn.Module):
    """A layer normalisation of each pixel."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def halves_multiplied(act=""):
    def multiply(x):
        first, second = x.chunk(2, 1)
        return (functional.gelu(first) if act == "gelu" else first) * second
    return Do(multiply)


def naf_unit(width):
    """NAFNet's block: products of halves instead of activations."""
    gate = Gate(nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, width, 1)))
    return nn.Sequential(
        Add(nn.Sequential(ChannelNorm(width), nn.Conv2d(width, 2 * width, 1),
                          nn.Conv2d(2 * width, 2 * width, 3, 1, 1, groups=2 * width),
                          halves_multiplied(), gate,
                          nn.Conv2d(width, width, 1), scaled(0.3))),
        Add(nn.Sequential(ChannelNorm(width), nn.Conv2d(width, 2 * width, 1), halves_multiplied(),
                          nn.Conv2d(width, width, 1), scaled(0.3))))


class ChannelAttention(nn.Module):
    """Restormer: attention between channels, not pixels."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.mix = nn.Sequential(nn.Conv2d(width, 3 * width, 1),
                                 nn.Conv2d(3 * width, 3 * width, 3, 1, 1, groups=3 * width))
        self.gamma, self.out = nn.Parameter(torch.empty(heads, 1, 1)), nn.Conv2d(width, width, 1)

    def forward(self, x):
        batch, width, height, length = x.shape
        query, key, value = (part.view(batch, self.heads, width // self.heads, height * length)
                             for part in self.mix(x).chunk(3, 1))
        query, key = functional.normalize(query, dim=3), functional.normalize(key, dim=3)
        mixed = (query @ key.transpose(2, 3) * self.gamma).softmax(3) @ value
        return self.out(mixed.view(batch, width, height, length))


def restormer_unit(width, heads):
    return nn.Sequential(
        Add(nn.Sequential(ChannelNorm(width), ChannelAttention(width, heads), scaled(0.3))),
        Add(nn.Sequential(ChannelNorm(width), nn.Conv2d(width, 4 * width, 1),
                          nn.Conv2d(4 * width, 4 * width, 3, 1, 1, groups=4 * width),
                          halves_multiplied("gelu"),
                          nn.Conv2d(2 * width, width, 1), scaled(0.3))))


class Restored(nn.Module):
    """A U-Net of such blocks with added shortcuts, on top of the image itself."""

    def __init__(self, width, levels, repeats, unit):
        super().__init__()
        widths = [width * 2 ** i for i in range(levels)]
        some = lambda i: nn.Sequential(*(unit(widths[i], 2 ** i) for _ in range(repeats)))
        self.enter = nn.Conv2d(3, width, 3, padding=1)
        self.leave = nn.Conv2d(width, 3, 3, padding=1)
        self.before, self.after = (nn.ModuleList(some(i) for i in range(levels)) for _ in range(2))
        self.down = nn.ModuleList(nn.Conv2d(w, 2 * w, 2, 2) for w in widths[:-1])
        self.up = nn.ModuleList(nn.Sequential(nn.Conv2d(2 * w, 4 * w, 1), nn.PixelShuffle(2))
                                for w in widths[:-1])

    def forward(self, x):
        y, kept = self.enter(x), []
        for i, block in enumerate(self.before):
            y = block(y)
            if i < len(self.down):
                kept.append(y)
                y = self.down[i](y)
        for i in reversed(range(len(self.up))):
            y = self.after[i](self.up[i](y) + kept[i])
        return x + self.leave(y)


def nafnet(size, width, levels, repeats):
    return Restored(width, levels, repeats, lambda w, heads: naf_unit(w)), image(size)


def restormer(size, width, levels, repeats):
    return Restored(width, levels, repeats, restormer_unit), image(size)


def style_transfer(size, width):
    """Johnson's network: instance normalisation and reflected borders."""
    def layer(inputs, outputs, kernel, stride=1, act="relu"):
        return [nn.ReflectionPad2d(kernel // 2), nn.Conv2d(inputs, outputs, kernel, stride),
                nn.InstanceNorm2d(outputs, affine=True), ACTIVATIONS[act]()]
    w = width
    unit = lambda: Add(nn.Sequential(*layer(4 * w, 4 * w, 3), *layer(4 * w, 4 * w, 3, act="")))
    return nn.Sequential(*layer(3, w, 9), *layer(w, 2 * w, 3, 2), *layer(2 * w, 4 * w, 3, 2),
                         *(unit() for _ in range(5)), up(), *layer(4 * w, 2 * w, 3), up(),
                         *layer(2 * w, w, 3), nn.ReflectionPad2d(4),
                         nn.Conv2d(w, 3, 9)), image(size)


class Pix2Pix(nn.Module):
    """A U-Net of strided convolutions and deconvolutions without pooling."""

    def __init__(self, width, levels):
        super().__init__()
        widths = [min(width * 2 ** i, 8 * width) for i in range(levels)]
        self.down = nn.ModuleList(nn.Sequential(nn.Conv2d(a, b, 4, 2, 1, bias=False),
                                                nn.BatchNorm2d(b), nn.LeakyReLU(0.2))
                                  for a, b in zip([3] + widths, widths))
        pairs = list(zip(widths[::-1], widths[-2::-1]))
        self.up = nn.ModuleList(deconvolution(a if i == 0 else 2 * a, b)
                                for i, (a, b) in enumerate(pairs))
        self.head = nn.Sequential(nn.ConvTranspose2d(2 * width, 3, 4, 2, 1), nn.Tanh())

    def forward(self, x):
        kept = []
        for layer in self.down:
            x = layer(x)
            kept.append(x)
        for layer, side in zip(self.up, kept[-2::-1]):
            x = torch.cat([layer(x), side], 1)
        return self.head(x)


def pix2pix(size, width, levels):
    return Pix2Pix(width, levels), image(size)


def dcgan(width, latent, levels):
    parts = [nn.ConvTranspose2d(latent, width * 2 ** (levels - 1), 4, bias=False),
             nn.BatchNorm2d(width * 2 ** (levels - 1)), nn.ReLU()]
    for i in reversed(range(levels - 1)):
        parts.append(deconvolution(width * 2 ** (i + 1), width * 2 ** i))
    return nn.Sequential(*parts, nn.ConvTranspose2d(width, 3, 4, 2, 1),
                         nn.Tanh()), {"input": torch.randn(1, latent, 1, 1)}


def vae(size, width, latent):
    """An encoder to mean and spread, and a decoder of the mean."""
    side = size // 8
    encoder = [nn.Conv2d(3, width, 4, 2, 1), nn.ReLU(), nn.Conv2d(width, 2 * width, 4, 2, 1),
               nn.ReLU(), nn.Conv2d(2 * width, 4 * width, 4, 2, 1), nn.ReLU(), nn.Flatten()]
    flat = 4 * width * side * side
    decoder = [nn.Linear(latent, flat), nn.ReLU(), Do(lambda x: x.view(-1, 4 * width, side, side)),
               deconvolution(4 * width, 2 * width, norm=False),
               deconvolution(2 * width, width, norm=False), nn.ConvTranspose2d(width, 3, 4, 2, 1),
               nn.Sigmoid()]

    class Vae(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(*encoder)
            self.mean = nn.Linear(flat, latent)
            self.spread = nn.Linear(flat, latent)
            self.decoder = nn.Sequential(*decoder)

        def forward(self, x):
            x = self.encoder(x)
            return self.decoder(self.mean(x) + (0.5 * self.spread(x)).exp() * 0.5)
    return Vae(), image(size)


def conv3(inputs, outputs, kernel=3, stride=1, groups=1):
    return nn.Sequential(nn.Conv3d(inputs, outputs, kernel, stride, kernel // 2, groups=groups,
                                   bias=False), nn.BatchNorm3d(outputs), nn.ReLU())


def c3d(size, frames, width):
    """C3D with another width: convolutions over time, height and width."""
    w = width
    flat = 8 * w * (size // 32) ** 2 * max(frames // 16, 1)
    return nn.Sequential(conv3(3, w), nn.MaxPool3d((1, 2, 2)), conv3(w, 2 * w), nn.MaxPool3d(2),
                         conv3(2 * w, 4 * w), conv3(4 * w, 4 * w), nn.MaxPool3d(2),
                         conv3(4 * w, 8 * w), conv3(8 * w, 8 * w), nn.MaxPool3d(2),
                         conv3(8 * w, 8 * w), nn.MaxPool3d((2, 2, 2) if frames >= 16
                                                           else (1, 2, 2)), nn.Flatten(),
                         linears((flat, 512,
                                  101))), {"input": torch.randn(1, 3, frames, size, size)}


BUILDERS = {f.__name__: f for f in (
    ssd, ssdlite, retinanet, yolov2_tiny, yolov3_tiny, yolov5, yolox, nanodet, centernet,
    simple_pose, blazeface, openpose_light, hourglass, deeplab, fcn, pspnet,
    linknet, segnet, unetplusplus, attention_unet, erfnet, enet, fast_scnn, segformer, fsrcnn,
    srcnn, vdsr, dncnn, edsr, rcan, imdn, zero_dce, nafnet, restormer, style_transfer,
    pix2pix, dcgan, vae, c3d)}
