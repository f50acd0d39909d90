# SPDX-License-Identifier: Apache-2.0
"""Int8 networks in Caffe2's form, from the figures of their papers: shapes are all that counts, parameters have no values."""
import random

ORDER = [("order", "s", "NHWC")]


def image(net, x="data"):
    x = net.op("NCHW2NHWC", [x], "data_nhwc", quantised=False)
    return net.op("Int8Quantize", [x], "data_int8")


def pool(net, kind, x, output, kernel, stride, pad=0):
    arguments = ORDER + [("kernel", "i", kernel), ("stride", "i", stride), ("pad", "i", pad)]
    return net.op(kind, [x], output, arguments, quantised=kind == "Int8AveragePool")


def classifier(net, x, channels, size, classes=1000):
    if size > 1:
        x = pool(net, "Int8AveragePool", x, "average", size, 1)
    return end(net, product(net, x, "fc", channels, classes))


def product(net, x, output, inner, outputs):
    net.parameter(output + "_w", "Int8GivenTensorFill", [outputs, inner])
    net.parameter(output + "_b", "Int8GivenIntTensorFill", [outputs])
    return net.op("Int8FC", [x, output + "_w", output + "_b"], output, ORDER)


def end(net, x):
    x = net.op("Int8Softmax", [x], "softmax_int8", ORDER)
    return net.op("Int8Dequantize", [x], "softmax", quantised=False)


def shuffle(net, x, output, group):
    return net.op("Int8ChannelShuffle", [x], output, ORDER + [("group", "i", group)])


def inverted_residual(net, x, name, channels, into, kernel, stride, expansion, group=1):
    """Pointwise, depthwise, pointwise, and the sum where nothing changes its shape (MobileNetV2, FBNet's blocks)."""
    wide = channels * expansion
    y = x
    if expansion != 1 or group != 1:
        y = net.conv(y, name + "_expand", channels, wide, group=group, relu=True)
        if group > 1:
            y = shuffle(net, y, name + "_shuffle", group)
    y = net.conv(y, name + "_dw", wide, wide, kernel=kernel, stride=stride, group=wide, relu=True)
    y = net.conv(y, name + "_project", wide, into, group=group)
    return net.op("Int8Sum", [y, x], name + "_sum", ORDER) if stride == 1 and channels == into else y


def halved(size, stride):
    return (size + stride - 1) // stride


def mobilenet_v2(net, size, draw):
    stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    x = net.conv(image(net), "stem", 3, 32, kernel=3, stride=2, relu=True)
    size, channels = halved(size, 2), 32
    for s, (expansion, into, count, stride) in enumerate(stages):
        for i in range(count):
            now = stride if i == 0 else 1
            x = inverted_residual(net, x, f"s{s}b{i}", channels, into, 3, now, expansion)
            size, channels = halved(size, now), into
    x = net.conv(x, "head", channels, 1280, relu=True)
    classifier(net, x, 1280, size)


# Kernel, expansion, group; the last is to leave the layer out.
FBNET_BLOCKS = ((3, 1, 1), (3, 1, 2), (3, 3, 1), (3, 6, 1), (5, 1, 1), (5, 1, 2), (5, 3, 1), (5, 6, 1), (0, 0, 0))


def fbnet(net, size, draw):
    """A network of FBNet's search space: kernel, expansion and group of every layer are drawn."""
    stages = ((16, 1, 1), (24, 4, 2), (32, 4, 2), (64, 4, 2), (112, 4, 1), (184, 4, 2), (352, 1, 1))
    x = net.conv(image(net), "stem", 3, 16, kernel=3, stride=2, relu=True)
    size, channels = halved(size, 2), 16
    for s, (into, count, stride) in enumerate(stages):
        for i in range(count):
            now = stride if i == 0 else 1
            kernel, expansion, group = draw.choice(FBNET_BLOCKS)
            if kernel == 0:
                if now == 1 and channels == into:
                    continue
                kernel, expansion, group = 3, 1, 1
            x = inverted_residual(net, x, f"s{s}b{i}", channels, into, kernel, now, expansion, group)
            size, channels = halved(size, now), into
    x = net.conv(x, "head", channels, 1504, relu=True)
    classifier(net, x, 1504, size)


def resnet18(net, size, draw):
    x = net.conv(image(net), "stem", 3, 64, kernel=7, stride=2, relu=True)
    x = pool(net, "Int8MaxPool", x, "pool", 3, 2, 1)
    size, channels = halved(halved(size, 2), 2), 64
    for s, into in enumerate((64, 128, 256, 512)):
        for i in range(2):
            stride = 2 if s > 0 and i == 0 else 1
            name = f"s{s}b{i}"
            y = net.conv(x, name + "_a", channels, into, kernel=3, stride=stride, relu=True)
            y = net.conv(y, name + "_b", into, into, kernel=3)
            if stride != 1 or channels != into:
                x = net.conv(x, name + "_skip", channels, into, stride=stride)
            x = net.op("Int8SumRelu", [y, x], name + "_sum", ORDER)
            size, channels = halved(size, stride), into
    classifier(net, x, channels, size)


def shufflenet(net, size, draw):
    """ShuffleNet of groups of 3 without its concatenations: grouped pointwise convolutions around a shuffle."""
    group = 3
    x = net.conv(image(net), "stem", 3, 24, kernel=3, stride=2, relu=True)
    x = pool(net, "Int8MaxPool", x, "pool", 3, 2, 1)
    size, channels = halved(halved(size, 2), 2), 24
    for s, (into, count) in enumerate(((240, 4), (480, 8), (960, 4))):
        for i in range(count):
            stride = 2 if i == 0 else 1
            name = f"s{s}b{i}"
            middle = into // 4
            y = net.conv(x, name + "_a", channels, middle, group=1 if channels == 24 else group, relu=True)
            y = shuffle(net, y, name + "_shuffle", group)
            y = net.conv(y, name + "_dw", middle, middle, kernel=3, stride=stride, group=middle)
            y = net.conv(y, name + "_b", middle, into, group=group)
            x = y if stride == 2 else net.op("Int8SumRelu", [y, x], name + "_sum", ORDER)
            size, channels = halved(size, stride), into
    classifier(net, x, channels, size)


def squeezenet(net, size, draw):
    x = net.conv(image(net), "stem", 3, 64, kernel=3, stride=2, relu=True)
    size, channels = halved(size, 2), 64
    for i, (squeeze, expand) in enumerate(((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))):
        if i in (0, 2, 4):
            x = pool(net, "Int8MaxPool", x, f"pool{i}", 3, 2, 1)
            size = halved(size, 2)
        y = net.conv(x, f"fire{i}_squeeze", channels, squeeze, relu=True)
        a = net.conv(y, f"fire{i}_one", squeeze, expand, relu=True)
        b = net.conv(y, f"fire{i}_three", squeeze, expand, kernel=3, relu=True)
        x = net.op("Int8Concat", [a, b], f"fire{i}", ORDER + [("axis", "i", 3)])
        channels = 2 * expand
    x = net.conv(x, "head", channels, 1000, relu=True)
    end(net, pool(net, "Int8AveragePool", x, "average", size, 1))


def vgg_small(net, size, draw):
    x, channels = image(net), 3
    for i, (into, count) in enumerate(((32, 1), (64, 1), (128, 2), (256, 2))):
        for j in range(count):
            x = net.conv(x, f"s{i}c{j}", channels, into, kernel=3, relu=True)
            channels = into
        x = pool(net, "Int8MaxPool", x, f"pool{i}", 2, 2)
        size //= 2
    x = product(net, x, "fc0", channels * size * size, 512)
    end(net, product(net, x, "fc1", 512, 100))


NETWORKS = {function.__name__: function for function in (mobilenet_v2, fbnet, resnet18, shufflenet, squeezenet, vgg_small)}


def build(net, name, size, seed):
    """Adds the operators of this network over images of size x size; a seed decides what a network draws (fbnet)."""
    NETWORKS[name](net, size, random.Random(seed))
