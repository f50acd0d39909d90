# SPDX-License-Identifier: Apache-2.0
"""How tables of published layers are written: layers of one source, and the calls that they make.

A call is (operator, operands, attributes, results) as in lib/operator_models.py; a fifth member
lists operators that follow on the result, such as an activation that the runtime fuses.
"""
from dataclasses import dataclass

# What the runtime puts around a layer that stands alone, and not between layers of a network.
AROUND = ("ReorderInput", "ReorderOutput", "Transpose")


@dataclass(frozen=True)
class Layers:
    """Layers of one published source."""

    source: str
    calls: list
    only: tuple = ()  # operators whose kernels are taken; (): all but those of AROUND; None: all
    executions: int = 1  # in one run

    def takes(self, operator):
        if self.only is None:
            return True
        return operator in self.only if self.only else operator not in AROUND


def dims(*sizes):
    return ",".join(map(str, sizes))


def f32(*sizes):
    return f"f32[{dims(*sizes)}]"


def plane(size, rank=2):
    """A size for each direction; one number is a square."""
    return tuple(size) if isinstance(size, (tuple, list)) else (size,) * rank


def window_attributes(window, stride, dilation, pads=None):
    """Attributes of a window; without pads the result is as large as the operand over the
    stride."""
    rank = len(window)
    stride, dilation = plane(stride, rank), plane(dilation, rank)
    before = [d * (k - 1) // 2 for k, d in zip(window, dilation)]
    after = [d * (k - 1) - half for k, d, half in zip(window, dilation, before)]
    return {"kernel_shape": list(window), "strides": list(stride), "dilations": list(dilation),
            "pads": before + after if pads is None else list(plane(pads, 2 * rank))}


def convolution(channels, results, size, window, stride=1, group=1, dilation=1, then="Relu",
                pads=None, batch=1):
    """A convolution of two directions, or as many as `size` or `window` list."""
    rank = max(len(one) if isinstance(one, (tuple, list)) else 2 for one in (size, window))
    window = plane(window, rank)
    attributes = {**window_attributes(window, stride, dilation, pads), "group": group}
    operands = [f32(batch, channels, *plane(size, rank)),
                f"f32c[{dims(results, channels // group, *window)}]", f"f32c[{results}]"]
    return (":Conv", operands, attributes, 1, [(then, {})] if then else [])


def depthwise(channels, size, window, stride=1, dilation=1, then=None):
    return convolution(channels, channels, size, window, stride, channels, dilation, then)


def signal(channels, length, window, stride=1, dilation=1, then=None):
    """A depthwise convolution of a signal."""
    return depthwise(channels, (length,), (window,), stride, dilation, then)


def in_eight_bits(call):
    """The same convolution in 8 bits, with a scale for each channel of its weights."""
    (values, weights, bias), attributes = call[1], call[2]
    count, one = bias[len("f32c"):], ["f32c[]=0.02", "u8c[]=128"]
    operands = ["u8" + values[3:], *one, "i8" + weights[3:], f"f32c{count}", f"i8c{count}=0", *one,
                f"i32c{count}"]
    return (":QLinearConv", operands, attributes, 1)


def transposed(channels, results, size, window, stride, group=1, pads=0, output_padding=0):
    rank = len(size) if isinstance(size, (tuple, list)) else 2
    window = plane(window, rank)
    attributes = {**window_attributes(window, stride, 1, pads), "group": group,
                  "output_padding": list(plane(output_padding, rank))}
    operands = [f32(1, channels, *plane(size, rank)),
                f"f32c[{dims(channels, results // group, *window)}]", f"f32c[{results}]"]
    return (":ConvTranspose", operands, attributes, 1)


def pool(operator, channels, size, window, stride, pads=None, **more):
    """A pool of plain layout."""
    attributes = {**window_attributes(plane(window), stride, 1, pads), **more}
    if operator != "MaxPool":
        del attributes["dilations"]
    return (f":{operator}", [f32(1, channels, *plane(size))], attributes, 1)


def behind_convolution(call):
    """The same behind a convolution, so that it is in the blocked layout."""
    operator, (operand, *_), attributes = call[:3]
    channels = int(operand.split(",")[1])
    before = (":Conv", [operand, f"f32c[{channels},{channels},1,1]", f"f32c[{channels}]"])
    return (*before, {"kernel_shape": [1, 1]}, 1, [(operator.strip(":"), attributes)])


def unary(operator, *sizes, **attributes):
    return (f":{operator}", [f32(*sizes)], attributes, 1)


def reduction(operator, sizes, axes, keepdims):
    if operator == "ReduceSum":
        axes_operand = f"i64c[{len(axes)}]=[{dims(*axes)}]"
        return (":ReduceSum", [f32(*sizes), axes_operand], {"keepdims": keepdims}, 1)
    return (f":{operator}", [f32(*sizes)], {"axes": list(axes), "keepdims": keepdims}, 1)


def einsum(equation, **sizes):
    """Each letter of the equation with its size: einsum("ij,jk->ik", i=2, j=3, k=4)."""
    operands = equation.split("->")[0].split(",")
    return (":Einsum", [f32(*(sizes[letter] for letter in one)) for one in operands],
            {"equation": equation}, 1)


def recurrent(operator, steps, batch, inputs, hidden, both=False):
    """A recurrent layer in one or both directions."""
    gates, ways = {"LSTM": 4, "GRU": 3, "RNN": 1}[operator], 2 if both else 1
    operands = [f32(steps, batch, inputs), f"f32c[{ways},{gates * hidden},{inputs}]",
                f"f32c[{ways},{gates * hidden},{hidden}]", f"f32c[{ways},{2 * gates * hidden}]"]
    attributes = {"hidden_size": hidden, "direction": "bidirectional" if both else "forward"}
    if operator == "GRU":
        attributes["linear_before_reset"] = 1  # as PyTorch has it
    return (f":{operator}", operands, attributes, 1)


def step(operator, batch, inputs, hidden, steps=1):
    """A recurrent layer that goes on from states of before and hands its own on."""
    call, operands, attributes, _ = recurrent(operator, steps, batch, inputs, hidden)
    states = [f32(1, batch, hidden)] * (2 if operator == "LSTM" else 1)
    return (call, [*operands, "", *states], attributes, 1 + len(states))


def constants(values):
    return f"i64c[{len(values)}]=[{dims(*values)}]"
