# SPDX-License-Identifier: Apache-2.0
"""Products of activations, reductions, recurrent layers, resizes, normalisations and movements of
data in published architectures, of which the inventory's networks have few.

None is of a network that bench/unseen.py reports on (lib/halves.py).
"""
from lib.published_calls import (Layers, constants, einsum, f32, plane, pool, recurrent, reduction,
                                 step, unary)

# (batch, heads, tokens, other tokens, width of a head)
HEADS = [(1, 3, 196, 196, 64), (1, 12, 64, 64, 64), (1, 8, 256, 256, 32), (1, 4, 1024, 64, 64),
         (1, 6, 49, 49, 32), (1, 16, 16, 16, 128), (1, 2, 1024, 1024, 32), (1, 12, 128, 128, 64),
         (4, 4, 64, 64, 32), (1, 8, 1, 256, 64), (1, 8, 512, 77, 40)]
# Linear attention, whose keys and values are multiplied first: (heads, tokens, width, width)
LINEAR = [(8, 196, 64, 64), (4, 1024, 32, 32), (12, 128, 64, 64), (2, 1024, 64, 64),
          (16, 64, 32, 32), (8, 512, 40, 40), (6, 49, 128, 64)]


def attention_equations():
    calls = []
    for i, (b, h, n, m, d) in enumerate(HEADS):
        sizes = {"b": b, "h": h, "d": d}
        first, second = [("bhid,bhjd->bhij", "bhij,bhjd->bhid"),
                         ("bihd,bjhd->bhij", "bhij,bjhd->bihd")][i % 2]
        calls += [einsum(equation, i=n, j=m, **sizes) for equation in (first, second)]
    for b, h, n, m, d in HEADS[::2]:
        calls.append(einsum("bhqd,bhkd->bhqk", b=b, h=h, q=n, k=m, d=d))
        calls.append(einsum("bqhd,bkhd->bhqk", b=b, h=h, q=n, k=m, d=d))
        calls.append(einsum("bhqk,bkhd->bqhd", b=b, h=h, q=n, k=m, d=d))
    # One head
    calls += [einsum(equation, b=b, i=n, j=m, d=d, c=d, p=m, q=n) for (b, n, m, d) in
              ((1, 64, 64, 256), (2, 256, 64, 64)) for equation in
              ("bid,bjd->bij", "bij,bjd->bid", "bci,bcj->bij")]
    return calls


def linear_attention_equations():
    calls = []
    for i, (h, n, d, e) in enumerate(LINEAR):
        sizes = {"b": 1, "h": h, "n": n, "d": d, "e": e}
        calls += [einsum(equation, **sizes) for equation in
                  (("bhnd,bhne->bhde", "bhnd,bhde->bhne", "bhnd,bhd->bhn"),
                   ("bnhd,bnhe->bhde", "bnhd,bhde->bnhe", "bnhd,bhd->bnh"))[i % 2]]
        if i % 2:
            calls.append(einsum("bhdn,bhen->bhde", **sizes))
        if i < 4:
            calls.append(einsum("bhnd,bhde,bhn->bhne", **sizes))
    return calls


POSITIONS = [
    *(einsum("bhid,ijd->bhij", b=1, h=h, i=n, j=n, d=d)
      for h, n, d in ((8, 64, 64), (4, 128, 32), (12, 32, 64))),
    *(einsum("bhid,jd->bhij", b=1, h=h, i=n, j=m, d=d)
      for h, n, m, d in ((4, 196, 27, 128), (8, 256, 511, 32))),
    *(einsum("bhxyd,rd->bhxyr", b=1, h=4, x=s, y=s, d=128, r=2 * s - 1) for s in (14, 16, 7)),
    *(einsum("bhxyd,bhxzd->bhxyz", b=1, h=h, x=s, y=s, z=s, d=d)
      for h, s, d in ((8, 56, 16), (8, 28, 32), (8, 14, 64))),
    *(einsum("bhxyz,bhxzd->bhxyd", b=1, h=h, x=s, y=s, z=s, d=d)
      for h, s, d in ((8, 56, 16), (8, 28, 32))),
]
TENSORS = [
    *(einsum("i,j->ij", i=n, j=m) for n, m in ((64, 32), (256, 256), (1024, 64))),
    *(einsum("bi,bj->bij", b=b, i=n, j=n) for b, n in ((16, 32), (64, 64), (1, 256))),
    *(einsum("bn,anm,bm->ba", b=b, a=a, n=n, m=n) for b, a, n in ((1, 16, 32), (8, 8, 64))),
    *(einsum("bij,jk->bik", b=1, i=n, j=k, k=o)
      for n, k, o in ((64, 256, 256), (196, 384, 64), (16, 512, 128))),
    *(einsum("bnd,hde->bhne", b=1, n=n, d=d, h=h, e=e)
      for n, d, h, e in ((64, 256, 4, 64), (197, 192, 3, 64), (16, 512, 8, 64))),
    *(einsum("nctv,vw->nctw", n=1, c=c, t=t, v=v, w=v)
      for c, t, v in ((64, 150, 25), (128, 75, 25), (256, 38, 17))),
    *(einsum("bchw,bc->bhw", b=1, c=c, h=s, w=s) for c, s in ((64, 32), (256, 14))),
    *(einsum("bqc,bchw->bqhw", b=1, q=q, c=c, h=s, w=s)
      for q, c, s in ((100, 64, 32), (16, 256, 16))),
    *(einsum("bkhw,bchw->bkc", b=1, k=k, c=c, h=s, w=s)
      for k, c, s in ((19, 64, 32), (8, 128, 16))),
]

REDUCTIONS = ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceL2", "ReduceProd",
              "ReduceLogSumExp", "ReduceL1", "ReduceSumSquare")
LAST_AXIS = [((1, 197, 192), 1), ((64, 1000), 0), ((1, 8, 128, 128), 1), ((1, 1024, 64), 0),
             ((1, 16, 64, 512), 1), ((256, 32), 1), ((1, 49, 768), 0), ((1, 4, 256, 256), 1)]
PLANES = [((1, 64, 56, 56), 1), ((1, 256, 14, 14), 0), ((1, 32, 112, 112), 1), ((1, 512, 7, 7), 0),
          ((4, 128, 28, 28), 1), ((1, 960, 8, 8), 1), ((1, 24, 64, 64), 0)]
FIRST_AXES = [((32, 256), (0,), 0), ((8, 64, 64), (0,), 1), ((1, 64, 56, 56), (1,), 1),
              ((1, 256, 28, 28), (1,), 0), ((1, 2, 64, 28, 28), (1,), 0),
              ((1, 3, 128, 14, 14), (1,), 0), ((100, 1, 128), (0,), 0), ((1, 32, 196), (1, 2), 0),
              ((1, 128, 96), (1,), 0), ((1, 4, 32, 32, 32), (2, 3, 4), 1),
              ((1, 64, 40, 20), (2,), 0), ((1, 64, 20, 40), (3,), 1)]


def reductions():
    """Each operator with some of the sizes; maxima, means and sums, which most networks have, with
    all."""
    calls = []
    for i, operator in enumerate(REDUCTIONS):
        all_of_it = operator in ("ReduceMax", "ReduceMean", "ReduceSum")
        start, step = (0, 1) if all_of_it else (i % 3, 3)
        calls += [reduction(operator, sizes, (-1,), kept) for sizes, kept in LAST_AXIS[start::step]]
        calls += [reduction(operator, sizes, (2, 3), kept) for sizes, kept in PLANES[start::step]]
        calls += [reduction(operator, *one) for one in FIRST_AXES[start::step]]
    return calls


# (steps, batch, inputs, hidden, both directions)
LSTMS = [(50, 1, 32, 32, True), (100, 1, 64, 64, True), (25, 1, 512, 256, True),
         (200, 1, 80, 128, True), (64, 1, 300, 300, True), (16, 1, 512, 512, False),
         (100, 1, 40, 128, False), (200, 1, 128, 256, False), (10, 8, 64, 48, False),
         (30, 4, 256, 192, True), (24, 16, 8, 32, False), (128, 1, 257, 400, False)]
GRUS = [(50, 1, 64, 32, True), (100, 1, 128, 64, True), (40, 1, 256, 256, True),
        (200, 1, 80, 128, False), (20, 1, 300, 512, False), (125, 1, 257, 256, False),
        (12, 16, 16, 48, False), (64, 1, 512, 128, True), (10, 32, 4, 32, False),
        (150, 1, 96, 96, True)]
RNNS = [(28, 1, 28, 128, False), (100, 1, 64, 64, False), (50, 1, 100, 256, True),
        (200, 1, 32, 32, True), (16, 8, 128, 192, False), (64, 1, 256, 512, False),
        (35, 1, 200, 200, False)]

# One step of decoders, of networks that act, of streams: (batch, inputs, hidden)
STEPS = {
    "LSTM": [(1, 64, 64), (1, 128, 256), (1, 512, 512), (1, 80, 1024), (2, 300, 600), (4, 64, 128),
             (8, 40, 40), (8, 32, 64), (16, 96, 32), (16, 256, 256), (16, 512, 512), (24, 24, 40),
             (32, 48, 96), (32, 128, 128), (48, 80, 80), (64, 32, 32), (64, 8, 128), (64, 160, 192),
             (100, 30, 50), (128, 16, 64), (128, 128, 64), (256, 32, 24)],
    "GRU": [(1, 96, 96), (1, 256, 512), (1, 384, 384), (1, 24, 1024), (4, 100, 200), (8, 64, 64),
            (16, 16, 48), (16, 256, 128), (32, 64, 96), (48, 48, 48), (64, 24, 40), (64, 128, 128),
            (96, 16, 72), (128, 40, 32), (200, 10, 64)],
    "RNN": [(1, 128, 128), (1, 512, 512), (8, 32, 64), (16, 200, 200), (32, 64, 256), (64, 20, 48),
            (64, 128, 96), (128, 64, 64)],
}
# A few steps of several sequences: (steps, batch, inputs, hidden)
SHORT_SEQUENCES = [(2, 16, 64, 64), (4, 32, 40, 64), (5, 64, 24, 32), (8, 16, 128, 128),
                   (8, 64, 16, 48), (3, 8, 256, 256), (6, 128, 12, 24)]


def resize(channels, size, factor, mode, places):
    attributes = {"mode": mode, "coordinate_transformation_mode": places}
    if mode == "nearest":
        attributes["nearest_mode"] = "floor"
    if mode == "cubic":
        attributes["cubic_coeff_a"] = -0.75
    return (":Resize", [f32(1, channels, *plane(size)), "", f"f32c[4]=[1,1,{factor},{factor}]"],
            attributes, 1)


RESIZES = [
    *(resize(c, s, f, "linear", places) for c, s, f, places in
      ((256, 16, 2, "half_pixel"), (64, 32, 4, "half_pixel"), (21, 32, 4, "half_pixel"),
       (128, 28, 2, "pytorch_half_pixel"), (32, 64, 2, "half_pixel"), (19, 32, 8, "align_corners"),
       (512, 7, 2, "half_pixel"), (3, 64, 4, "half_pixel"), (64, 56, 2, "align_corners"),
       (256, 8, 4, "pytorch_half_pixel"), (150, 16, 4, "half_pixel"), (48, 14, 8, "half_pixel"))),
    *((":Resize", [f32(1, s, s, c), "", f"f32c[4]=[1,{f},{f},1]"],
       {"mode": mode, "coordinate_transformation_mode": "half_pixel",
        **({"nearest_mode": "floor"} if mode == "nearest" else {})}, 1)
      for c, s, f, mode in
      ((64, 32, 2, "linear"), (192, 14, 2, "linear"), (256, 7, 4, "linear"), (96, 16, 4, "linear"),
       (32, 24, 3, "linear"), (128, 28, 2, "nearest"), (48, 20, 4, "nearest"))),
    *(resize(c, s, f, "cubic", "half_pixel") for c, s, f in
      ((3, 48, 4), (3, 64, 2), (1, 128, 2), (64, 14, 2), (32, 32, 4), (3, 112, 3), (16, 56, 2),
       (128, 16, 2))),
    *(resize(c, s, f, "nearest", "asymmetric") for c, s, f in
      ((64, 32, 4), (256, 13, 2), (32, 56, 2), (3, 64, 4), (512, 7, 2), (16, 96, 2), (128, 8, 8))),
]

# Pools in the plain layout, whose channels fill no block or that follow no convolution.
POOLS = [
    *(pool("MaxPool", c, s, k, t) for c, s, k, t in
      ((24, 56, 3, 2), (20, 64, 2, 2), (100, 14, 5, 1), (200, 13, 9, 1), (116, 28, 3, 2),
       (256, 20, 13, 1), (6, 28, 2, 2), (3, 128, 3, 2), (58, 56, 3, 1), (44, 28, 3, 1))),
    *(pool("AveragePool", c, s, k, t, count_include_pad=0) for c, s, k, t in
      ((24, 56, 3, 2), (100, 14, 5, 1), (512, 7, 3, 1), (44, 28, 3, 2), (88, 14, 3, 1),
       (3, 128, 2, 2), (256, 28, 2, 2), (64, 56, 5, 2))),
    (":MaxPool", [f32(1, 64, 200)], {"kernel_shape": [3], "strides": [2]}, 1),
    (":MaxPool", [f32(1, 128, 1000)], {"kernel_shape": [4], "strides": [4]}, 1),
    (":AveragePool", [f32(1, 7, 336)], {"kernel_shape": [25], "strides": [1]}, 1),
    (":AveragePool", [f32(1, 256, 100)], {"kernel_shape": [2], "strides": [2]}, 1),
    *((":MaxPool", [f32(1, c, *s)], {"kernel_shape": list(k), "strides": list(k)}, 1)
      for c, s, k in ((64, (8, 28, 28), (1, 2, 2)), (32, (16, 16, 16), (2, 2, 2)),
                      (128, (4, 14, 14), (2, 2, 2)), (480, (4, 14, 14), (1, 2, 2)))),
    (":AveragePool", [f32(1, 256, 4, 7, 7)], {"kernel_shape": [2, 7, 7], "strides": [1, 1, 1]}, 1),
    *(unary("GlobalAveragePool", *sizes) for sizes in
      ((1, 2048, 7, 7), (1, 64, 112, 112), (1, 24, 56, 56), (1, 512, 4, 7, 7), (1, 1536, 100),
       (8, 256, 14, 14), (1, 58, 28, 28))),
    *(unary("GlobalMaxPool", *sizes) for sizes in
      ((1, 256, 28, 28), (1, 100, 14, 14), (1, 128, 400), (1, 1024, 1, 256))),
]


def scaled(operator, sizes, width, **attributes):
    """A normalisation with a factor and an addend for each of `width`."""
    return (f":{operator}", [f32(*sizes), f"f32c[{width}]", f"f32c[{width}]"], attributes, 1)


NORMALISATIONS = [
    *(scaled("InstanceNormalization", (1, c, s, s), c) for c, s in
      ((64, 128), (32, 256), (256, 64), (512, 16), (16, 96), (128, 56))),
    # GroupNormalization, as exporters write it: each group is a channel.
    *(scaled("InstanceNormalization", (1, g, n), g) for g, n in
      ((32, 6272), (32, 25088), (32, 1568), (8, 8192), (16, 3136), (32, 392))),
    *(scaled("InstanceNormalization", (1, c, n), c) for c, n in ((512, 799), (64, 4000))),
    *(scaled("LayerNormalization", (1, n, w), w, axis=-1) for n, w in
      ((1, 512), (49, 768), (3136, 96), (784, 192), (16, 1024), (128, 128), (1, 4096), (500, 144),
       (1024, 32), (77, 640), (4096, 64))),
    *((":BatchNormalization", [f32(1, c, *s)] + [f"f32c[{c}]"] * 4, {}, 1)
      for c, s in ((64, (56, 56)), (128, (500,)), (1024, (7, 7)), (32, (8, 28, 28)), (512, ()),
                   (256, (100,)))),
    *((":LpNormalization", [f32(*sizes)], {"axis": axis, "p": 2}, 1)
      for sizes, axis in (((1, 197, 64), -1), ((1, 64, 32, 32), 1), ((1, 512), -1),
                          ((16, 256), 1))),
    *((":Softmax", [f32(*sizes)], {"axis": axis}, 1) for sizes, axis in
      (((1, 21, 64, 64), 1), ((1, 19, 128, 128), 1), ((1, 2, 128, 28, 28), 1),
       ((1, 8, 1024, 32), 2), ((1, 4, 196, 64), 2), ((1, 150, 32, 32), 1), ((1, 17, 4096), 1),
       ((1, 64, 256), 1), ((1, 2, 64, 56, 56), 1), ((1, 16, 4, 8400), 1), ((1, 8, 64, 16), 3),
       ((1, 32000), 1), ((1, 4, 1024, 77), 3), ((512, 8, 49, 49), 3))),
    *((":LogSoftmax", [f32(*sizes)], {"axis": axis}, 1) for sizes, axis in
      (((100, 29), 1), ((1, 200, 128), 2), ((1, 21, 64, 64), 1), ((1, 10000), 1))),
]


def padded(sizes, before, after, mode):
    return (":Pad", [f32(*sizes), constants([*before, *after])], {"mode": mode}, 1)


def around(channels, size, width, mode):
    """A pad of a width around an image."""
    return padded((1, channels, size, size), (0, 0, width, width), (0, 0, width, width), mode)


def cut(sizes, axis, start, end, step=1):
    operands = [f32(*sizes), *(f"i64c[1]=[{n}]" for n in (start, end, axis, step))]
    return (":Slice", operands, {}, 1)


def joined(sizes, axis, *lengths):
    shapes = [sizes[:axis] + (n,) + sizes[axis + 1:] for n in lengths]
    return (":Concat", [f32(*shape) for shape in shapes], {"axis": axis}, 1)


def scattered(sizes, count, width):
    return (":ScatterND", [f32(*sizes), f"i64[{count},{width}]",
                           f32(count, *sizes[width:])], {}, 1)


MOVEMENTS = [
    *(around(c, s, width, mode) for c, s, width, mode in
      ((64, 64, 1, "reflect"), (3, 128, 3, "reflect"), (128, 32, 1, "reflect"),
       (256, 64, 1, "reflect"), (32, 128, 4, "reflect"), (64, 56, 1, "edge"), (3, 224, 2, "edge"),
       (128, 28, 3, "edge"), (64, 112, 1, "constant"), (24, 56, 1, "constant"),
       (256, 14, 2, "constant"), (3, 224, 3, "constant"))),
    *(padded((1, c, n), (0, 0, width), (0, 0, after), mode) for c, n, width, after, mode in
      ((80, 400, 2, 2, "reflect"), (512, 100, 3, 3, "reflect"), (1, 16000, 256, 256, "reflect"),
       (128, 500, 8, 0, "constant"), (256, 200, 30, 0, "constant"))),
    *(cut(*one) for one in
      (((1, 64, 112, 112), 1, 0, 32), ((1, 128, 56, 56), 2, 0, 28),
       ((1, 3, 224, 224), 3, 0, 224, 2), ((1, 12, 112, 112), 1, 3, 9), ((1, 197, 768), 1, 0, 1),
       ((1, 256, 28, 28), 3, 1, 27),
       ((1, 64, 128, 128), 2, 0, 128, 2), ((1, 1024, 512), 2, 0, 256), ((1, 56, 56, 96), 1, 3, 56),
       ((1, 8400, 85), 2, 0, 4), ((100, 1, 512), 0, 99, 100), ((1, 512, 1000), 2, 15, 985))),
    *(joined(*one) for one in
      (((1, 0, 112, 112), 1, 32, 32), ((1, 0, 56, 56), 1, 64, 64, 64, 64),
       ((1, 0, 128, 128), 1, 3, 3), ((1, 0, 768), 1, 1, 196), ((1, 64, 0, 56), 2, 28, 28),
       ((1, 0, 4), 1, 3000, 750, 200), ((1, 56, 56, 0), 3, 48, 48), ((1, 100, 0), 2, 256, 256),
       ((1, 0, 20, 20), 1, 256, 256, 256, 256), ((1, 12, 0, 64), 2, 128, 1),
       ((1, 0, 28, 28), 1, 58, 58), ((1, 0, 64, 64), 1, 21, 48))),
    *((":Split", [f32(*sizes)], {"axis": axis}, parts) for sizes, axis, parts in
      (((1, 64, 112, 112), 1, 2), ((1, 256, 28, 28), 1, 4), ((1, 197, 576), 2, 3),
       ((1, 116, 28, 28), 1, 2), ((1, 56, 56, 192), 3, 2), ((1, 512, 400), 1, 2),
       ((1, 1024, 512), 2, 2), ((1, 12, 128, 128), 1, 4), ((1, 3, 128, 64), 1, 3),
       ((1, 64, 8, 28, 28), 2, 8))),
    *((":Gather", [f"f32c[{rows},{width}]", f"i64[1,{n}]"], {"axis": 0}, 1)
      for rows, width, n in ((30522, 128, 64), (8000, 512, 32), (1000, 64, 256), (50, 32, 100),
                             (20000, 300, 40), (100000, 16, 26), (512, 768, 128))),
    *((":Gather", [f32(*sizes), constants(rows)], {"axis": axis}, 1) for sizes, rows, axis in
      (((1, 64, 56, 56), list(range(0, 64, 2)), 1), ((1, 197, 192), [0], 1),
       ((1, 256, 14, 14), list(range(128)), 1), ((3, 1, 12, 64, 64), [0], 0),
       ((1, 49, 49, 4), list(range(49)), 1))),
    *(scattered(*one) for one in (((1, 64, 64, 64), 64, 2), ((8400, 4), 100, 1),
                                  ((1, 100, 256), 100, 2), ((496, 432, 64), 4000, 2),
                                  ((1024, 32), 512, 1), ((256,), 64, 1))),
    *((":TopK", [f32(*sizes), constants([k])], {"axis": -1}, 2) for sizes, k in
      (((1, 8400), 300), ((1, 1000), 5), ((1, 80000), 1000), ((100, 80), 1), ((1, 32000), 50),
       ((64, 256), 16), ((1, 900), 300))),
    *((":ArgMax", [f32(*sizes)], {"axis": axis, "keepdims": 0}, 1) for sizes, axis in
      (((1, 32000), 1), ((100, 29), 1), ((1, 150, 64, 64), 1), ((1, 17, 4096), 2))),
    *((f":{operator}", [f32(1, c, s, s)], {"blocksize": block}, 1) for operator, c, s, block in
      (("DepthToSpace", 48, 64, 4), ("DepthToSpace", 12, 128, 2), ("DepthToSpace", 256, 32, 2),
       ("DepthToSpace", 27, 64, 3), ("SpaceToDepth", 3, 128, 2), ("SpaceToDepth", 64, 56, 2),
       ("SpaceToDepth", 16, 64, 4), ("SpaceToDepth", 1, 256, 8))),
    *((":Expand", [f32(*sizes), constants(to)], {}, 1) for sizes, to in
      (((1, 256, 1, 1), (1, 256, 28, 28)), ((1, 1, 64), (1, 100, 64)),
       ((1, 8, 1, 64), (1, 8, 4, 64)), ((1, 512, 1, 1), (1, 512, 32, 32)))),
    *((":Tile", [f32(*sizes), constants(by)], {}, 1) for sizes, by in
      (((1, 1, 64, 64), (1, 3, 1, 1)), ((1, 128, 1), (1, 1, 200)), ((1, 16, 8, 8), (1, 1, 4, 4)))),
    *((":Where", [f"bool[{mask}]", f32(*sizes), "f32c[]=0"], {}, 1) for mask, sizes in
      (("1,1,128,128", (1, 8, 128, 128)), ("1,200,1", (1, 200, 256)),
       ("1,64,56,56", (1, 64, 56, 56)))),
    *((":GatherElements", [f32(*sizes), f"i64[{index}]"], {"axis": 1}, 1) for sizes, index in
      (((1, 8400, 4), "1,100,4"), ((1, 1024, 64), "1,256,64"), ((16, 512), "16,64"))),
    *((":GridSample", [f32(1, c, s, s), f"f32[1,{o},{o},2]"], {"mode": "bilinear"}, 1)
      for c, s, o in ((64, 64, 64), (256, 16, 32), (32, 96, 48))),
]

SIZES = [(1, 64, 112, 112), (1, 128, 56, 56), (1, 256, 28, 28), (1, 512, 7, 7), (1, 20, 32, 32),
         (1, 197, 768), (1, 64, 1000), (1, 128)]


def parametric():
    """PRelu, with a slope for each channel or one for all."""
    return [(":PRelu", [f32(*sizes), f"f32c[{slopes}]"], {}, 1) for sizes, slopes in
            (((1, 64, 112, 112), "64,1,1"), ((1, 56, 64, 64), "56,1,1"), ((1, 12, 64, 64), "1"),
             ((1, 128, 28, 28), "128,1,1"), ((1, 256, 500), "1"), ((1, 512, 100), "512,1"))]


ACTIVATIONS = [
    *(unary(operator, *sizes) for i, operator in enumerate(
        ("Tanh", "Softplus", "Sigmoid", "Elu", "Exp", "Erf", "Sqrt", "Selu", "HardSigmoid",
         "LeakyRelu", "Abs", "Log", "Softsign", "Relu", "Neg", "Floor", "Sin", "Reciprocal"))
      for sizes in (SIZES if i < 3 else SIZES[i % 2::3])),
    *((":Clip", [f32(*sizes), "f32c[]=0", "f32c[]=6"], {}, 1) for sizes in SIZES[::2]),
    *((":Pow", [f32(*sizes), "f32c[]=" + power], {}, 1) for sizes, power in
      zip(SIZES, ("2", "3", "2", "0.5", "2", "3", "1.5", "2"))),
    *((f":{operator}", [f32(*sizes), f32(*other)], {}, 1) for operator in
      ("Max", "Min", "Greater", "Less") for sizes, other in
      (((1, 64, 56, 56), (1, 64, 56, 56)), ((1, 197, 768), (1,)), ((1, 100, 4), (1, 100, 4)))),
    *((f":{operator}", [f32(*sizes), f32(*other)], {}, 1)
      for operator in ("Mul", "Add", "Sub", "Div") for sizes, other in
      (((1, 256, 28, 28), (1, 256, 1, 1)), ((1, 64, 56, 56), (1, 1, 56, 56)),
       ((1, 128, 200), (1, 128, 1)), ((1, 2, 64, 28, 28), (1, 2, 64, 1, 1)),
       ((1, 32, 8, 28, 28), (1, 32, 8, 28, 28)))),
    *parametric(),
]

TABLE = [
    Layers("Attention by einsum", attention_equations()),
    Layers("Linear attention", linear_attention_equations()),
    Layers("Relative positions, axial attention", POSITIONS),
    Layers("Tensor products, graph convolutions, masks of queries", TENSORS),
    Layers("Reductions over the last axis, images and first axes", reductions()),
    Layers("Recurrent layers of sequences", [recurrent(operator, *row) for operator, rows in
                                             (("LSTM", LSTMS), ("GRU", GRUS), ("RNN", RNNS))
                                             for row in rows]),
    Layers("Steps that go on from a state",
           [step(operator, *row) for operator, rows in STEPS.items() for row in rows]
           + [step(operator, *sizes, steps) for operator in STEPS
              for steps, *sizes in SHORT_SEQUENCES]),
    Layers("Decoders, super-resolution: resizes", RESIZES),
    Layers("Pools of plain layout", POOLS),
    Layers("Normalisations", NORMALISATIONS),
    Layers("Movements of data", MOVEMENTS),
    Layers("Activations and broadcasts", ACTIVATIONS),
]
