# SPDX-License-Identifier: Apache-2.0
"""Data for the inputs of a model: NAME -> FILE.npy, zeros, ones or uniform:LO:HI; random where
nothing is said."""
import time
from dataclasses import dataclass

from .errors import Failed, bad_input, usage

# Types of elements as keys and as numpy name them; None: numpy has none.
NUMPY_OF = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": None, "i64": "int64", "i32": "int32",
            "i16": "int16", "i8": "int8", "u8": "uint8", "bool": "bool"}

MOST_BYTES = 1 << 34
SEEDS_OF_A_SET = 1_000_003
# Of further_sets().
MAX_SETS = 32
MAX_BYTES_OF_SETS = 4 << 20
MAX_BYTES_OF_TWO = 256 << 20
MAX_SECONDS_OF_SETS = 0.1


@dataclass
class Type:
    """A tensor's type. Dimensions of -1 are open."""

    dtype: str
    dims: list


def model_inputs(numpy, types, request, limits=None):
    """name -> array for every input of a model. `types`: name -> Type, with -1 where the model
    leaves a dimension open. `limits`: name -> how many places an input chooses from, whose data are
    indices."""
    for name in (*request["inputs"], *request["shapes"]):
        if name not in types:
            raise usage(f"the model has no input '{name}'; it has {', '.join(types)}")
    limits = limits or {}
    return {name: one_input(numpy, name, number, kind, request, limits.get(name)) for number, (name, kind) in enumerate(types.items())}


def one_input(numpy, name, number, kind, request, limit=None):
    dims = list(request["shapes"].get(name) or kind.dims)
    if dims and dims[0] == -1 and request["batch"]:
        dims[0] = request["batch"]
    if -1 in dims:
        raise usage(f"input {name} has the open shape {dims}: give --shape {name}=... or --batch")
    kind = Type(kind.dtype, dims)
    if numpy.prod(dims, dtype=float) * 8 > MOST_BYTES:
        raise usage(f"input {name}: {dims} is too large")
    said = request["inputs"].get(name)
    if said is None:
        return draw_input(numpy, kind, request.get("seed", 1) + number, limit)
    return given(numpy, name, said, kind)


def given(numpy, name, said, kind):
    dtype = NUMPY_OF[kind.dtype]
    if said in ("zeros", "ones"):
        return getattr(numpy, said)(kind.dims, dtype)
    if said.startswith("uniform:"):
        try:
            low, high = (float(each) for each in said.split(":")[1:])
        except ValueError as error:
            raise usage(f"--input {name}={said}: expected uniform:LO:HI") from error
        return numpy.random.default_rng(1).uniform(low, high, kind.dims).astype(dtype)
    try:
        array = numpy.load(said, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise bad_input(f"{said}: {error}") from error
    if list(array.shape) != kind.dims or array.dtype != dtype:
        raise bad_input(f"{said}: the file holds {array.dtype} {list(array.shape)}, but {name} is {dtype} {kind.dims}")
    return numpy.ascontiguousarray(array)


def draw_input(numpy, kind, seed, limit=None, positive=False):
    """Floats between -1 and 1 but not near 0, or from 0.75 to 1.25 if `positive`; integers are 1,
    or below `limit` if they are indices."""
    dtype = NUMPY_OF[kind.dtype]
    if dtype is None:
        raise Failed(f"cannot create inputs of type {kind.dtype}")
    generator = numpy.random.default_rng(seed)
    if dtype.startswith("float") and positive:
        return generator.uniform(0.75, 1.25, kind.dims).astype(dtype)
    if dtype.startswith("float"):
        return (generator.uniform(0.01, 1.0, kind.dims) * generator.choice([-1.0, 1.0], kind.dims)).astype(dtype)
    if limit is not None:
        return generator.integers(0, limit, kind.dims).astype(dtype)
    return numpy.ones(kind.dims, dtype)


def request_of_set(request, number):
    """The request with the seed of set `number`; set 0 has the request's own."""
    return request | {"seed": request.get("seed", 1) + SEEDS_OF_A_SET * number}


def further_sets(numpy, first, draw):
    """Further data for the inputs of what is quicker on the data of the run before (docs/adr/0050),
    none of which is `first`. `draw(number)` makes set `number`. All sets hold 4 MiB together or
    less, one further set up to 128 MiB. The caller runs each: that and drawing them ends after 0.1
    s. None where the user gave the data."""
    size = sum(array.nbytes for array in first.values())
    if not 0 < 2 * size <= MAX_BYTES_OF_TWO:
        return
    until = time.monotonic() + MAX_SECONDS_OF_SETS
    for number in range(1, min(max(MAX_BYTES_OF_SETS // size, 2), MAX_SETS)):
        if time.monotonic() > until:
            return
        made = draw(number)
        if all(numpy.array_equal(made[name], array) for name, array in first.items()):
            return
        yield made
