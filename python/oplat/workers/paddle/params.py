# SPDX-License-Identifier: Apache-2.0
"""NAME.pdiparams: the tensors of a program's parameters one after another, in the order of their
names."""
import struct

# VarType numbers of framework.proto and numpy's names.
DTYPES = {"float32": 5, "float64": 6, "int32": 2, "int64": 3, "int8": 21, "uint8": 20, "bool": 0, "float16": 4}
DTYPE_FIELD, DIMS_FIELD = 0x08, 0x10  # of the tensor's description, a protobuf message


def varint(number):
    out = bytearray()
    while True:
        out.append(number & 0x7F | (0x80 if number > 0x7F else 0))
        number >>= 7
        if not number:
            return bytes(out)


def header(array):
    """What stands before the elements: versions, no levels of detail, and the description of the
    tensor."""
    description = bytes([DTYPE_FIELD]) + varint(DTYPES[array.dtype.name])
    for dim in array.shape:
        description += bytes([DIMS_FIELD]) + varint(dim)
    return struct.pack("<IQIi", 0, 0, 0, len(description)) + description


def write(path, arrays):
    """`arrays`: name -> numpy array."""
    with open(path, "wb") as file:
        for name in sorted(arrays):
            file.write(header(arrays[name]))
            file.write(memoryview(arrays[name]).cast("B") if arrays[name].size else b"")
