# SPDX-License-Identifier: Apache-2.0
"""Convolutions of published architectures, in kinds of which the inventory's networks have few.

Where a source is named, sizes are as its paper gives them, for its usual image unless a smaller one
keeps a layer below a few GFLOP. Where a kind is named, they are of such layers in general. None is
of a network that bench/unseen.py reports on (lib/halves.py).
"""
from lib.published_calls import (Layers, behind_convolution, convolution, depthwise, in_eight_bits,
                                 pool, signal, transposed, unary)

# RegNetX and RegNetY: (channels, channels of a group, size of the stage's image)
REGNET = [(24, 8, 112), (24, 8, 56), (56, 8, 28), (152, 8, 14), (368, 8, 7), (48, 24, 56),
          (96, 24, 28), (240, 24, 14), (528, 24, 7), (80, 40, 56), (240, 40, 28), (560, 40, 14)]
# SENet-154 in 64 groups: (channels, size, stride)
SENET = [(256, 56, 1), (512, 56, 2), (512, 28, 1), (1024, 28, 2), (1024, 14, 1), (2048, 14, 2),
         (2048, 7, 1)]
# CondenseNet: (channels, results, size, window, groups)
CONDENSENET = [(64, 32, 56, 1, 4), (32, 8, 56, 3, 4), (128, 64, 28, 1, 4), (64, 16, 28, 3, 4),
               (256, 128, 14, 1, 4), (128, 32, 14, 3, 4), (512, 256, 7, 1, 4), (256, 64, 7, 3, 4),
               (1024, 512, 7, 1, 8), (512, 128, 7, 3, 8), (256, 128, 14, 1, 8),
               (128, 32, 14, 3, 8), (64, 32, 56, 1, 8), (32, 8, 56, 3, 8)]
# PyConvResNet-50: (channels, results, size, window, groups, stride)
PYCONV = [(64, 16, 56, 5, 4, 1), (64, 16, 56, 7, 8, 1), (64, 16, 56, 9, 16, 1),
          (128, 32, 56, 5, 4, 2), (128, 32, 28, 5, 4, 1), (128, 32, 28, 7, 8, 1),
          (256, 128, 28, 5, 4, 2), (256, 128, 14, 5, 4, 1)]
# ESPNetv2 and IGCV3: 1x1 in groups (channels, results, size, groups)
POINTWISE = [(32, 8, 112, 4), (64, 16, 56, 4), (64, 64, 56, 4), (128, 32, 28, 4),
             (128, 128, 28, 4), (256, 64, 14, 4), (256, 256, 14, 4), (512, 128, 7, 4),
             (24, 144, 56, 2), (144, 32, 28, 2), (64, 384, 14, 2), (576, 96, 14, 2),
             (160, 960, 7, 2), (16, 96, 112, 2)]
# Layers in narrow groups with output stride 8, of backbones of segmentation:
# (channels, groups, size, dilation)
DILATED = [(512, 64, 28, 2), (256, 32, 28, 2), (128, 32, 33, 2), (256, 64, 33, 4), (64, 16, 65, 2)]
# Layers of few channels a group, whatever the width: (channels, groups, size, stride)
NARROW = [(32, 16, 112, 1), (64, 32, 112, 2), (64, 32, 56, 1), (96, 48, 56, 1), (128, 16, 56, 2),
          (128, 64, 28, 1), (160, 40, 28, 1), (192, 24, 28, 2), (256, 32, 14, 1), (256, 64, 14, 1),
          (384, 48, 14, 2), (512, 64, 7, 1)]

GROUPED = {
    "RegNet, groups of 8, 24 and 40 channels":
        [convolution(c, c, s, 3, 1, c // g) for c, g, s in REGNET]
        + [convolution(c, c, s, 3, 2, c // g) for c, g, s in REGNET[1::3]],
    "SENet-154": [convolution(c, c, s, 3, t, 64) for c, s, t in SENET],
    "CondenseNet": [convolution(c, o, s, k, 1, g) for c, o, s, k, g in CONDENSENET],
    "PyConvResNet-50": [convolution(c, o, s, k, t, g) for c, o, s, k, g, t in PYCONV],
    "ESPNetv2, IGCV3": [convolution(c, o, s, 1, 1, g, then=None) for c, o, s, g in POINTWISE],
    "Narrow groups, output stride 8": [convolution(c, c, s, 3, 1, g, d) for c, g, s, d in DILATED],
    "AlexNet in two groups": [convolution(c, o, s, k, 1, 2) for c, o, s, k in
                              ((96, 256, 27, 5), (384, 384, 13, 3), (384, 256, 13, 3))],
    "Groups of 2 to 8 channels":
        [convolution(c, c, s, 3, t, g) for c, g, s, t in NARROW],
}

# Depthwise, of signals: (channels, length, window, stride, dilation)
SIGNALS = {
    "Citrinet": [(256, 400, 5), (256, 400, 11), (256, 200, 13), (256, 200, 17), (384, 200, 21),
                 (256, 100, 25), (256, 100, 29), (512, 100, 35), (640, 50, 39), (1024, 100, 41)],
    "Squeezeformer, E-Branchformer, Zipformer":
        [(144, 250, 31), (196, 500, 31), (256, 124, 31), (1024, 100, 31), (192, 250, 15),
         (512, 62, 15), (384, 125, 31)],
    "LightConv": [(512, 50, 3), (512, 50, 7), (512, 50, 15), (1024, 100, 31)],
    "ModernTCN": [(128, 96, 51), (256, 200, 51), (512, 100, 51), (128, 336, 71), (256, 96, 71),
                  (512, 48, 71), (320, 400, 51), (192, 720, 71)],
    "FSMN of Paraformer": [(512, 200, 11), (512, 60, 11), (512, 100, 21), (128, 300, 20)],
    "MossFormer": [(512, 500, 17), (256, 1000, 17)],
    "Conv-TasNet, dilations": [(512, 400, 3, 1, 2), (256, 800, 3, 1, 8), (128, 1000, 3, 1, 4)],
    "Sequences, dilated":
        [(256, 250, 33, 1, 2), (512, 100, 61, 1, 2), (128, 500, 15, 1, 2), (1024, 50, 31, 1, 2)],
    "BigVGAN, filters between rates": [(128, 512, 12, 2), (256, 256, 12, 2), (512, 128, 12, 2)],
    "Mamba": [(768, 128, 4), (1024, 256, 4), (384, 512, 4)],
    "Vocos": [(512, 100, 7), (512, 300, 7), (384, 200, 7)],
    "Filter banks of a channel each": [(128, 400, 63), (128, 1000, 101), (512, 150, 101),
                                       (256, 250, 91), (1024, 60, 75), (192, 300, 81)],
}

# Depthwise, of images: (channels, size, window, stride, dilation)
IMAGES = {
    "RepLKNet, UniRepLKNet": [(128, 28, 31), (128, 56, 13), (256, 28, 29), (512, 14, 27),
                              (1024, 7, 13), (96, 28, 31), (192, 28, 13), (384, 14, 13)],
    "EdgeNeXt": [(24, 64, 3), (48, 32, 5), (88, 16, 7), (168, 8, 9), (32, 64, 3), (100, 16, 7),
                 (192, 8, 9), (304, 8, 9), (160, 16, 7)],
    "NASNet-A mobile, PNASNet": [(11, 111, 5, 2), (22, 56, 7, 2), (44, 56, 5, 2), (44, 28, 5),
                                 (44, 28, 7), (88, 28, 5, 2), (88, 14, 5), (88, 14, 7),
                                 (176, 14, 5, 2), (176, 7, 5), (176, 7, 7), (54, 42, 5, 2),
                                 (108, 21, 7), (216, 11, 5)],
    "DARTS": [(36, 32, 5), (36, 32, 5, 1, 2), (72, 16, 5), (72, 16, 5, 1, 2), (144, 8, 5),
              (48, 28, 5, 2), (96, 28, 5), (192, 14, 5, 2), (192, 14, 5, 1, 2)],
    "VAN, MogaNet": [(32, 56, 5), (32, 56, 7, 1, 3), (64, 28, 5), (64, 28, 7, 1, 3), (160, 14, 5),
                     (160, 14, 7, 1, 3), (256, 7, 7, 1, 3)],
    "Conv2Former": [(64, 56, 11), (72, 56, 11), (128, 28, 11), (144, 28, 11), (256, 14, 11),
                    (288, 14, 11), (512, 7, 11)],
    "InceptionNeXt": [(12, 56, (1, 11)), (12, 56, (11, 1)), (24, 28, (1, 11)), (24, 28, (11, 1)),
                      (48, 14, (1, 11)), (96, 7, (11, 1)), (12, 56, 3)],
    "SegNeXt": [(32, 128, (1, 7)), (64, 64, (1, 11)), (64, 64, (11, 1)), (160, 32, (21, 1)),
                (256, 16, (1, 21))],
    "SLaK": [(124, 28, (51, 5)), (124, 28, (5, 51)), (248, 14, (5, 49)), (992, 7, (13, 5))],
    "ESPNetv2, dilated": [(32, 56, 3, 1, 2), (64, 28, 3, 1, 3), (128, 28, 3, 2, 1),
                          (128, 14, 3, 1, 2), (20, 56, 3, 1, 4)],
    "ShuffleNetV2+, 58 and 116 channels": [(58, 28, 5), (116, 14, 7), (232, 7, 5), (58, 56, 3, 2),
                                           (116, 28, 3, 2), (68, 28, 7), (336, 14, 5, 2)],
}

# Few pixels, large weights: (channels, results, size, window, stride)
HEAVY = {
    "Heads of detectors on 7x7 and 13x13": [
        (512, 512, 7, 3), (512, 1024, 7, 3), (1024, 1024, 7, 3), (512, 512, 13, 3),
        (512, 1024, 13, 3), (768, 768, 13, 3), (1024, 512, 13, 1), (1024, 1024, 10, 3),
        (640, 640, 10, 3), (512, 512, 5, 3), (256, 512, 13, 3, 2), (512, 512, 10, 3, 2)],
    "Last 1x1 of classifiers": [
        (1024, 1000, 7, 1), (1024, 2048, 7, 1), (2048, 512, 7, 1), (512, 2048, 7, 1),
        (1024, 1000, 1, 1), (1280, 1000, 1, 1), (2048, 1000, 1, 1), (448, 1792, 12, 1),
        (1536, 256, 8, 1), (2080, 320, 8, 1), (512, 1024, 1, 1), (1024, 1024, 3, 1),
        (2048, 512, 6, 1), (2048, 512, 2, 1), (960, 1280, 1, 1), (384, 1536, 8, 1)],
}

# First convolutions: (channels of the image, results, size, window, stride)
STEMS = {
    "Grey images, spectrograms": [
        (1, 96, 128, 5, 1), (1, 64, (96, 64), 3, 1), (1, 64, (64, 400), 3, 1),
        (1, 32, (80, 200), 3, 2), (1, 64, (32, 100), 3, 1), (1, 32, 28, 3, 1), (1, 16, 64, 7, 2),
        (1, 32, 96, 2, 2), (1, 32, 128, 4, 4)],
    "Colour images": [
        (3, 24, (66, 200), 5, 2), (3, 96, 224, 11, 4), (3, 96, 224, 7, 2), (3, 64, 224, 4, 2),
        (3, 32, 299, 3, 2), (3, 64, 96, 5, 2), (3, 48, 227, 11, 3), (3, 128, 224, 2, 2),
        (3, 36, 128, 5, 1), (3, 20, 64, 3, 1), (3, 64, 160, 11, 4), (3, 40, 192, 3, 2)],
    "Raw images, images with depth or a mask, latents": [
        (4, 32, 128, 3, 1), (4, 16, 84, 3, 1), (4, 64, (240, 320), 7, 2), (4, 384, 32, 2, 2),
        (4, 768, 64, 2, 2), (4, 48, 128, 5, 1), (4, 320, 64, 3, 1), (9, 320, 64, 3, 1),
        (9, 64, 96, 3, 1), (9, 32, 128, 7, 2)],
    "Two images: optical flow, frames between frames": [
        (6, 64, (192, 256), 7, 2), (6, 64, 128, 4, 2), (6, 32, 128, 3, 1), (6, 64, 224, 7, 2),
        (6, 32, 64, 5, 1), (6, 24, 96, 11, 4)],
    "Sub-images in channels, bands of satellites": [
        (12, 64, 64, 3, 1), (12, 64, 112, 7, 2), (12, 64, 128, 3, 1), (12, 32, 96, 3, 1),
        (12, 96, 112, 3, 2), (12, 32, 64, 5, 2), (5, 64, 64, 3, 1), (15, 96, 64, 3, 1),
        (10, 64, 64, 7, 2)],
}

# Last convolutions, whose channels fill no block: (channels, classes, size)
LAST = [(64, 21, 32), (128, 21, 64), (64, 21, 128), (64, 19, 64), (128, 19, 128), (48, 19, 33),
        (256, 100, 8), (256, 100, 32), (128, 100, 14), (256, 255, 13), (256, 255, 26),
        (128, 255, 32), (64, 3, 128), (64, 3, 64), (32, 2, 128), (32, 1, 64), (64, 12, 32),
        (64, 34, 48), (96, 81, 20), (64, 150, 64), (64, 17, 64), (32, 68, 56), (64, 5, 80),
        (64, 60, 40), (32, 7, 100), (256, 546, 10), (64, 24, 32), (128, 40, 16)]

# Of volumes and films: (channels, results, size, window, stride, groups)
VOLUMES = {
    "R(2+1)D-18": [
        (3, 45, (8, 56, 56), (1, 7, 7), (1, 2, 2)), (45, 64, (8, 28, 28), (3, 1, 1)),
        (64, 144, (8, 28, 28), (1, 3, 3)), (144, 64, (8, 28, 28), (3, 1, 1)),
        (64, 230, (8, 28, 28), (1, 3, 3), (1, 2, 2)), (230, 128, (8, 14, 14), (3, 1, 1), (2, 1, 1)),
        (128, 288, (4, 14, 14), (1, 3, 3)), (288, 128, (4, 14, 14), (3, 1, 1)),
        (256, 576, (2, 7, 7), (1, 3, 3)), (576, 256, (2, 7, 7), (3, 1, 1))],
    "I3D": [
        (3, 64, (8, 64, 64), (7, 7, 7), 2), (64, 64, (8, 28, 28), 1), (64, 96, (8, 14, 14), 3),
        (192, 64, (8, 28, 28), 1), (96, 128, (4, 14, 14), 3), (16, 32, (8, 28, 28), 3),
        (480, 192, (4, 14, 14), 1), (96, 208, (4, 14, 14), 3), (24, 64, (4, 14, 14), 3),
        (832, 256, (2, 7, 7), 1), (160, 320, (2, 7, 7), 3), (832, 32, (2, 7, 7), 1)],
    "3-D ResNet-18": [
        (64, 64, (4, 28, 28), 3), (64, 128, (4, 28, 28), 3, 2), (64, 128, (4, 28, 28), 1, 2),
        (128, 128, (4, 14, 14), 3), (256, 256, (2, 7, 7), 3), (512, 512, (1, 4, 4), 3)],
    "3D U-Net": [
        (1, 16, (32, 32, 32), 3), (16, 32, (32, 32, 32), 3), (32, 32, (16, 16, 16), 3),
        (32, 64, (16, 16, 16), 3), (64, 64, (8, 8, 8), 3), (64, 128, (8, 8, 8), 3),
        (128, 128, (4, 4, 4), 3), (96, 32, (16, 16, 16), 3), (16, 3, (32, 32, 32), 1),
        (1, 8, (48, 48, 48), 3), (8, 16, (48, 48, 48), 3)],
    "V-Net, VoxNet": [
        (1, 32, (32, 32, 32), 5, 2), (32, 32, (14, 14, 14), 3), (16, 16, (32, 32, 32), 5),
        (16, 32, (32, 32, 32), 2, 2), (32, 64, (16, 16, 16), 2, 2), (32, 32, (16, 16, 16), 5)],
    "SlowFast, X3D": [
        (3, 8, (16, 64, 64), (5, 7, 7), (1, 2, 2)), (8, 8, (16, 28, 28), (3, 1, 1)),
        (8, 8, (16, 28, 28), (1, 3, 3)), (8, 32, (16, 28, 28), 1), (64, 64, (4, 28, 28), (1, 3, 3)),
        (24, 54, (8, 40, 40), 1), (54, 54, (8, 40, 40), 3, 1, 54), (108, 48, (8, 20, 20), 1),
        (108, 108, (8, 20, 20), 3, 1, 108), (216, 216, (8, 10, 10), 3, 1, 216)],
}

# (channels, results, size, window, stride, groups, pads, output padding)
TRANSPOSED = {
    "Decoders, 2x2": [(64, 32, 32, 2, 2), (128, 64, 16, 2, 2), (256, 128, 14, 2, 2),
                      (512, 256, 7, 2, 2), (32, 16, 64, 2, 2), (256, 256, 14, 2, 2),
                      (24, 24, 48, 2, 2), (64, 1, 80, 2, 2), (48, 12, 96, 2, 2),
                      (64, 64, 8, 4, 4), (32, 3, 32, 8, 8)],
    "Decoders, 3x3": [(256, 128, 16, 3, 2, 1, 1, 1), (512, 256, 8, 3, 2, 1, 1, 1),
                      (64, 32, 64, 3, 2, 1, 1, 1), (32, 32, 56, 3, 2, 1, 1, 1),
                      (128, 128, 14, 3, 2, 1, 1, 1), (16, 8, 100, 3, 2, 1, 1, 1)],
    "Heads of poses, generators, 4x4": [
        (256, 256, 16, 4, 2, 1, 1), (512, 256, 8, 4, 2, 1, 1), (64, 64, 64, 4, 2, 1, 1),
        (100, 512, 1, 4, 1), (64, 3, 48, 4, 2, 1, 1), (192, 96, 20, 4, 2, 1, 1)],
    "In groups and depthwise": [
        (64, 64, 28, 4, 2, 64, 1), (128, 128, 14, 4, 2, 128, 1), (256, 256, 16, 4, 2, 256, 1),
        (32, 32, 56, 2, 2, 32), (96, 96, 28, 3, 2, 96, 1, 1), (21, 21, 32, 4, 2, 21, 1),
        (64, 64, 28, 3, 2, 8, 1, 1), (128, 64, 16, 4, 2, 4, 1), (128, 128, 16, 2, 2, 2)],
    "Voices": [(256, 128, (100,), 8, 4, 1, 2), (512, 256, (40,), 16, 8, 1, 4),
               (128, 64, (400,), 4, 2, 1, 1), (64, 32, (800,), 4, 2, 1, 1),
               (512, 256, (32,), 10, 5, 1, (2, 3)), (256, 128, (160,), 12, 6, 1, 3)],
    "Volumes": [(64, 32, (8, 8, 8), 2, 2), (128, 64, (4, 4, 4), 2, 2),
                (32, 16, (16, 16, 16), 2, 2)],
}


def dense_signal(channels, results, length, window, stride=1, dilation=1, then="Relu"):
    return convolution(channels, results, (length,), (window,), stride, 1, dilation, then)


# Of signals: (channels, results, length, window, stride, dilation)
DENSE_SIGNALS = {
    "Jasper": [(64, 256, 400, 11, 2), (256, 256, 200, 11), (256, 384, 100, 13),
               (384, 512, 100, 17), (512, 640, 50, 21), (640, 768, 50, 25),
               (768, 896, 25, 29, 1, 2), (896, 1024, 25, 1)],
    "Tacotron 2, FastSpeech 2": [(512, 512, 50, 5), (512, 512, 200, 5), (80, 512, 200, 5),
                                 (512, 80, 300, 5), (256, 1024, 64, 9), (1024, 256, 64, 1),
                                 (256, 256, 64, 3)],
    "InceptionTime": [(32, 32, 140, 9), (32, 32, 140, 19), (32, 32, 140, 39), (128, 32, 512, 1),
                      (1, 32, 512, 39), (32, 32, 1000, 19)],
    "EnCodec": [(1, 32, 4800, 7), (32, 64, 4800, 4, 2), (64, 128, 2400, 8, 4),
                (128, 256, 600, 10, 5), (256, 512, 120, 16, 8), (512, 512, 15, 7),
                (32, 16, 4800, 3)],
    "ResNet of time series": [(1, 64, 150, 7), (64, 64, 150, 5), (64, 128, 300, 7),
                              (128, 128, 300, 5), (128, 128, 96, 3)],
}

# ReXNet, whose widths grow evenly: (channels, results, size)
REXNET = [(16, 27, 112), (27, 162, 56), (162, 38, 56), (38, 228, 56), (228, 50, 28), (50, 300, 28),
          (300, 61, 28), (61, 366, 28), (366, 72, 14), (84, 504, 14), (95, 570, 14), (106, 636, 14),
          (117, 702, 14), (702, 128, 14), (151, 906, 7), (906, 162, 7), (185, 1280, 7)]
REXNET_DEPTHWISE = [(96, 112, 3, 2), (162, 56, 3), (228, 56, 3, 2), (300, 28, 3), (366, 28, 3, 2),
                    (570, 14, 3), (702, 14, 3), (774, 14, 3, 2), (906, 7, 3), (30, 112, 3),
                    (54, 56, 5, 2), (90, 28, 5), (150, 14, 5), (174, 14, 7), (22, 64, 3, 2)]
# PyramidNet, and networks of which channels were pruned: (channels, results, size, window, stride)
UNEVEN = [(17, 19, 32, 3), (22, 25, 32, 3), (37, 39, 32, 3), (43, 46, 16, 3), (57, 61, 16, 3, 2),
          (70, 73, 8, 3), (85, 90, 8, 3), (49, 64, 56, 3), (33, 51, 112, 3), (102, 117, 28, 3),
          (213, 251, 14, 3), (318, 407, 7, 3), (61, 233, 28, 1), (123, 61, 28, 1),
          (250, 502, 14, 1), (497, 201, 14, 1), (1010, 385, 7, 1), (29, 54, 56, 1),
          (13, 30, 64, 5), (6, 16, 48, 5)]
UNEVEN_CALLS = ([convolution(c, o, s, 1, then=None) for c, o, s in REXNET]
                + [depthwise(*row) for row in REXNET_DEPTHWISE]
                + [convolution(*row) for row in UNEVEN])

# Brain waves, muscles, sleep, whose windows go along time or across channels. Over time, from one
# plane: (results, channels of the recording, length, window)
OVER_TIME = {
    "Shallow and deep networks of brain waves": [(40, 22, 1000, 25), (25, 22, 500, 10),
                                                 (40, 64, 480, 13), (32, 44, 1125, 25)],
    "TSception": [(9, 32, 512, 128), (15, 32, 512, 64), (15, 32, 512, 32), (16, 28, 400, 50)],
    "Sinc-ShallowNet": [(32, 22, 500, 65), (32, 3, 1125, 33)],
    "Filters of recordings": [(8, 8, 250, 32), (16, 20, 300, 100), (16, 16, 640, 16),
                              (32, 32, 256, 48), (48, 19, 200, 31), (64, 14, 384, 20),
                              (16, 62, 200, 51), (32, 4, 1000, 125)],
}
# Across all channels of the recording: (planes, results, channels, length, groups)
ACROSS = [(40, 40, 22, 976, 1), (25, 25, 22, 491, 1), (9, 288, 22, 250, 9), (32, 64, 22, 436, 32),
          (32, 64, 44, 300, 32), (8, 32, 20, 300, 8), (16, 16, 28, 351, 1), (48, 96, 19, 200, 48),
          (16, 32, 62, 150, 16), (24, 24, 32, 256, 24), (64, 64, 14, 365, 64), (15, 15, 32, 120, 1),
          (32, 32, 16, 500, 32), (12, 48, 10, 640, 12)]
# Behind those, one row: (channels, results, length, window, groups)
ONE_ROW = [(25, 50, 163, 10, 1), (50, 100, 51, 10, 1), (100, 200, 14, 10, 1), (64, 64, 109, 16, 64),
           (32, 32, 250, 8, 32), (96, 96, 50, 15, 96), (48, 48, 128, 24, 48), (64, 64, 64, 1, 1),
           (32, 64, 150, 5, 1), (16, 16, 300, 50, 16), (128, 128, 31, 9, 128)]
# Pools of one row, behind Elu: (channels, length, window, stride)
ROW_POOLS = [(40, 976, 75, 15), (64, 436, 109, 23), (32, 256, 4, 4), (64, 150, 8, 8),
             (25, 489, 3, 3), (16, 500, 2, 2), (96, 200, 8, 8), (48, 120, 5, 5), (128, 300, 16, 16)]
# Oblong windows: (channels, results, size, window, stride, groups)
OBLONG = {
    "Skeletons, along time": [
        (64, 64, (300, 25), (9, 1), 1, 1), (128, 128, (150, 25), (9, 1), 1, 1),
        (256, 256, (75, 25), (9, 1), 1, 1), (64, 128, (300, 25), (9, 1), (2, 1), 1),
        (64, 64, (64, 17), (3, 1), 1, 1), (96, 96, (100, 18), (5, 1), 1, 1)],
    "Time-depth separable": [
        (10, 10, (80, 200), (1, 21), 1, 1), (14, 14, (80, 100), (1, 21), 1, 1),
        (18, 18, (80, 50), (1, 21), 1, 1), (16, 16, (40, 200), (1, 9), 1, 1)],
    "Enhancement of speech": [
        (1, 16, (100, 161), (2, 3), (1, 2), 1), (16, 32, (100, 80), (2, 3), (1, 2), 1),
        (32, 64, (100, 40), (2, 3), (1, 2), 1), (64, 128, (100, 20), (2, 3), (1, 2), 1),
        (32, 64, (128, 60), (5, 2), (2, 1), 1), (64, 128, (64, 60), (5, 2), (2, 1), 1),
        (128, 256, (32, 60), (5, 2), (2, 1), 1)],
    "Spectra of music": [
        (1, 32, (96, 187), (38, 7), 1, 1), (1, 64, (96, 100), (86, 3), 1, 1),
        (1, 32, (96, 187), (1, 64), 1, 1), (1, 51, (96, 187), (1, 32), 1, 1),
        (1, 64, (98, 40), (20, 8), 1, 1), (64, 64, (49, 20), (10, 4), 1, 1)],
    "Lines of text": [
        (32, 64, (32, 100), 3, (2, 1), 1), (64, 128, (16, 100), 3, (2, 1), 1),
        (128, 128, (8, 100), 3, (2, 1), 1), (256, 24, (24, 24), (1, 5), 1, 1),
        (256, 64, (12, 12), (3, 5), 1, 1), (512, 16, (48, 48), (1, 5), 1, 1)],
    "Large strips, channel by channel": [
        (64, 64, (56, 56), (1, 7), 1, 64), (64, 64, (56, 56), (7, 1), 1, 64),
        (128, 128, (28, 28), (1, 11), 1, 128), (128, 128, (28, 28), (11, 1), 1, 128),
        (160, 160, (14, 14), (1, 23), 1, 160), (160, 160, (14, 14), (23, 1), 1, 160),
        (256, 256, (7, 7), (1, 35), 1, 256), (32, 32, (112, 112), (1, 5), 1, 32),
        (320, 320, (14, 14), (21, 1), 1, 320), (48, 48, (100, 40), (15, 1), 1, 48)],
}


def across(planes, results, channels, length, group):
    return convolution(planes, results, (channels, length), (channels, 1), 1, group, 1, None, 0)


def row_pool(operator, channels, length, window, stride):
    attributes = {"kernel_shape": [1, window], "strides": [1, stride]}
    return (*convolution(channels, channels, (1, length), (1, 1), then=None)[:4],
            [("Elu", {}), (operator, attributes)])


RECORDINGS = [
    *(Layers(source, [convolution(1, o, (c, n), (1, k), then=None) for o, c, n, k in rows])
      for source, rows in OVER_TIME.items()),
    Layers("Filters across a recording", [across(*row) for row in ACROSS]),
    Layers("Filters of one row", [convolution(c, o, (1, n), (1, k), 1, g, then=None)
                                  for c, o, n, k, g in ONE_ROW]),
    Layers("Pools of one row", [row_pool(("AveragePool", "MaxPool")[i % 2], *row)
                                for i, row in enumerate(ROW_POOLS)],
           ("Elu", "AveragePool", "MaxPool")),
    *(Layers(source, [convolution(c, o, s, k, t, g, then=("Relu", None)[i % 2])
                      for i, (c, o, s, k, t, g) in enumerate(rows)])
      for source, rows in OBLONG.items()),
]


def with_activations(rows):
    """Depthwise layers of images, every third with an activation that the runtime fuses."""
    return [depthwise(*row, then=("Relu", None, None)[i % 3]) for i, row in
            enumerate((*row, *(1,) * (5 - len(row))) for row in rows)]


def pooled(channels, sizes, windows):
    return [behind_convolution(pool("MaxPool", channels, size, window, 1))
            for size in sizes for window in windows]


EIGHT_BITS = [Layers(f"{source}, 8 bits", [in_eight_bits(call) for call in calls])
              for source, calls in {
                  **{source: calls[::2] for source, calls in GROUPED.items()},
                  "Depthwise layers of signals": [signal(*row) for rows in SIGNALS.values()
                                                  for row in rows[::4]],
                  "Depthwise layers of images": [depthwise(*row) for rows in IMAGES.values()
                                                 for row in rows[::4]],
                  "Heads": [convolution(*row) for rows in HEAVY.values() for row in rows[::4]],
                  "First convolutions": [convolution(*row) for rows in STEMS.values()
                                         for row in rows[::4]],
              }.items()]

TABLE = [
    *(Layers(source, calls) for source, calls in GROUPED.items()),
    *RECORDINGS,
    *(Layers(source, [signal(*row) for row in rows]) for source, rows in SIGNALS.items()),
    *(Layers(source, with_activations(rows)) for source, rows in IMAGES.items()),
    *(Layers(source, [convolution(*row) for row in rows]) for source, rows in HEAVY.items()),
    *(Layers(source, [convolution(*row) for row in rows]) for source, rows in STEMS.items()),
    Layers("Last convolutions", [convolution(*row, 1, then=None) for row in LAST],
           ("Conv", "ReorderOutput")),
    *(Layers(source, [convolution(*row, then=None) for row in rows])
      for source, rows in VOLUMES.items()),
    *(Layers(source, [transposed(*row) for row in rows]) for source, rows in TRANSPOSED.items()),
    Layers("Pyramids of pools", pooled(256, (13, 20), (5, 9, 13)) + pooled(128, (40,), (2, 3, 5)),
           ("MaxPool",)),
    Layers("Means of blocks",
           [behind_convolution(pool("AveragePool", c, s, k, t, 0)) for c, s, k, t in
            ((128, 28, 2, 2), (256, 14, 2, 2), (64, 56, 3, 2), (512, 12, 6, 6), (512, 12, 3, 3),
             (256, 13, 5, 1), (96, 56, 2, 2), (32, 112, 4, 4))]
           + [behind_convolution(unary("GlobalAveragePool", 1, c, s, s)) for c, s in
              ((64, 112), (256, 64), (16, 128), (2048, 7), (1024, 1), (32, 4))],
           ("AveragePool", "GlobalAveragePool")),
    *EIGHT_BITS,
    *(Layers(source, [dense_signal(*row) for row in rows])
      for source, rows in DENSE_SIGNALS.items()),
    Layers("Convolutions of signals, 8 bits",
           [in_eight_bits(dense_signal(*row)) for rows in DENSE_SIGNALS.values()
            for row in rows[::2]]),
    Layers("Channels that fill no block", UNEVEN_CALLS),
    Layers("Channels that fill no block, 8 bits",
           [in_eight_bits(call) for call in UNEVEN_CALLS[::2]]),
]
