//! Constructors of IR nodes, with the signatures of the documents.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use sapwood_ir::{
    BinaryOp, Callee, Expr, ExprRef, Function, IntoType as _, IterArg, Program, Stmt, Type,
    TypeRef, UnaryOp, Var,
};
use sapwood_structural::{AnyRef, Seq, Value};
use sapwood_types::{DataType, Span};

use super::arguments::{Argument, span};
use crate::args::bind;
use crate::classes::NativeConstructor;
use crate::data_type::PyDataType;
use crate::errors;
use crate::node::{Node, wrap};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ir_binary, module)?)?;
    module.add_function(wrap_pyfunction!(ir_unary, module)?)
}

type Args<'a, 'py> = &'a Bound<'py, PyTuple>;
type Keywords<'a, 'py> = Option<&'a Bound<'py, PyDict>>;

macro_rules! operators {
    ($($op:ident)*; $($unary:ident)*) => {
        fn operator(name: &str) -> Option<NativeConstructor> {
            match name {
                $(stringify!($op) => Some(|args, kwargs| binary(BinaryOp::$op, args, kwargs)),)*
                $(stringify!($unary) => Some(|args, kwargs| unary(UnaryOp::$unary, args, kwargs)),)*
                _ => None,
            }
        }
    };
}
operators!(
    Add Sub Mul FloorDiv FloorMod FloatDiv Min Max Pow Eq Ne Lt Le Gt Ge And Or Xor BitAnd BitOr BitXor
    BitShiftLeft BitShiftRight; Abs Neg Not BitNot Cast
);

/// Returns the constructor of the class called `name`.
pub(super) fn constructor_of(name: &str) -> Option<NativeConstructor> {
    let make: NativeConstructor = match name {
        "Var" => var,
        "IterArg" => iter_arg,
        "ConstInt" => const_int,
        "ConstFloat" => const_float,
        "ConstBool" => const_bool,
        "Op" => op,
        "GlobalVar" => global_var,
        "Call" => call,
        "TupleGetItemExpr" => tuple_get_item,
        "MakeTuple" => make_tuple,
        "AssignStmt" => assign,
        "IfStmt" => if_stmt,
        "ForStmt" => for_stmt,
        "WhileStmt" => while_stmt,
        "YieldStmt" => |args, kwargs| {
            let (given, span) = list("YieldStmt", "values", args, kwargs)?;
            Ok(Stmt::yield_(
                Argument { class: "YieldStmt", name: "values", object: &given }.exprs()?,
                span,
            )
            .into_any())
        },
        "ReturnStmt" => |args, kwargs| {
            let (given, span) = list("ReturnStmt", "values", args, kwargs)?;
            Ok(Stmt::return_(
                Argument { class: "ReturnStmt", name: "values", object: &given }.exprs()?,
                span,
            )
            .into_any())
        },
        "SeqStmts" => |args, kwargs| {
            let (given, span) = list("SeqStmts", "stmts", args, kwargs)?;
            Ok(Stmt::seq(
                Argument { class: "SeqStmts", name: "stmts", object: &given }.stmts()?,
                span,
            )
            .into_any())
        },
        "OpStmts" => |args, kwargs| {
            let (given, span) = list("OpStmts", "stmts", args, kwargs)?;
            Ok(Stmt::ops(
                Argument { class: "OpStmts", name: "stmts", object: &given }.stmts()?,
                span,
            )
            .into_any())
        },
        "EvalStmt" => |args, kwargs| {
            let (given, span) = list("EvalStmt", "expr", args, kwargs)?;
            Ok(Stmt::eval(
                &Argument { class: "EvalStmt", name: "expr", object: &given }.expr()?,
                span,
            )
            .into_any())
        },
        "Function" => function,
        "Program" => program,
        "ScalarType" => scalar_type,
        "TensorType" => tensor_type,
        "TupleType" => tuple_type,
        "FunctionType" => function_type,
        "UnknownType" => unknown_type,
        _ => return operator(name),
    };
    Some(make)
}

/// Binds the parameters of a constructor and yields each as an [`Argument`], the span last.
macro_rules! given {
    ($class:literal, $args:ident, $kwargs:ident, [$($name:ident = $text:literal),*], $required:literal, $span:ident) => {
        let bound = bind($class, [$($text,)* "span"], $required, $args, $kwargs)?;
        let mut bound = bound.iter();
        $(
            let object = bound.next().and_then(Option::as_ref);
            let $name = object.map(|object| Argument { class: $class, name: $text, object });
        )*
        let $span = span($class, bound.next().and_then(Option::as_ref))?;
    };
}

/// Returns a required parameter, whose presence `bind` has checked.
fn required<'a, 'py>(
    given: Option<Argument<'a, 'py>>,
    py: Python<'_>,
) -> PyResult<Argument<'a, 'py>> {
    given.ok_or_else(|| errors::argument_error(py, "missing argument"))
}

fn binary<'py>(op: BinaryOp, args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    let class = op.name();
    let bound = bind(class, ["left", "right", "dtype", "span"], 2, args, kwargs)?;
    let [Some(left), Some(right), dtype, spanned] = &bound else {
        return Err(errors::argument_error(args.py(), "missing argument"));
    };
    let left = Argument { class, name: "left", object: left }.expr()?;
    let right = Argument { class, name: "right", object: right }.expr()?;
    let span = span(class, spanned.as_ref())?;
    let ty = match dtype {
        Some(object) => Argument { class, name: "dtype", object }.ty()?,
        None => operand_type(args.py(), op, &left, &right)?,
    };
    Ok(Expr::binary(op, &left, &right, ty, span).into_any())
}

fn unary<'py>(op: UnaryOp, args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    let class = op.name();
    let bound = bind(class, ["operand", "dtype", "span"], 1, args, kwargs)?;
    let [Some(operand), dtype, spanned] = &bound else {
        return Err(errors::argument_error(args.py(), "missing argument"));
    };
    let operand = Argument { class, name: "operand", object: operand }.expr()?;
    let span = span(class, spanned.as_ref())?;
    let ty = match dtype {
        Some(object) => Argument { class, name: "dtype", object }.ty()?,
        None if op == UnaryOp::Cast => {
            return Err(errors::argument_error(args.py(), "Cast needs dtype, which was not given"));
        }
        None if op == UnaryOp::Not => truth_type(&[&operand]),
        None => Type::inferred(operand.ty()),
    };
    Ok(Expr::unary(op, &operand, ty, span).into_any())
}

fn var<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("Var", args, kwargs, [name = "name", ty = "type"], 2, span);
    let (name, ty) = (required(name, args.py())?, required(ty, args.py())?);
    Ok(Var::new(name.text()?, ty.ty()?, span).expr().clone().into_any())
}

fn iter_arg<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("IterArg", args, kwargs, [name = "name", ty = "type", init = "init_value"], 3, span);
    let (name, ty) = (required(name, args.py())?, required(ty, args.py())?);
    let init = required(init, args.py())?.expr()?;
    Ok(IterArg::new(name.text()?, ty.ty()?, &init, span).expr().clone().into_any())
}

fn const_int<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("ConstInt", args, kwargs, [value = "value", dtype = "dtype"], 2, span);
    let (value, dtype) = (required(value, args.py())?, required(dtype, args.py())?);
    let made = Expr::const_int(value.int()?, dtype.dtype()?, span);
    Ok(made.map_err(|error| dtype.ir_error(&error))?.into_any())
}

fn const_float<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("ConstFloat", args, kwargs, [value = "value", dtype = "dtype"], 2, span);
    let (value, dtype) = (required(value, args.py())?, required(dtype, args.py())?);
    if value.object.is_instance_of::<PyBool>() {
        return Err(value.type_error("a float"));
    }
    let number: f64 = value.object.extract().map_err(|_| value.type_error("a float"))?;
    let made = Expr::const_float(number, dtype.dtype()?, span);
    Ok(made.map_err(|error| dtype.ir_error(&error))?.into_any())
}

fn const_bool<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("ConstBool", args, kwargs, [value = "value"], 1, span);
    let value = required(value, args.py())?;
    let truth = value.object.cast::<PyBool>().map_err(|_| value.type_error("a bool"))?;
    Ok(Expr::const_bool(truth.is_true(), span).into_any())
}

/// Implements `Op(name, attrs, span)`; the attributes are numbers, texts and lists by name.
fn op<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    let py = args.py();
    let [Some(name), given, spanned] = &bind("Op", ["name", "attrs", "span"], 1, args, kwargs)?
    else {
        return Err(errors::argument_error(py, "missing argument"));
    };
    let name = Argument { class: "Op", name: "name", object: name }.text()?.to_owned();
    let mut attrs = Vec::new();
    if let Some(object) = given.as_ref().filter(|object| !object.is_none()) {
        let items = object.call_method0("items").map_err(|_| {
            Argument { class: "Op", name: "attrs", object }.type_error("a mapping of attributes")
        })?;
        for item in items.try_iter()? {
            let (key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = item?.extract()?;
            let key = Argument { class: "Op", name: "attrs", object: &key }.text()?.to_owned();
            check_attr_name(py, &key)?;
            attrs.push((key.clone(), attr_value(&key, &value, 0)?));
        }
    }
    Ok(Callee::op_with_attrs(&name, attrs, span("Op", spanned.as_ref())?).into_any())
}

/// Rejects names of attributes that cannot be written as keywords of a call.
fn check_attr_name(py: Python<'_>, name: &str) -> PyResult<()> {
    let text = PyString::new(py, name);
    let is_keyword = py.import("keyword")?.call_method1("iskeyword", (&text,))?.is_truthy()?;
    if is_keyword || !text.call_method0("isidentifier")?.is_truthy()? {
        let message = format!(
            "Op: {name:?} is not the name of an attribute, which is an identifier of Python"
        );
        return Err(errors::value_error(py, message));
    }
    Ok(())
}

/// Converts the value of an attribute: a number, a text, a data type, or a list of these.
fn attr_value(name: &str, object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let py = object.py();
    if object.is_instance_of::<PyDataType>() {
        let dtype = Argument { class: "Op", name: "attrs", object }.dtype()?;
        return Ok(Value::from(dtype.document_name()));
    }
    let value = if object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<crate::containers::PySeq>()
    {
        if depth >= sapwood::ptir::MAX_ATTR_DEPTH {
            return Err(errors::value_error(py, format!("Op: attribute {name} nests too deep")));
        }
        let items = object.try_iter()?.map(|item| attr_value(name, &item?, depth + 1));
        Value::from(items.collect::<PyResult<Seq>>()?)
    } else {
        crate::convert::to_value(object)?
    };
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) => Ok(value),
        Value::Node(node) if Seq::try_from(node.clone()).is_ok() => Ok(Value::Node(node)),
        _ => {
            let found = errors::type_name(object);
            let message = format!(
                "Op: attribute {name} is {found}, expected a number, a string, a data type or a list of these"
            );
            Err(errors::argument_error(py, message))
        }
    }
}

fn global_var<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("GlobalVar", args, kwargs, [name = "name"], 1, span);
    Ok(Callee::global_var_at(required(name, args.py())?.text()?, span).into_any())
}

/// Implements `Call(op, args, span)`; the type comes before the span or as a keyword.
fn call<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    let names = ["op", "args", "span", "type"];
    let [op, operands, third, fourth] = bind("Call", names, 2, args, kwargs)?;
    let (Some(op), Some(operands)) = (&op, &operands) else {
        return Err(errors::argument_error(args.py(), "missing argument"));
    };
    let is_type = |object: &Option<Bound<'_, PyAny>>| {
        object.as_ref().is_some_and(|object| {
            let given = Argument { class: "Call", name: "type", object };
            object.is_instance_of::<PyDataType>() || given.node::<Type>().is_some()
        })
    };
    let (spanned, ty) = if is_type(&third) { (fourth, third) } else { (third, fourth) };
    let span = span("Call", spanned.as_ref())?;
    let ty = match &ty {
        Some(object) if !object.is_none() => {
            Argument { class: "Call", name: "type", object }.ty()?
        }
        _ => Type::unknown(),
    };
    let op = Argument { class: "Call", name: "op", object: op }.callee()?;
    let operands = Argument { class: "Call", name: "args", object: operands }.exprs()?;
    Ok(Expr::call(&op, operands, ty, span).into_any())
}

fn tuple_get_item<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("TupleGetItemExpr", args, kwargs, [tuple = "tuple", index = "index"], 2, span);
    let (tuple, index) = (required(tuple, args.py())?, required(index, args.py())?);
    let place = index.int()?;
    let Ok(place) = usize::try_from(place) else {
        let message = format!("tuple index {place} is out of range: elements are counted from 0");
        return Err(errors::value_error(args.py(), message));
    };
    let made = Expr::tuple_get_item(&tuple.expr()?, place, span);
    Ok(made.map_err(|error| index.ir_error(&error))?.into_any())
}

fn make_tuple<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("MakeTuple", args, kwargs, [elements = "elements"], 1, span);
    Ok(Expr::make_tuple(required(elements, args.py())?.exprs()?, span).into_any())
}

fn assign<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("AssignStmt", args, kwargs, [var = "var", value = "value"], 2, span);
    let (var, value) = (required(var, args.py())?, required(value, args.py())?);
    Ok(Stmt::assign(&var.var()?, &value.expr()?, span).into_any())
}

fn if_stmt<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!(
        "IfStmt",
        args,
        kwargs,
        [condition = "condition", then = "then_body", other = "else_body", vars = "return_vars"],
        2,
        span
    );
    let (condition, then) = (required(condition, args.py())?, required(then, args.py())?);
    let other = match other {
        Some(given) if !given.object.is_none() => Some(given.body(span)?),
        _ => None,
    };
    let vars = vars.map(|given| given.vars()).transpose()?.unwrap_or_default();
    let then = then.body(span)?;
    Ok(Stmt::if_(&condition.expr()?, &then, other.as_ref(), vars, span).into_any())
}

/// Returns whether an argument is a body rather than a list of iteration arguments.
fn is_body(object: &Bound<'_, PyAny>) -> bool {
    let is_stmt = |object: &Bound<'_, PyAny>| {
        Argument { class: "ForStmt", name: "body", object }.node::<Stmt>().is_some()
    };
    is_stmt(object) || object.get_item(0).is_ok_and(|first| is_stmt(&first))
}

/// Implements `ForStmt(loop_var, start, stop, step, [iter_args,] body, return_vars, span)`.
fn for_stmt<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    let py = args.py();
    // Without iteration arguments the body is the fifth argument and is not a list of variables.
    let short = args.len() > 4
        && is_body(&args.get_item(4)?)
        && !(args.len() > 5 && is_body(&args.get_item(5)?));
    let long_form;
    let args = if short {
        let mut items: Vec<Bound<'_, PyAny>> = args.iter().collect();
        items.insert(4, PyList::empty(py).into_any());
        long_form = PyTuple::new(py, items)?;
        &long_form
    } else {
        args
    };
    given!(
        "ForStmt",
        args,
        kwargs,
        [
            loop_var = "loop_var",
            start = "start",
            stop = "stop",
            step = "step",
            iter_args = "iter_args",
            body = "body",
            vars = "return_vars"
        ],
        4,
        span
    );
    let body =
        body.ok_or_else(|| errors::argument_error(py, "ForStmt needs body, which was not given"))?;
    let range =
        [required(start, py)?.expr()?, required(stop, py)?.expr()?, required(step, py)?.expr()?];
    let iter_args = iter_args.map(|given| given.iter_args()).transpose()?.unwrap_or_default();
    let vars = vars.map(|given| given.vars()).transpose()?.unwrap_or_default();
    let (loop_var, body) = (required(loop_var, py)?.var()?, body.body(span)?);
    Ok(Stmt::for_(&loop_var, range.each_ref(), iter_args, &body, vars, span).into_any())
}

fn while_stmt<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    let py = args.py();
    given!(
        "WhileStmt",
        args,
        kwargs,
        [iter_args = "iter_args", condition = "condition", body = "body", vars = "return_vars"],
        3,
        span
    );
    let vars = vars.map(|given| given.vars()).transpose()?.unwrap_or_default();
    let (condition, body) = (required(condition, py)?.expr()?, required(body, py)?.body(span)?);
    Ok(Stmt::while_(required(iter_args, py)?.iter_args()?, &condition, &body, vars, span)
        .into_any())
}

/// Implements a constructor with one argument and a span.
fn list<'py>(
    class: &'static str,
    name: &'static str,
    args: Args<'_, 'py>,
    kwargs: Keywords<'_, 'py>,
) -> PyResult<(Bound<'py, PyAny>, Span)> {
    let [Some(object), spanned] = bind(class, [name, "span"], 1, args, kwargs)? else {
        return Err(errors::argument_error(args.py(), "missing argument"));
    };
    Ok((object, span(class, spanned.as_ref())?))
}

fn function<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    let py = args.py();
    given!(
        "Function",
        args,
        kwargs,
        [name = "name", params = "params", types = "return_types", body = "body"],
        4,
        span
    );
    let (name, params) = (required(name, py)?, required(params, py)?.vars()?);
    let (types, body) = (required(types, py)?.types()?, required(body, py)?.body(span)?);
    Ok(Function::new(name.text()?, params, types, &body, span).into_any())
}

fn program<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("Program", args, kwargs, [functions = "functions", name = "name"], 1, span);
    let functions = required(functions, args.py())?;
    let name = name.map(|given| given.text().map(str::to_owned)).transpose()?.unwrap_or_default();
    let made = Program::new(functions.functions()?, &name, span);
    Ok(made.map_err(|error| functions.ir_error(&error))?.into_any())
}

fn scalar_type<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("ScalarType", args, kwargs, [dtype = "dtype"], 1, span);
    let dtype = required(dtype, args.py())?.dtype()?;
    Ok(Type::with_span(&Type::scalar(dtype), span).into_any())
}

/// Implements `TensorType(dtype, shape)`, in either order.
fn tensor_type<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("TensorType", args, kwargs, [first = "dtype", second = "shape"], 2, span);
    let (first, second) = (required(first, args.py())?, required(second, args.py())?);
    let swapped = second.object.is_instance_of::<PyDataType>();
    let (dtype, shape) =
        if swapped { (second.object, first.object) } else { (first.object, second.object) };
    let dtype = Argument { class: "TensorType", name: "dtype", object: dtype }.dtype()?;
    let shape = Argument { class: "TensorType", name: "shape", object: shape }.shape()?;
    Ok(Type::with_span(&Type::tensor(dtype, shape), span).into_any())
}

fn tuple_type<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("TupleType", args, kwargs, [types = "types"], 1, span);
    let types = required(types, args.py())?.types()?;
    Ok(Type::with_span(&Type::tuple(types), span).into_any())
}

fn function_type<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("FunctionType", args, kwargs, [params = "params", results = "results"], 2, span);
    let params = required(params, args.py())?.types()?;
    let results = required(results, args.py())?.types()?;
    Ok(Type::with_span(&Type::function(params, results), span).into_any())
}

fn unknown_type<'py>(args: Args<'_, 'py>, kwargs: Keywords<'_, 'py>) -> PyResult<AnyRef> {
    given!("UnknownType", args, kwargs, [], 0, span);
    Ok(Type::with_span(&Type::unknown(), span).into_any())
}

/// Returns the boolean type of a comparison of these operands.
fn truth_type(operands: &[&ExprRef]) -> TypeRef {
    let shape = operands.iter().find_map(|operand| match &**operand.ty() {
        Type::Tensor { shape, .. } => Some(shape),
        _ => None,
    });
    match shape {
        Some(shape) => Type::tensor(DataType::Bool, shape.iter().cloned()),
        None => DataType::Bool.into_type(),
    }
}

/// Returns the type of an operator without an explicit type: that of its operands.
fn operand_type(
    py: Python<'_>,
    op: BinaryOp,
    left: &ExprRef,
    right: &ExprRef,
) -> PyResult<TypeRef> {
    if op.is_predicate() {
        return Ok(truth_type(&[left, right]));
    }
    if left.ty().same(right.ty())
        || sapwood_structural::equal(left.ty(), right.ty()).unwrap_or(false)
    {
        return Ok(Type::inferred(left.ty()));
    }
    // An operator applies to each element of a tensor and a scalar.
    if left.ty().dtype() == right.ty().dtype() {
        match (&**left.ty(), &**right.ty()) {
            (Type::Tensor { .. }, Type::Scalar { .. }) => return Ok(left.ty().clone()),
            (Type::Scalar { .. }, Type::Tensor { .. }) => return Ok(right.ty().clone()),
            _ => {}
        }
    }
    let (left, right) = (sapwood_ir::print_type(left.ty()), sapwood_ir::print_type(right.ty()));
    let message = format!(
        "{}: the operands have different types, {left} and {right}; give the result type, or cast one operand",
        op.name()
    );
    Err(errors::value_error(py, message))
}

/// Implements `left op right` for Python's operators: a number takes the type of the other side. Returns `None` if a side is
/// neither an expression nor a number.
#[pyfunction]
fn ir_binary<'py>(
    op: &str,
    left: &Bound<'py, PyAny>,
    right: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = left.py();
    let Some(op) = BinaryOp::ALL.into_iter().find(|one| one.name() == op) else {
        return Err(errors::value_error(py, format!("unknown operator {op}")));
    };
    let expr = |object| Argument { class: op.name(), name: "operand", object }.node::<Expr>();
    let (left, right) = match (expr(left), expr(right)) {
        (Some(left), Some(right)) => (left, right),
        (Some(left), None) => match literal(right, &left)? {
            Some(right) => (left, right),
            None => return Ok(None),
        },
        (None, Some(right)) => match literal(left, &right)? {
            Some(left) => (left, right),
            None => return Ok(None),
        },
        (None, None) => return Ok(None),
    };
    let ty = operand_type(py, op, &left, &right)?;
    wrap(py, Expr::binary(op, &left, &right, ty, Span::unknown()).into_any()).map(Some)
}

/// Converts a number to a constant with the type of the other operand; returns expressions unchanged.
fn literal(object: &Bound<'_, PyAny>, other: &ExprRef) -> PyResult<Option<ExprRef>> {
    let given = Argument { class: "operator", name: "operand", object };
    let Some(dtype) = other.ty().dtype() else {
        return Ok(None);
    };
    let made = if object.is_instance_of::<PyBool>() {
        if dtype.is_bool() {
            Ok(Expr::const_bool(object.is_truthy()?, Span::unknown()))
        } else {
            return Ok(None);
        }
    } else if object.is_instance_of::<PyInt>() && dtype.is_integer() {
        Expr::const_int(given.int()?, dtype, Span::unknown())
    } else if (object.is_instance_of::<PyInt>() || object.is_instance_of::<PyFloat>())
        && dtype.is_float()
    {
        Expr::const_float(object.extract()?, dtype, Span::unknown())
    } else {
        return Ok(None);
    };
    made.map(Some).map_err(|error| given.ir_error(&error))
}

/// Builds a unary operator with the type of its operand.
#[pyfunction]
fn ir_unary<'py>(op: &str, operand: &Bound<'py, Node>) -> PyResult<Bound<'py, PyAny>> {
    let py = operand.py();
    let Some(op) = UnaryOp::ALL.into_iter().find(|one| one.name() == op) else {
        return Err(errors::value_error(py, format!("unknown operator {op}")));
    };
    let operand = Argument { class: op.name(), name: "operand", object: operand }.expr()?;
    let ty =
        if op == UnaryOp::Not { truth_type(&[&operand]) } else { Type::inferred(operand.ty()) };
    wrap(py, Expr::unary(op, &operand, ty, Span::unknown()).into_any())
}
