# SPDX-License-Identifier: Apache-2.0
"""Seeded random inputs for any network of the zoo."""

import numpy

# Token and class numbers stay below this, which every vocabulary of the zoo holds.
INDICES = 32
# What a dimension that the file leaves open becomes.
OPEN_DIMENSIONS = {"batch": 2, "height": 24, "width": 40}


def random_inputs(session, seed):
    random = numpy.random.Generator(numpy.random.PCG64(seed))
    feed = {}
    for value in session.get_inputs():
        shape = [OPEN_DIMENSIONS.get(d, 1) if isinstance(d, str) else d for d in value.shape]
        if value.type == "tensor(int64)":
            feed[value.name] = random.integers(0, INDICES, shape, dtype=numpy.int64)
        else:
            feed[value.name] = random.standard_normal(shape, dtype=numpy.float32)
    return feed
