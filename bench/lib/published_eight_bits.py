# SPDX-License-Identifier: Apache-2.0
"""Layers of published architectures in 8 and 4 bits that are neither convolutions nor products of
which the inventory's networks have many.

None is of a network that bench/unseen.py reports on (lib/halves.py).
"""
from lib.published_calls import Layers, dims, plane

SCALES = ["f32c[]=0.02", "u8c[]=128"]


def u8(*sizes):
    return f"u8[{dims(*sizes)}]"


def of_one(operator, *sizes, **attributes):
    return (operator, [u8(*sizes), *SCALES, *SCALES], attributes, 1)


def softmax(*sizes):
    return of_one("QLinearSoftmax", *sizes, axis=len(sizes) - 1, opset=13)


def of_two(operator, sizes, other):
    return (operator, [u8(*sizes), *SCALES, u8(*other), *SCALES, *SCALES], {}, 1)


def joined(sizes, axis, *lengths):
    operands = [*SCALES]
    for n in lengths:
        operands += [u8(*sizes[:axis], n, *sizes[axis + 1:]), *SCALES]
    return ("QLinearConcat", operands, {"axis": axis}, 1)


def mean(sizes, window, stride, pad=0, last=0, count=0):
    return ("QLinearAveragePool", [u8(*sizes), *SCALES, *SCALES],
            {"kernel_shape": list(plane(window)), "strides": list(plane(stride)), "pads": [pad] * 4,
             "count_include_pad": count, "channels_last": last}, 1)


def packed(rows, inputs, outputs, bits=4, block=32):
    """A product with weights of 4 or 8 bits in blocks."""
    blocks = inputs // block
    weights = f"u8c[{outputs},{blocks},{block * bits // 8}]"
    return ("MatMulNBits", [f"f32[1,{rows},{inputs}]", weights, f"f32c[{outputs * blocks}]"],
            {"K": inputs, "N": outputs, "bits": bits, "block_size": block, "accuracy_level": 4}, 1)


# Images in 8 bits: after a stem to before a head.
IMAGES = [(1, 32, 112, 112), (1, 64, 56, 56), (1, 24, 56, 56), (1, 128, 28, 28), (1, 256, 14, 14),
          (1, 116, 28, 28), (1, 512, 7, 7), (1, 20, 32, 32)]
# Widths of language models: (inputs, outputs)
WIDTHS = [(256, 256), (256, 1024), (512, 512), (768, 768), (768, 3072), (1024, 4096), (2048, 512),
          (4096, 1024), (2560, 2560), (4096, 4096)]

TABLE = [
    Layers("Softmax in 8 bits", [softmax(*sizes) for sizes in
                                 ((12, 64, 64), (1, 1000), (1, 8, 128, 128), (1, 3, 197, 197),
                                  (1, 49, 49), (64, 4, 49, 49), (1, 256, 256), (1, 4, 32, 100),
                                  (1, 21), (16, 64, 32))]),
    Layers("Activations in 8 bits", [of_one(operator, *sizes) for operator in
                                     ("QLinearSigmoid", "QLinearLeakyRelu")
                                     for sizes in (*IMAGES, (1, 480, 1, 1), (1, 197, 768))]),
    Layers("Gates and masks in 8 bits",
           [of_two("QLinearMul", sizes, sizes) for sizes in IMAGES]
           + [of_two("QLinearMul", sizes, (*sizes[:2], 1, 1)) for sizes in IMAGES[::2]]
           + [of_two("QLinearMul", (1, 128, 256), (1, 128, 256)),
              of_two("QLinearMul", (1, 64, 28, 28), (1, 1, 28, 28))]
           + [of_two("QLinearAdd", *sizes) for sizes in
              (((1, 197, 192), (1, 197, 192)), ((1, 128, 256), (256,)),
               ((1, 24, 56, 56), (1, 24, 56, 56)),
               ((1, 12, 64, 64), (1, 1, 1, 64)), ((1, 256, 500), (1, 256, 500)))]),
    Layers("Joins in 8 bits", [joined(*one) for one in
                               (((1, 0, 56, 56), 1, 64, 64), ((1, 0, 28, 28), 1, 58, 58),
                                ((1, 0, 20, 20), 1, 256, 256, 256, 256),
                                ((1, 0, 112, 112), 1, 16, 16), ((1, 28, 28, 0), 3, 128, 128),
                                ((1, 0, 14, 14), 1, 192, 208, 48, 64),
                                ((1, 100, 0), 2, 128, 128), ((1, 0, 192), 1, 1, 196),
                                ((1, 0, 7, 7), 1, 512, 32), ((1, 56, 56, 0), 3, 24, 24, 24))]),
    Layers("Pools in 8 bits",
           [mean(*one) for one in
            (((1, 64, 56, 56), 2, 2), ((1, 256, 14, 14), 3, 1, 1), ((1, 24, 56, 56), 3, 2, 1),
             ((1, 512, 7, 7), 7, 1), ((1, 100, 28, 28), 2, 2), ((1, 32, 112, 112), 3, 2, 1),
             ((1, 128, 20, 20), 5, 1, 2), ((1, 48, 28, 28), 5, 2, 2))]
           + [mean(*one, last=1, count=1) for one in
              (((1, 56, 56, 128), 2, 2), ((1, 28, 28, 96), 2, 2), ((1, 14, 14, 320), 2, 2),
               ((1, 32, 32, 40), 3, 2, 1), ((1, 16, 16, 512), 3, 1, 1), ((1, 8, 8, 200), 3, 2, 1),
               ((1, 35, 35, 64), 3, 1, 1), ((1, 12, 12, 256), 6, 6), ((1, 112, 112, 16), 2, 2),
               ((1, 17, 17, 160), 5, 1, 2))]
           + [of_one("QLinearGlobalAveragePool", *sizes, channels_last=last) for sizes, last in
              (((1, 64, 56, 56), 0), ((1, 2048, 7, 7), 0), ((1, 24, 56, 56), 0),
               ((1, 960, 7, 7), 0), ((1, 56, 56, 96), 1), ((1, 14, 14, 480), 1),
               ((1, 7, 7, 1024), 1), ((1, 28, 28, 40), 1), ((1, 112, 112, 32), 1),
               ((1, 4, 4, 256), 1))]
           + [(":MaxPool", [u8(*sizes)], {"kernel_shape": [k, k], "strides": [t, t],
                                          "pads": [p] * 4}, 1)
              for sizes, k, t, p in (((1, 64, 112, 112), 3, 2, 1), ((1, 128, 28, 28), 2, 2, 0),
                                     ((1, 256, 13, 13), 5, 1, 2), ((1, 20, 64, 64), 2, 2, 0),
                                     ((1, 192, 28, 28), 3, 1, 1), ((1, 512, 20, 20), 13, 1, 6))]),
    Layers("Language models, weights of 4 bits",
           [packed(rows, *widths) for i, widths in enumerate(WIDTHS)
            for rows in ((1, 32), (8, 128), (1, 8, 128))[i % 3]
            if rows * widths[0] * widths[1] < 6e8]
           + [packed(rows, *widths, block=block) for rows, widths, block in
              ((1, (1024, 1024), 128), (16, (1024, 1024), 128), (1, (2048, 2048), 64),
               (32, (512, 2048), 64), (1, (1024, 4096), 16))]),
    Layers("Language models, weights of 8 bits",
           [packed(rows, *widths, bits=8) for i, widths in enumerate(WIDTHS)
            for rows in ((1, 32), (8, 128))[i % 2] if rows * widths[0] * widths[1] < 3e8]),
    Layers("Resizes in 8 bits",
           [(":Resize", [u8(*sizes), "", f"f32c[4]=[{factors}]"],
             {"mode": mode, "coordinate_transformation_mode": "asymmetric",
              "nearest_mode": "floor"}, 1)
            for sizes, factors, mode in
            (((1, 256, 14, 14), "1,1,2,2", "nearest"), ((1, 64, 56, 56), "1,1,2,2", "nearest"),
             ((1, 128, 28, 28), "1,1,4,4", "nearest"), ((1, 28, 28, 128), "1,2,2,1", "nearest"),
             ((1, 64, 32, 32), "1,1,2,2", "linear"), ((1, 32, 32, 21), "1,4,4,1", "linear"),
             ((1, 14, 14, 256), "1,2,2,1", "linear"))]),
    Layers("Movements of data in 8 bits",
           [(":Transpose", [u8(*sizes)], {"perm": list(perm)}, 1) for sizes, perm in
            (((1, 128, 28, 28), (0, 2, 3, 1)), ((1, 28, 28, 58), (0, 3, 1, 2)),
             ((1, 197, 3, 64), (0, 2, 1, 3)), ((1, 2, 58, 28, 28), (0, 2, 1, 3, 4)),
             ((1, 64, 112, 112), (0, 2, 3, 1)), ((1, 7, 7, 1024), (0, 3, 1, 2)))]
           + [(":Split", [u8(*sizes)], {"axis": axis}, parts) for sizes, axis, parts in
              (((1, 116, 28, 28), 1, 2), ((1, 28, 28, 128), 3, 2), ((1, 197, 576), 2, 3))]
           + [(":QuantizeLinear", [f"f32[{dims(*sizes)}]", *SCALES], {}, 1)
              for sizes in IMAGES[::2]]
           + [(":DequantizeLinear", [u8(*sizes), *SCALES], {}, 1) for sizes in IMAGES[1::2]],
           ("Transpose", "Split", "QuantizeLinear", "DequantizeLinear")),
    Layers("Products of activations in 8 bits",
           [(":QLinearMatMul", [u8(*left), *SCALES, u8(*right), *SCALES, *SCALES], {}, 1)
            for left, right in
            (((1, 8, 128, 64), (1, 8, 64, 128)), ((1, 3, 196, 64), (1, 3, 64, 196)),
             ((1, 4, 256, 256), (1, 4, 256, 32)), ((64, 49, 32), (64, 32, 49)))]
           + [(":QLinearMatMul", [u8(1, rows, k), *SCALES, f"i8c[{k},{n}]", f"f32c[{n}]",
                                  f"i8c[{n}]=0", *SCALES], {}, 1)
              for rows, k, n in ((64, 256, 256), (1, 512, 512), (197, 192, 768), (128, 768, 256),
                                 (16, 1024, 1024), (400, 144, 576))]
           + [("DynamicQuantizeMatMul", [f"f32[1,{rows},{k}]", f"i8c[{k},{n}]", f"f32c[{n}]",
                                         f"i8c[{n}]=0", f"f32c[{n}]"], {}, 1)
              for rows, k, n in
              ((1, 256, 1024), (1, 1024, 1024), (200, 256, 256), (50, 512, 2048))]),
]
