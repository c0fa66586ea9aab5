"""The bits of a whole number as a set of up to 64 members."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def first_member(context, bits):
    """Return the smallest member of a set that is not empty: the number of zeros below the lowest one."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate
