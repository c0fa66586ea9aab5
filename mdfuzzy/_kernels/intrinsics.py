"""Operations that numba lacks: sets of bits, transposed loads, arrays without reference counting."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

#: The largest number of members of a set of bits.
SIZE = 64
#: The number of rows that are transposed together.
ROWS_AT_ONCE = 8


@intrinsic
def first_member(context, bits):
    """Return the smallest member of a non-empty set: the number of zero bits below the lowest one bit."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def member_count(context, bits):
    """Return the number of members of a set."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def members_within(context, values, limits):
    """Return which of 64 values are at most their limits, or at most one common limit; all float32.

    Vectors are compared, and the result is used as bits. This takes a few instructions; a loop over the bits
    would take as long as computing the distances.
    """

    def generate(context, builder, signature, arguments):
        vector = ir.VectorType(ir.FloatType(), SIZE)

        def load(kind, argument):
            if isinstance(kind, types.Array):
                data = context.make_array(kind)(context, builder, argument).data
                return builder.load(builder.bitcast(data, vector.as_pointer()), align=4)
            first = builder.insert_element(vector(ir.Undefined), argument, ir.IntType(32)(0))
            everywhere = ir.VectorType(ir.IntType(32), SIZE)(None)
            return builder.shuffle_vector(first, vector(ir.Undefined), everywhere)

        within = builder.fcmp_ordered("<=", *map(load, signature.args, arguments))
        return builder.bitcast(within, ir.IntType(SIZE))

    return types.uint64(values, limits), generate


@intrinsic
def transpose_rows(context, matrix, rows, column, out, at, stride):
    """Set out[at + j * stride + r] = matrix[rows[r], column + j] for r, j < 8; float32, `rows` a tuple.

    This takes three rounds of exchanges between vectors. A loop would store or load one number at a time.
    """

    def generate(context, builder, signature, arguments):
        width = ROWS_AT_ONCE
        vector = ir.VectorType(ir.FloatType(), width)
        source = context.make_array(signature.args[0])(context, builder, arguments[0])
        target = context.make_array(signature.args[3])(context, builder, arguments[3]).data
        columns = builder.extract_value(source.shape, 1)

        def at_element(data, element):
            return builder.bitcast(builder.gep(data, [element]), vector.as_pointer())

        def exchanged(a, b, mask):
            return builder.shuffle_vector(a, b, ir.VectorType(ir.IntType(32), width)(mask))

        lines = []
        for r in range(width):
            row = builder.extract_value(arguments[1], r)
            element = builder.add(builder.mul(row, columns), arguments[2])
            lines.append(builder.load(at_element(source.data, element), align=4))
        for half in (1, 2, 4):  # swap the off-diagonal parts of blocks of twice this size
            low = [i if not i & half else width + i - half for i in range(width)]
            high = [i + half if not i & half else width + i for i in range(width)]
            for r in range(width):
                if not r & half:
                    a, b = lines[r], lines[r + half]
                    lines[r], lines[r + half] = exchanged(a, b, low), exchanged(a, b, high)
        for j, line in enumerate(lines):
            element = builder.add(arguments[4], builder.mul(arguments[5], ir.IntType(64)(j)))
            builder.store(line, at_element(target, element), align=4)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(matrix, types.UniTuple(whole, ROWS_AT_ONCE), whole, out, whole, whole), generate


@intrinsic
def borrowed(context, arrays):
    """Return a tuple of arrays, tuples of arrays and numbers unchanged, but without reference counting.

    Taking an array out of a tuple, or slicing it, counts a reference with an atomic instruction. In short
    loops this takes a tenth of the time. Use this function only for arguments of a kernel, which its caller
    keeps alive, and for views of them.
    """

    def without_owner(context, builder, kind, value):
        if isinstance(kind, types.Array):
            array = context.make_array(kind)(context, builder, value)
            array.meminfo = ir.Constant(array.meminfo.type, None)
            return array._getvalue()
        if isinstance(kind, types.BaseTuple):
            parts = [
                without_owner(context, builder, part, builder.extract_value(value, i))
                for i, part in enumerate(kind)
            ]
            return context.make_tuple(builder, kind, parts)
        return value

    def generate(context, builder, signature, arguments):
        return without_owner(context, builder, signature.args[0], arguments[0])

    return arrays(arrays), generate


@intrinsic
def correlate_eight(context, blocks, start, rows, row, first, last, out, at):
    """Set out[at + 64 j + l], j < 9, to the correlation of eight frames with a frame, atoms first to last.

    The eight frames are stored side by side: blocks[start + 8 (3 i + r) + l] is coordinate r of atom i of
    frame l. The other frame is rows[row]; j = 3 r + s stands for its coordinate s. The nine vector sums stay
    in registers. In a loop over an array of sums they would be loaded and stored for every atom.
    """
    width, stride = 8, 64

    def generate(context, builder, signature, arguments):
        vector, whole = ir.VectorType(ir.FloatType(), width), ir.IntType(64)
        source = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        matrix = context.make_array(signature.args[2])(context, builder, arguments[2])
        target = context.make_array(signature.args[6])(context, builder, arguments[6]).data
        columns = builder.extract_value(matrix.shape, 1)
        source = builder.gep(source, [arguments[1]])
        frame = builder.gep(matrix.data, [builder.mul(arguments[3], columns)])
        before = builder.block
        loop, after = builder.append_basic_block("atoms"), builder.append_basic_block("done")
        builder.branch(loop)
        builder.position_at_end(loop)
        atom = builder.phi(whole)
        sums = [builder.phi(vector) for _ in range(9)]
        atom.add_incoming(arguments[4], before)
        for total in sums:
            total.add_incoming(vector(None), before)
        base = builder.mul(atom, whole(3))
        eight, one = [], []
        for r in range(3):
            element = builder.add(base, whole(r))
            pointer = builder.gep(source, [builder.mul(element, whole(width))])
            eight.append(builder.load(builder.bitcast(pointer, vector.as_pointer()), align=4))
            number = builder.load(builder.gep(frame, [element]))
            first_place = builder.insert_element(vector(ir.Undefined), number, ir.IntType(32)(0))
            everywhere = ir.VectorType(ir.IntType(32), width)(None)
            one.append(builder.shuffle_vector(first_place, vector(ir.Undefined), everywhere))
        contracted = ("contract",)  # to one instruction where the processor has it
        new = [
            builder.fadd(sums[3 * r + s], builder.fmul(eight[r], one[s], flags=contracted), flags=contracted)
            for r in range(3)
            for s in range(3)
        ]
        following = builder.add(atom, whole(1))
        atom.add_incoming(following, loop)
        for total, value in zip(sums, new, strict=True):
            total.add_incoming(value, loop)
        builder.cbranch(builder.icmp_signed("<", following, arguments[5]), loop, after)
        builder.position_at_end(after)
        for j, value in enumerate(new):
            element = builder.add(arguments[7], whole(stride * j))
            pointer = builder.bitcast(builder.gep(target, [element]), vector.as_pointer())
            builder.store(value, pointer, align=4)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(blocks, whole, rows, whole, whole, whole, out, whole), generate


@intrinsic
def lanes_near(context, queries, lane, targets, rows, limit):
    """Return which of 64 targets are within the squared `limit` of query `lane`; all float32, lane blocks.

    The number of coordinates, `rows`, is a multiple of 4; the function returns after any four of them if no
    target is near. The 64 sums stay in registers, in contrast to a loop over an array of sums.
    """

    def generate(context, builder, signature, arguments):
        vector, whole = ir.VectorType(ir.FloatType(), SIZE), ir.IntType(64)
        everywhere = ir.VectorType(ir.IntType(32), SIZE)(None)

        def spread(number):
            first = builder.insert_element(vector(ir.Undefined), number, ir.IntType(32)(0))
            return builder.shuffle_vector(first, vector(ir.Undefined), everywhere)

        query = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        target = context.make_array(signature.args[2])(context, builder, arguments[2]).data
        limits = spread(arguments[4])
        before = builder.block
        loop, after = builder.append_basic_block("rows"), builder.append_basic_block("done")
        builder.branch(loop)
        builder.position_at_end(loop)
        row, total = builder.phi(whole), builder.phi(vector)
        row.add_incoming(whole(0), before)
        total.add_incoming(vector(None), before)
        contracted, added = ("contract",), total
        for r in range(4):
            start = builder.mul(builder.add(row, whole(r)), whole(SIZE))
            number = builder.load(builder.gep(query, [builder.add(start, arguments[1])]))
            pointer = builder.bitcast(builder.gep(target, [start]), vector.as_pointer())
            apart = builder.fsub(spread(number), builder.load(pointer, align=4))
            added = builder.fadd(added, builder.fmul(apart, apart, flags=contracted), flags=contracted)
        bits = builder.bitcast(builder.fcmp_ordered("<=", added, limits), whole)
        following = builder.add(row, whole(4))
        row.add_incoming(following, loop)
        total.add_incoming(added, loop)
        more = builder.and_(
            builder.icmp_signed("<", following, arguments[3]), builder.icmp_signed("!=", bits, whole(0))
        )
        builder.cbranch(more, loop, after)
        builder.position_at_end(after)
        return bits

    whole, single = types.int64, types.float32
    return types.uint64(queries, whole, targets, whole, single), generate
