"""Process several columns of a row at once, in one register of the processor.

Each addition of a sum must wait for the previous one, and numba adds one number at a time. A value of type
`Lanes` holds up to eight neighbouring columns as a vector of LLVM, so that one addition serves them all. If
the registers of the processor are shorter, the compiler uses several of them. Each column is summed in the
same order as it would be alone, so the result has the same bits.

A function that takes lanes is compiled for every width. Rows have an even number of columns: `by_columns`
takes them eight at a time, and the remaining ones together.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

from mdfuzzy._kernels.jit import compiled

EIGHT = np.uint64(8)


class Lanes(types.Type):
    """Some columns of a row, float64 each."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(f"Lanes({count})")


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.VectorType(ir.DoubleType(), kind.count))


def _zeros(count):
    def generate(context, builder, signature, arguments):
        return ir.Constant(ir.VectorType(ir.DoubleType(), count), None)

    return Lanes(count)(), generate


@intrinsic
def _two(typing):
    """Return two zeros."""
    return _zeros(2)


@intrinsic
def _four(typing):
    """Return four zeros."""
    return _zeros(4)


@intrinsic
def _six(typing):
    """Return six zeros."""
    return _zeros(6)


@intrinsic
def _eight(typing):
    """Return eight zeros."""
    return _zeros(8)


@compiled(inline="always")
def by_columns(work, width, where, job):
    """Call ``work(zeros, c, where, job)`` for the columns from c on, as many as there are `zeros`.

    The function is inlined into the kernel that calls it, because a kernel that has a function as an argument
    cannot be cached on disk. `work` may be inlined as well, which saves time if it has many arrays as
    arguments. Pass `job` through `borrowed`; otherwise the references of its arrays are counted for every
    row.
    """
    c = np.uint64(0)
    while c + EIGHT <= width:
        work(_eight(), c, where, job)
        c += EIGHT
    left = width - c
    if left == 6:
        work(_six(), c, where, job)
    elif left == 4:
        work(_four(), c, where, job)
    elif left == 2:
        work(_two(), c, where, job)


def _place(context, builder, array, value, at, count):
    """Return a pointer to `count` elements of a flat array, and the type of those."""
    stored = ir.VectorType(context.get_data_type(array.dtype), count)
    data = context.make_array(array)(context, builder, value).data
    return builder.bitcast(builder.gep(data, [at]), stored.as_pointer()), stored


@intrinsic
def load(typing, like, array, at):
    """Return the columns from element `at` of a flat array on, as many as `like` has."""

    def generate(context, builder, signature, arguments):
        pointer, stored = _place(context, builder, array, *arguments[1:], like.count)
        values = builder.load(pointer, align=array.dtype.bitwidth // 8)
        double = ir.VectorType(ir.DoubleType(), like.count)
        return values if stored == double else builder.fpext(values, double)

    return like(like, array, types.uintp), generate


@intrinsic
def store(typing, values, array, at):
    """Write columns to a flat array, from element `at` on."""

    def generate(context, builder, signature, arguments):
        pointer, stored = _place(context, builder, array, *arguments[1:], values.count)
        value = arguments[0]
        value = value if stored == value.type else builder.fptrunc(value, stored)
        builder.store(value, pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(values, array, types.uintp), generate


@intrinsic
def add(typing, left, right):
    """Return `left` + `right`, column by column."""
    return left(left, right), lambda context, builder, signature, arguments: builder.fadd(*arguments)


@intrinsic
def subtract(typing, left, right):
    """Return `left` - `right`, column by column."""
    return left(left, right), lambda context, builder, signature, arguments: builder.fsub(*arguments)


@intrinsic
def multiply(typing, left, right):
    """Return `left` * `right`, column by column."""
    return left(left, right), lambda context, builder, signature, arguments: builder.fmul(*arguments)


@intrinsic
def times(typing, factor, values):
    """Return a number times columns."""

    def generate(context, builder, signature, arguments):
        empty = ir.Constant(arguments[1].type, ir.Undefined)
        first = builder.insert_element(empty, arguments[0], ir.Constant(ir.IntType(32), 0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), values.count), None)
        return builder.fmul(builder.shuffle_vector(first, empty, everywhere), arguments[1])

    return values(types.float64, values), generate
