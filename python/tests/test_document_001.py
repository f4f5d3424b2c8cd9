"""Document 001, the IR: every code block, with the calls as the document writes them."""

from __future__ import annotations

import pytest

from sapwood import DataType, ir
from sapwood.errors import ArgumentError, InvalidValueError, SapwoodError

SPAN = ir.Span.unknown()
INT64 = ir.ScalarType(DataType.INT64)


def var(name: str) -> ir.Var:
    return ir.Var(name, ir.ScalarType(DataType.INT64), ir.Span.unknown())


def const(value: int) -> ir.ConstInt:
    return ir.ConstInt(value, DataType.INT64, ir.Span.unknown())


def test_source_location_tracking(capsys: pytest.CaptureFixture[str]) -> None:
    span = ir.Span("example.py", 10, 5, 10, 20)
    print(span.filename)
    print(span.begin_line)
    assert capsys.readouterr().out == "example.py\n10\n"
    unknown_span = ir.Span.unknown()
    assert unknown_span.is_unknown()


def test_var() -> None:
    x = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    assert x.name == "x"
    assert x.type_name() == "Var"
    assert isinstance(x.type, ir.ScalarType) and x.type.dtype is DataType.INT64
    assert x.span.is_unknown()
    assert isinstance(x, ir.Expr) and isinstance(x, ir.IRNode)


def test_iter_arg() -> None:
    init_value = ir.ConstInt(0, DataType.INT64, ir.Span.unknown())
    sum_iter = ir.IterArg(
        "sum",
        ir.ScalarType(DataType.INT64),
        init_value,
        ir.Span.unknown(),
    )
    assert isinstance(sum_iter, ir.Var)
    assert sum_iter.initValue == init_value and sum_iter.init_value == init_value
    assert not ir.structural_equal(sum_iter, var("sum"), enable_auto_mapping=True)


def test_const_int() -> None:
    c = ir.ConstInt(42, DataType.INT64, ir.Span.unknown())
    assert c.value == 42 and c.dtype is DataType.INT64
    assert ir.ConstInt(-(2**100), DataType.INT64).value == -(2**100)
    with pytest.raises(ArgumentError, match="expected an int, found bool"):
        ir.ConstInt(True, DataType.INT64)
    with pytest.raises(InvalidValueError, match="128 bits"):
        ir.ConstInt(2**200, DataType.INT64)
    with pytest.raises(InvalidValueError, match="cannot have the data type FP32"):
        ir.ConstInt(1, DataType.FP32)


def test_binary_expressions() -> None:
    x = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    five = ir.ConstInt(5, DataType.INT64, ir.Span.unknown())
    two = ir.ConstInt(2, DataType.INT64, ir.Span.unknown())
    add_expr = ir.Add(x, five, DataType.INT64, ir.Span.unknown())
    mul_expr = ir.Mul(add_expr, two, DataType.INT64, ir.Span.unknown())
    assert str(mul_expr) == "(x + 5) * 2"
    assert mul_expr.left == add_expr and mul_expr.right == two
    assert ir.structural_equal(mul_expr, (x + 5) * 2)


BINARY = (
    "Add Sub Mul FloorDiv FloorMod FloatDiv Min Max Pow Eq Ne Lt Le Gt Ge And Or Xor BitAnd BitOr "
    "BitXor BitShiftLeft BitShiftRight"
).split()


@pytest.mark.parametrize("name", BINARY)
def test_every_binary_operation(name: str) -> None:
    x, y = var("x"), var("y")
    node = getattr(ir, name)(x, y, DataType.INT64, SPAN)
    assert isinstance(node, ir.BinaryExpr) and node.type_name() == name
    assert node.left == x and node.right == y
    assert ir.structural_equal(ir.parse_expr(str(node), [x, y]), node)


@pytest.mark.parametrize("name", ["Abs", "Neg", "Not", "BitNot", "Cast"])
def test_every_unary_operation(name: str) -> None:
    x = var("x")
    node = getattr(ir, name)(x, DataType.INT64, SPAN)
    assert isinstance(node, ir.UnaryExpr) and node.operand == x
    assert ir.structural_equal(ir.parse_expr(str(node), [x]), node)


def test_neg() -> None:
    x = var("x")
    neg_x = ir.Neg(x, DataType.INT64, ir.Span.unknown())
    assert str(neg_x) == "-x"


def test_op_and_global_var() -> None:
    x, y = var("x"), var("y")
    op = ir.Op("my_function")
    call = ir.Call(op, [x, y], ir.Span.unknown())
    assert call.op.name == "my_function" and call.args == (x, y)
    assert isinstance(call.type, ir.UnknownType)
    gvar = ir.GlobalVar("my_func")
    other = ir.Call(gvar, [x, y], ir.Span.unknown())
    assert isinstance(other.callee, ir.GlobalVar)
    assert not ir.structural_equal(ir.Op("f"), ir.GlobalVar("f"))
    typed = ir.Call(op, [x], INT64, SPAN)
    assert typed.type == INT64 and ir.Call(op, [x], SPAN, type=INT64).type == INT64


def add_function() -> ir.Function:
    params = [
        ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown()),
        ir.Var("y", ir.ScalarType(DataType.INT64), ir.Span.unknown()),
    ]
    return_types = [ir.ScalarType(DataType.INT64)]
    result = ir.Var("result", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    add_expr = ir.Add(params[0], params[1], DataType.INT64, ir.Span.unknown())
    body = ir.AssignStmt(result, add_expr, ir.Span.unknown())
    return ir.Function("add", params, return_types, body, ir.Span.unknown())


def test_function() -> None:
    func = add_function()
    assert func.name == "add" and len(func.params) == 2
    assert ir.problems(func) == []
    program = ir.Program([func], "p", SPAN)
    assert ir.interpret(program, "add", 3, 4) == (7,)


def multiply_function() -> ir.Function:
    x, y, result = var("x"), var("y"), var("result")
    body = ir.AssignStmt(result, ir.Mul(x, y, DataType.INT64, SPAN), SPAN)
    return ir.Function("multiply", [x, y], [INT64], body, SPAN)


def test_program() -> None:
    func1, func2 = add_function(), multiply_function()
    program = ir.Program([func2, func1], "my_program", ir.Span.unknown())
    assert [gvar.name for gvar in program.functions] == ["add", "multiply"]
    unnamed = ir.Program([func1, func2], "", ir.Span.unknown())
    assert unnamed.name == "" and ir.structural_equal(program, unnamed)

    add_func = program.get_function("add")
    add_gvar = program.get_global_var("add")
    assert add_func == func1
    assert add_gvar is not None and program.functions[add_gvar] == func1
    assert program.functions["multiply"] == func2
    assert program.get_function("nothing") is None and program.get_global_var("nothing") is None
    assert dict(program.functions) == {add_gvar: func1, program.get_global_var("multiply"): func2}
    with pytest.raises(SapwoodError, match="two functions called `add`"):
        ir.Program([func1, add_function()], "", SPAN)


def test_calls_within_a_program() -> None:
    x = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    y = ir.Var("y", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    helper_body = ir.AssignStmt(y, x, ir.Span.unknown())
    helper = ir.Function(
        "helper", [x], [ir.ScalarType(DataType.INT64)], helper_body, ir.Span.unknown()
    )
    program = ir.Program([helper], "my_program", ir.Span.unknown())
    helper_gvar = program.get_global_var("helper")
    assert helper_gvar is not None
    call = ir.Call(helper_gvar, [x], ir.Span.unknown())
    main_body = ir.AssignStmt(y, call, ir.Span.unknown())
    main = ir.Function("main", [x], [ir.ScalarType(DataType.INT64)], main_body, ir.Span.unknown())
    program = ir.Program([helper, main], "my_program", ir.Span.unknown())
    assert ir.interpret(program, "main", 5) == (5,)
    assert ir.structural_equal(ir.parse(str(program)), program)


def test_assign() -> None:
    x, y = var("x"), var("y")
    assign = ir.AssignStmt(x, y, ir.Span.unknown())
    assert assign.var == x and assign.value == y and str(assign).strip() == "x = y"


def test_if() -> None:
    x, y, zero = var("x"), var("y"), const(0)
    then_stmt = ir.AssignStmt(y, const(1), SPAN)
    else_stmt = ir.AssignStmt(y, const(-1), SPAN)
    condition = ir.Gt(x, zero, DataType.INT64, ir.Span.unknown())
    if_stmt = ir.IfStmt(
        condition,
        [then_stmt],
        [else_stmt],
        [y],
        ir.Span.unknown(),
    )
    assert if_stmt.then_body == then_stmt and if_stmt.else_body == else_stmt
    assert if_stmt.return_vars == (y,)
    assert ir.structural_equal(if_stmt, ir.IfStmt(condition, then_stmt, else_stmt, [y], SPAN))
    without = ir.IfStmt(condition, then_stmt, None, [], SPAN)
    assert without.else_body is None
    assert not ir.structural_equal(without, ir.IfStmt(condition, then_stmt, [], [], SPAN))
    assert isinstance(ir.IfStmt(condition, [then_stmt, then_stmt]).then_body, ir.SeqStmts)


def test_for_without_iter_args() -> None:
    x = var("x")
    i = ir.Var("i", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    start = ir.ConstInt(0, DataType.INT64, ir.Span.unknown())
    stop = ir.ConstInt(10, DataType.INT64, ir.Span.unknown())
    step = ir.ConstInt(1, DataType.INT64, ir.Span.unknown())
    body = ir.AssignStmt(x, ir.Add(x, i, DataType.INT64, SPAN), ir.Span.unknown())
    for_stmt = ir.ForStmt(
        i,
        start, stop, step,
        [],
        body,
        [],
        ir.Span.unknown(),
    )  # fmt: skip
    assert for_stmt.loop_var == i and for_stmt.body == body
    assert for_stmt.iter_args == () and for_stmt.return_vars == ()


def loop_with_iter_args() -> ir.ForStmt:
    i = ir.Var("i", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    start = ir.ConstInt(0, DataType.INT64, ir.Span.unknown())
    stop = ir.ConstInt(10, DataType.INT64, ir.Span.unknown())
    step = ir.ConstInt(1, DataType.INT64, ir.Span.unknown())
    sum_init = ir.ConstInt(0, DataType.INT64, ir.Span.unknown())
    sum_iter = ir.IterArg("sum", ir.ScalarType(DataType.INT64), sum_init, ir.Span.unknown())
    add_expr = ir.Add(sum_iter, i, DataType.INT64, ir.Span.unknown())
    yield_stmt = ir.YieldStmt([add_expr], ir.Span.unknown())
    sum_final = ir.Var("sum_final", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    return ir.ForStmt(
        i,
        start, stop, step,
        [sum_iter],
        yield_stmt,
        [sum_final],
        ir.Span.unknown(),
    )  # fmt: skip


def test_for_with_iter_args() -> None:
    for_stmt = loop_with_iter_args()
    function = ir.Function("total", [], [INT64], for_stmt, SPAN)
    assert ir.problems(function, "ssa") == []
    program = ir.Program([function])
    assert ir.interpret(program, "total") == (45,)
    assert ir.structural_equal(ir.parse(str(program)), program)


def test_the_ssa_example_of_iter_args() -> None:
    """Compares the Python syntax and the equivalent SSA of the document with our text form."""
    loop = loop_with_iter_args()
    text = str(loop)
    assert "for i, (sum,) in pi.range(0, 10, 1, init_values=[0])" in text
    assert "pi.yield_(sum + i)" in text


def test_yield_seq_and_ops() -> None:
    x, y = var("x"), var("y")
    yield_stmt = ir.YieldStmt([x, y], ir.Span.unknown())
    assert yield_stmt.values == (x, y)
    stmt1, stmt2 = ir.AssignStmt(x, y, SPAN), ir.AssignStmt(y, x, SPAN)
    seq = ir.SeqStmts([stmt1, stmt2, yield_stmt], ir.Span.unknown())
    assert seq.stmts == (stmt1, stmt2, yield_stmt)
    ops = ir.OpStmts([stmt1, stmt2], ir.Span.unknown())
    assert ops.stmts == (stmt1, stmt2)
    assert not ir.structural_equal(ir.SeqStmts([stmt1, stmt2], SPAN), ops)


def test_scalar_tensor_and_unknown_types() -> None:
    int_type = ir.ScalarType(DataType.INT64)
    assert int_type.dtype is DataType.INT64
    shape = [
        ir.ConstInt(10, DataType.INT64, ir.Span.unknown()),
        ir.ConstInt(20, DataType.INT64, ir.Span.unknown()),
    ]
    tensor_type = ir.TensorType(DataType.FLOAT32, shape)
    assert tensor_type.dtype is DataType.FP32 and len(tensor_type.shape) == 2
    assert ir.structural_equal(tensor_type, ir.TensorType([10, 20], DataType.FLOAT32))
    unknown = ir.UnknownType()
    assert unknown.type_name() == "UnknownType"


def test_tuple_types() -> None:
    dim1, dim2 = const(4), const(8)
    empty_tuple = ir.TupleType([])
    scalar_tuple = ir.TupleType([
        ir.ScalarType(DataType.INT64),
        ir.ScalarType(DataType.FP32),
    ])  # fmt: skip
    mixed_tuple = ir.TupleType([
        ir.TensorType(DataType.FP32, [dim1, dim2]),
        ir.ScalarType(DataType.INT32),
    ])  # fmt: skip
    nested_tuple = ir.TupleType([
        ir.TupleType([ir.ScalarType(DataType.INT64)]),
        ir.ScalarType(DataType.FP32),
    ])  # fmt: skip
    assert [len(t.types) for t in (empty_tuple, scalar_tuple, mixed_tuple, nested_tuple)] == [0, 2, 2, 2]
    for ty in (empty_tuple, scalar_tuple, mixed_tuple, nested_tuple):
        assert ir.structural_equal(ir.parse_type(str(ty)), ty)


def test_tuple_get_item() -> None:
    tuple_type = ir.TupleType([
        ir.ScalarType(DataType.INT64),
        ir.ScalarType(DataType.FP32),
    ])  # fmt: skip
    tuple_var = ir.Var("my_tuple", tuple_type, ir.Span.unknown())
    first_elem = ir.TupleGetItemExpr(tuple_var, 0, ir.Span.unknown())
    assert first_elem.dtype is DataType.INT64
    second_elem = ir.TupleGetItemExpr(tuple_var, 1, ir.Span.unknown())
    assert second_elem.dtype is DataType.FP32
    with pytest.raises(InvalidValueError, match="tuple index 2 is out of range: the tuple has 2"):
        ir.TupleGetItemExpr(tuple_var, 2, SPAN)


def test_example_1_complex_expression() -> None:
    span = ir.Span.unknown()
    dtype = DataType.INT64
    x = ir.Var("x", ir.ScalarType(dtype), span)
    y = ir.Var("y", ir.ScalarType(dtype), span)
    one = ir.ConstInt(1, dtype, span)
    two = ir.ConstInt(2, dtype, span)
    x_plus_1 = ir.Add(x, one, dtype, span)
    y_minus_2 = ir.Sub(y, two, dtype, span)
    numerator = ir.Mul(x_plus_1, y_minus_2, dtype, span)
    denominator = ir.Add(x, y, dtype, span)
    result = ir.FloatDiv(numerator, denominator, dtype, span)
    assert str(result) == "(x + 1) * (y - 2) / (x + y)"
    assert ir.structural_equal(result, ((x + 1) * (y - 2)) / (x + y))


def test_example_2_control_flow() -> None:
    span, dtype = ir.Span.unknown(), DataType.INT64
    x = ir.Var("x", ir.ScalarType(dtype), span)
    result = ir.Var("result", ir.ScalarType(dtype), span)
    zero = ir.ConstInt(0, dtype, span)
    condition = ir.Ge(x, zero, dtype, span)
    then_assign = ir.AssignStmt(result, x, span)
    neg_x = ir.Neg(x, dtype, span)
    else_assign = ir.AssignStmt(result, neg_x, span)
    abs_stmt = ir.IfStmt(condition, then_assign, else_assign, [result], span)
    program = ir.Program([ir.Function("abs_", [x], [ir.ScalarType(dtype)], abs_stmt, span)])
    assert ir.interpret(program, "abs_", -7) == (7,)
    assert ir.interpret(program, "abs_", 7) == (7,)


def example_3() -> tuple[ir.Var, ir.SeqStmts]:
    span, dtype = ir.Span.unknown(), DataType.INT64
    n = ir.Var("n", ir.ScalarType(dtype), span)
    i = ir.Var("i", ir.ScalarType(dtype), span)
    sum_var = ir.Var("sum", ir.ScalarType(dtype), span)
    zero = ir.ConstInt(0, dtype, span)
    one = ir.ConstInt(1, dtype, span)
    init = ir.AssignStmt(sum_var, zero, span)
    add_expr = ir.Add(sum_var, i, dtype, span)
    update = ir.AssignStmt(sum_var, add_expr, span)
    loop = ir.ForStmt(i, zero, n, one, [update], [sum_var], span)
    assert loop.iter_args == () and loop.body == update and loop.return_vars == (sum_var,)
    return n, ir.SeqStmts([init, loop], span)


def test_examples_3_and_4_loop_and_function() -> None:
    n, program = example_3()
    body = program
    return_types = [ir.ScalarType(DataType.INT64)]
    sum_func = ir.Function("sum_range", [n], return_types, body, SPAN)
    assert ir.problems(sum_func) == []
    whole = ir.Program([sum_func])
    assert ir.interpret(whole, "sum_range", 10) == (45,)
    ssa = ir.run_pass(whole, "to_ssa")
    assert ir.problems(ssa, "ssa") == [] and ir.interpret(ssa, "sum_range", 10) == (45,)


def test_example_5_complete_program(capsys: pytest.CaptureFixture[str]) -> None:
    span, dtype = ir.Span.unknown(), DataType.INT64
    x = ir.Var("x", ir.ScalarType(dtype), span)
    y = ir.Var("y", ir.ScalarType(dtype), span)
    result = ir.Var("result", ir.ScalarType(dtype), span)
    add_expr = ir.Add(x, y, dtype, span)
    add_body = ir.AssignStmt(result, add_expr, span)
    add_func = ir.Function("add", [x, y], [ir.ScalarType(dtype)], add_body, span)
    mul_expr = ir.Mul(x, y, dtype, span)
    mul_body = ir.AssignStmt(result, mul_expr, span)
    mul_func = ir.Function("multiply", [x, y], [ir.ScalarType(dtype)], mul_body, span)
    program = ir.Program([add_func, mul_func], "math_operations", span)
    print(program)
    text = capsys.readouterr().out
    assert 'pi.program("math_operations")' in text
    assert ir.structural_equal(ir.parse(text), program)
    assert ir.parse(text).name == "math_operations"
