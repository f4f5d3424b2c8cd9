"""The programs of `benches/src/programs.rs` as MLIR text, with the same ops and data flow."""

FLOATS = "tensor<64xf32>"
INTS = "tensor<64xi32>"


def step(i, a, b):
    if i % 4 == 3:
        return f"math.exp {a}"
    return f"{['arith.addf', 'arith.mulf', 'arith.subf'][i % 4]} {a}, {b}"


def function(parameters, lines, result, type):
    head = ", ".join(f"{name}: {type}" for name in parameters)
    return "\n".join([f"func.func @main({head}) -> {type} {{", *lines, f"  return {result} : {type}", "}"])


def chain(ops):
    """A chain of elementwise ops on one type."""
    lines, a, b = [], "%x", "%y"
    for i in range(ops):
        lines.append(f"  %{i} = {step(i, a, b)} : {FLOATS}")
        a, b = f"%{i}", a
    return function(["%x", "%y"], lines, a, FLOATS)


def blocks(ops):
    """Transformer blocks. Shapes and zero points, which are values in tosa, are created once."""
    t, r, m = "tensor<1x64x64xf32>", "tensor<1x64x1xf32>", "tensor<64x64xf32>"
    lines = [
        '  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>',
        "  %flat = tosa.const_shape {values = dense<[64, 64]> : tensor<2xindex>} : () -> !tosa.shape<2>",
        "  %cube = tosa.const_shape {values = dense<[1, 64, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>",
        "  %times = tosa.const_shape {values = dense<[1, 1, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>",
    ]
    x = "%x"
    for n in range(0, ops - ops % 10, 10):
        v = [f"%{n + k}" for k in range(10)]
        lines += [
            f"  {v[0]} = tosa.transpose {x} {{perms = array<i32: 0, 2, 1>}} : ({t}) -> {t}",
            f"  {v[1]} = tosa.matmul {x}, %w, %zp, %zp : ({t}, {t}, tensor<1xf32>, tensor<1xf32>) -> {t}",
            f"  {v[2]} = tosa.reduce_max {v[1]} {{axis = 2 : i32}} : ({t}) -> {r}",
            f"  {v[3]} = tosa.tile {v[2]}, %times : ({r}, !tosa.shape<3>) -> {t}",
            f"  {v[4]} = tosa.sub {v[1]}, {v[3]} : ({t}, {t}) -> {t}",
            f"  {v[5]} = tosa.exp {v[4]} : ({t}) -> {t}",
            f"  {v[6]} = tosa.reduce_sum {v[5]} {{axis = 2 : i32}} : ({t}) -> {r}",
            f"  {v[7]} = tosa.reshape {v[5]}, %flat : ({t}, !tosa.shape<2>) -> {m}",
            f"  {v[8]} = tosa.reshape {v[7]}, %cube : ({m}, !tosa.shape<3>) -> {t}",
            f"  {v[9]} = tosa.add {v[8]}, {v[0]} : ({t}, {t}) -> {t}",
        ]
        x = v[9]
    return function(["%x", "%w"], lines, x, t)


def identities(ops):
    """A chain in which every second op adds zero or multiplies by one."""
    lines = [f"  %zero = arith.constant dense<0> : {INTS}", f"  %one = arith.constant dense<1> : {INTS}"]
    steps = [("arith.addi", "%y"), ("arith.addi", "%zero"), ("arith.muli", "%y"), ("arith.muli", "%one")]
    a = "%x"
    for i in range(ops):
        op, b = steps[i % 4]
        lines.append(f"  %{i} = {op} {a}, {b} : {INTS}")
        a = f"%{i}"
    return function(["%x", "%y"], lines, a, INTS)


def shapes(ops):
    """Pairs of transposes and of reshapes that undo each other, casts to the same type, and a sum."""
    t, turned, flat = "tensor<1x64x32xf32>", "tensor<1x32x64xf32>", "tensor<64x32xf32>"
    lines = [
        "  %flat = tosa.const_shape {values = dense<[64, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>",
        "  %cube = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>",
    ]
    x = "%x"
    for n in range(0, ops - ops % 6, 6):
        v = [f"%{n + k}" for k in range(6)]
        lines += [
            f"  {v[0]} = tosa.transpose {x} {{perms = array<i32: 0, 2, 1>}} : ({t}) -> {turned}",
            f"  {v[1]} = tosa.transpose {v[0]} {{perms = array<i32: 0, 2, 1>}} : ({turned}) -> {t}",
            f"  {v[2]} = tosa.reshape {v[1]}, %flat : ({t}, !tosa.shape<2>) -> {flat}",
            f"  {v[3]} = tosa.reshape {v[2]}, %cube : ({flat}, !tosa.shape<3>) -> {t}",
            f"  {v[4]} = tosa.cast {v[3]} : ({t}) -> {t}",
            f"  {v[5]} = tosa.add {v[4]}, %x : ({t}, {t}) -> {t}",
        ]
        x = v[5]
    return function(["%x"], lines, x, t)


def duplicates(ops):
    """Ten equal parallel chains with a sum at the end."""
    lines, a, b = [], ["%x"] * 10, ["%y"] * 10
    for layer in range(ops // 10):
        for copy in range(10):
            name = f"%{layer * 10 + copy}"
            lines.append(f"  {name} = {step(layer, a[copy], b[copy])} : {FLOATS}")
            a[copy], b[copy] = name, a[copy]
    total = a[0]
    for copy in range(1, 10):
        lines.append(f"  %s{copy} = arith.addf {total}, {a[copy]} : {FLOATS}")
        total = f"%s{copy}"
    return function(["%x", "%y"], lines, total, FLOATS)


def dead(ops):
    """One of a hundred ops is used."""
    lines, a, b, live = [], "%x", "%y", "%x"
    for i in range(ops):
        lines.append(f"  %{i} = {step(i % 100, a, b)} : {FLOATS}")
        a, b = f"%{i}", live
        if i % 100 == 0:
            live = f"%{i}"
        elif i % 100 == 99:
            a = live
    return function(["%x", "%y"], lines, live, FLOATS)


def constants(ops):
    """A balanced tree of sums over different constants."""
    leaves = -(-ops // 2)
    lines = [f"  %{i} = arith.constant dense<{i}> : {INTS}" for i in range(leaves)]
    for i in range(leaves, 2 * leaves - 1):
        first = 2 * (i - leaves)
        lines.append(f"  %{i} = arith.addi %{first}, %{first + 1} : {INTS}")
    return function([], lines, f"%{2 * leaves - 2}", INTS)


def sums(ops):
    """x + 1 + 2 + … on scalars, where the peer reassociates."""
    lines, a = [], "%x"
    for i in range(ops // 2):
        lines.append(f"  %c{i} = arith.constant {i + 1} : i32")
        lines.append(f"  %{i} = arith.addi {a}, %c{i} : i32")
        a = f"%{i}"
    return function(["%x"], lines, a, "i32")


KINDS = [
    ("blocks", blocks),
    ("nothing", chain),
    ("identities", identities),
    ("shapes", shapes),
    ("duplicates", duplicates),
    ("dead", dead),
    ("constants", constants),
    ("sums", sums),
]
