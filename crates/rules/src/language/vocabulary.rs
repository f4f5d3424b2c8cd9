//! The vocabulary of the rule language: predicates for `where`, and functions for attributes of the right side. Users can add more.

use std::collections::BTreeMap;
use std::sync::Arc;

use sapwood_ptir::{Attr, AttrKind, Dim, Function, Name, TensorLiteral, TensorType, ValueId};
use sapwood_types::{DataType, Span};

use super::axis_map;
use crate::graph::{Number, Numbers, constant_behind};

/// The kind of a parameter of a predicate or function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgumentKind {
    /// A value.
    Value,
    /// A list of values: `xs..`.
    Values,
    /// An integer.
    Int,
    /// A list of integers.
    Ints,
    /// An element type.
    Dtype,
    /// A number: a constant that `const` names, a dim, an integer or a float.
    Number,
    /// Any attribute.
    Attr,
    /// A value, a list of values, or an attribute.
    Any,
}

impl ArgumentKind {
    /// Returns the kind of the values of an attribute.
    pub(super) fn of_attr_kind(kind: Option<AttrKind>) -> Self {
        match kind {
            Some(AttrKind::Int) => Self::Int,
            Some(AttrKind::Ints) => Self::Ints,
            Some(AttrKind::Type) => Self::Dtype,
            _ => Self::Attr,
        }
    }

    /// Returns the kind of a literal attribute.
    pub(super) fn of_attr(attr: &Attr) -> Self {
        match attr {
            Attr::Int(_) => Self::Int,
            Attr::Ints(_) => Self::Ints,
            Attr::Type(_) => Self::Dtype,
            _ => Self::Attr,
        }
    }
}

impl ArgumentKind {
    /// Returns the kind for messages: `a value`.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Value => "a value",
            Self::Values => "a list of values",
            Self::Int => "an integer",
            Self::Ints => "a list of integers",
            Self::Dtype => "an element type",
            Self::Number => "a number or a constant",
            Self::Attr => "an attribute",
            Self::Any => "a value or an attribute",
        }
    }
}

/// An argument of a predicate or function.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A value of the function.
    Value(ValueId),
    /// Values of the function.
    Values(Vec<ValueId>),
    /// An attribute.
    Attr(Attr),
}

/// The place of a predicate or function in a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WordPlace {
    /// The name of the rule.
    pub rule: Name,
    /// The span of the word.
    pub span: Span,
}

/// The arguments of a predicate or function, in order, with the function that is matched.
pub struct WordArguments<'a> {
    /// The function that is matched.
    pub function: &'a Function,
    /// The arguments.
    pub arguments: &'a [Argument],
    /// The place in the rule, for messages.
    pub place: WordPlace,
}

impl WordArguments<'_> {
    /// Returns the n-th argument, if it is a value.
    #[must_use]
    pub fn value(&self, n: usize) -> Option<ValueId> {
        match self.arguments.get(n)? {
            Argument::Value(value) => Some(*value),
            Argument::Values(_) | Argument::Attr(_) => None,
        }
    }

    /// Returns the n-th argument, if it is a list of values.
    #[must_use]
    pub fn values(&self, n: usize) -> Option<&[ValueId]> {
        match self.arguments.get(n)? {
            Argument::Values(values) => Some(values),
            Argument::Value(_) | Argument::Attr(_) => None,
        }
    }

    /// Returns the n-th argument, if it is an attribute.
    #[must_use]
    pub fn attr(&self, n: usize) -> Option<&Attr> {
        match self.arguments.get(n)? {
            Argument::Attr(attr) => Some(attr),
            Argument::Value(_) | Argument::Values(_) => None,
        }
    }

    /// Returns the n-th argument, if it is an integer.
    #[must_use]
    pub fn int(&self, n: usize) -> Option<i64> {
        self.attr(n)?.as_int()
    }

    /// Returns the n-th argument, if it is a list of integers.
    #[must_use]
    pub fn ints(&self, n: usize) -> Option<&[i64]> {
        self.attr(n)?.as_ints()
    }

    /// Returns the numbers that the n-th argument stands for; `None` if it is not a number.
    pub(super) fn numbers(&self, n: usize) -> Option<Numbers<'_>> {
        match self.arguments.get(n)? {
            Argument::Value(value) => {
                Numbers::of_constant(constant_literal(self.function, *value)?)
            }
            Argument::Attr(Attr::Int(n)) => Some(Numbers::One(Number::Int((*n).into()))),
            Argument::Attr(Attr::Float(x)) => Some(Numbers::One(Number::Float(x.get()))),
            Argument::Values(_) | Argument::Attr(_) => None,
        }
    }

    /// Returns the type of the n-th argument, if it is a tensor value.
    #[must_use]
    pub fn tensor(&self, n: usize) -> Option<&TensorType> {
        self.function.value_type(self.value(n)?).as_tensor()
    }

    /// Returns the element type of the n-th argument.
    #[must_use]
    pub fn dtype(&self, n: usize) -> Option<DataType> {
        self.tensor(n).map(|t| t.dtype)
    }
}

// Returns the constant behind a value, also through ops that keep the numbers.
fn constant_literal(f: &Function, mut value: ValueId) -> Option<&TensorLiteral> {
    loop {
        if let Some((literal, _)) = constant_behind(f, value) {
            return Some(literal);
        }
        match f.operands(f.inst_of(value)?) {
            [source] => value = *source,
            _ => return None,
        }
    }
}

type Check = dyn Fn(&WordArguments<'_>) -> Option<bool> + Send + Sync;
type Compute = dyn Fn(&WordArguments<'_>) -> Option<Attr> + Send + Sync;

/// A predicate for `where`.
pub struct Predicate {
    /// The name.
    pub name: String,
    /// The kinds of its parameters.
    pub params: Vec<ArgumentKind>,
    /// The condition under which it holds.
    pub doc: String,
    pub(super) check: Box<Check>,
}

/// A function that computes an attribute.
pub struct AttrFunction {
    /// The name.
    pub name: String,
    /// The kinds of its parameters.
    pub params: Vec<ArgumentKind>,
    /// The kind of its result.
    pub gives: ArgumentKind,
    /// A description of its result.
    pub doc: String,
    pub(super) compute: Box<Compute>,
}

/// The predicates and functions that rules may use.
#[derive(Clone, Default)]
pub struct Vocabulary {
    pub(super) predicates: BTreeMap<String, Arc<Predicate>>,
    pub(super) functions: BTreeMap<String, Arc<AttrFunction>>,
}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.predicates.keys().chain(self.functions.keys())).finish()
    }
}

impl Vocabulary {
    /// Returns the built-in predicates and functions.
    #[must_use]
    pub fn builtin() -> Self {
        let mut words = Self::default();
        add_predicates(&mut words);
        add_functions(&mut words);
        words
    }

    /// Adds a predicate, or replaces the one of this name. If `check` returns `None`, the answer is unknown: neither the predicate
    /// nor its negation holds.
    pub fn predicate(
        &mut self,
        name: &str,
        params: &[ArgumentKind],
        doc: &str,
        check: impl Fn(&WordArguments<'_>) -> Option<bool> + Send + Sync + 'static,
    ) {
        let predicate = Predicate {
            name: name.into(),
            params: params.to_vec(),
            doc: doc.into(),
            check: Box::new(check),
        };
        self.predicates.insert(name.into(), Arc::new(predicate));
    }

    /// Adds an attribute function, or replaces the one of this name. If `compute` returns `None`, the rule does not apply.
    pub fn function(
        &mut self,
        name: &str,
        params: &[ArgumentKind],
        gives: ArgumentKind,
        doc: &str,
        compute: impl Fn(&WordArguments<'_>) -> Option<Attr> + Send + Sync + 'static,
    ) {
        let function = AttrFunction {
            name: name.into(),
            params: params.to_vec(),
            gives,
            doc: doc.into(),
            compute: Box::new(compute),
        };
        self.functions.insert(name.into(), Arc::new(function));
    }

    /// Returns all predicates, sorted by name.
    pub fn predicates(&self) -> impl Iterator<Item = &Predicate> {
        self.predicates.values().map(|p| &**p)
    }

    /// Returns all attribute functions, sorted by name.
    pub fn functions(&self) -> impl Iterator<Item = &AttrFunction> {
        self.functions.values().map(|f| &**f)
    }
}

fn add_predicates(words: &mut Vocabulary) {
    use ArgumentKind::{Attr, Dtype, Int, Ints, Number, Value, Values};
    let mut add =
        |name, params: &[ArgumentKind], doc, check: fn(&WordArguments<'_>) -> Option<bool>| {
            words.predicate(name, params, doc, check);
        };
    add("one_user", &[Value], "exactly one op uses it", |a| Some(a.function.one_user(a.value(0)?)));
    add("one_use", &[Value], "it has exactly one use", |a| Some(a.function.one_use(a.value(0)?)));
    add("elementwise", &[Value], "an elementwise op computes it", |a| {
        let inst = a.function.inst_of(a.value(0)?);
        Some(inst.and_then(|i| a.function.op_def(i)).is_some_and(|def| def.elementwise))
    });
    add("constant", &[Value], "it is a constant, or a broadcast of one", |a| {
        Some(crate::graph::is_constant(a.function, a.value(0)?))
    });
    add("integer", &[Value], "its elements are integers", |a| Some(a.dtype(0)?.is_integer()));
    add("float", &[Value], "its elements are floats", |a| Some(a.dtype(0)?.is_float()));
    add("complex", &[Value], "its elements are complex numbers", |a| {
        Some(a.dtype(0)?.is_complex())
    });
    add("bool", &[Value], "its elements are bools", |a| Some(a.dtype(0)?.is_bool()));
    add("signed", &[Value], "its elements are signed integers", |a| {
        let dtype = a.dtype(0)?;
        Some(dtype.is_integer() && dtype.is_signed())
    });
    add("dtype", &[Value, Dtype], "its element type is this one", |a| {
        Some(matches!(a.attr(1)?, sapwood_ptir::Attr::Type(t) if *t == a.dtype(0)?))
    });
    add("rank", &[Value, Int], "it has this many dims", |a| {
        Some(a.tensor(0)?.rank() as i64 == a.int(1)?)
    });
    add("static", &[Value], "all its dims are known", |a| {
        Some(a.tensor(0)?.known_shape().is_some())
    });
    add(
        "same_type",
        &[Value, Value],
        "element types and dims are the same, all known or named",
        |a| {
            let (x, y) = (a.tensor(0)?, a.tensor(1)?);
            if x.dtype != y.dtype { Some(false) } else { same_dims(x, y) }
        },
    );
    add("same_shape", &[Value, Value], "the dims are the same, all known or named", |a| {
        same_dims(a.tensor(0)?, a.tensor(1)?)
    });
    add("same_dtype", &[Value, Value], "the element types are the same", |a| {
        Some(a.dtype(0)? == a.dtype(1)?)
    });
    add("equal", &[Attr, Attr], "two attributes are the same", |a| Some(a.attr(0)? == a.attr(1)?));
    add("less", &[Int, Int], "the first is smaller", |a| Some(a.int(0)? < a.int(1)?));
    add("identity", &[Ints], "it is `[0, 1, 2, …]`", |a| {
        Some(a.ints(0)?.iter().enumerate().all(|(n, &i)| n as i64 == i))
    });
    add("contains", &[Ints, Int], "the list has this integer", |a| {
        Some(a.ints(0)?.contains(&a.int(1)?))
    });
    add("disjoint", &[Ints, Ints], "no integer is in both lists", |a| {
        let (x, y) = (a.ints(0)?, a.ints(1)?);
        Some(!x.iter().any(|i| y.contains(i)))
    });
    add("increasing", &[Ints], "each integer is larger than the one before", |a| {
        Some(a.ints(0)?.windows(2).all(|pair| pair[0] < pair[1]))
    });
    add(
        "approx",
        &[Number, Number, Number],
        "the first differs from the second by at most the third times it",
        |a| {
            let tolerance = a.numbers(2)?.single()?.as_float();
            let near = |x: f64, y: f64| (x - y).abs() <= tolerance * y.abs().max(f64::MIN_POSITIVE);
            a.numbers(0)?.all(a.numbers(1)?, |x, y| Some(near(x.as_float(), y.as_float())))
        },
    );
    add(
        "restores",
        &[Value, Value, Ints],
        "the first is the second with the axes back that a reduction over these removed",
        |a| Some(axis_map::restores(a.function, a.value(0)?, a.value(1)?, a.ints(2)?)),
    );
    add(
        "repeated",
        &[Value, Ints],
        "broadcasts repeat its elements along these axes, so that it does not vary along them",
        |a| Some(axis_map::is_repeated(a.function, a.value(0)?, a.ints(1)?)),
    );
    add(
        "per_feature",
        &[Value, Value],
        "broadcasts repeat the elements of both along all axes but one, which is the same for both",
        |a| Some(axis_map::vary_along_one_axis(a.function, a.value(0)?, a.value(1)?)),
    );
    add(
        "given",
        &[Value],
        "no op computes it: it is a parameter or a constant, perhaps with its elements moved, repeated or converted",
        |a| Some(axis_map::is_given(a.function, a.value(0)?)),
    );
    add(
        "rearranges",
        &[Value, Value],
        "the first is the second with its axes in any order, and with axes of one element inserted or removed",
        |a| Some(axis_map::rearranges(a.function, a.value(0)?, a.value(1)?)),
    );
    add("count", &[Values, Int], "the list has this many values", |a| {
        Some(a.values(0)?.len() as i64 == a.int(1)?)
    });
}

// Returns whether two types have the same dims; `None` if unknown dims leave that open.
fn same_dims(a: &TensorType, b: &TensorType) -> Option<bool> {
    let differ = |(a, b): (&Dim, &Dim)| matches!((a, b), (Dim::Known(x), Dim::Known(y)) if x != y);
    if a.dims.len() != b.dims.len() || a.dims.iter().zip(&b.dims).any(differ) {
        return Some(false);
    }
    let same = a.dims.iter().zip(&b.dims).all(|(a, b)| a.certainly_equal(*b));
    same.then_some(true)
}

fn add_functions(words: &mut Vocabulary) {
    use ArgumentKind::{Dtype, Int, Ints, Value};
    let mut add = |name,
                   params: &[ArgumentKind],
                   gives,
                   doc,
                   compute: fn(&WordArguments<'_>) -> Option<Attr>| {
        words.function(name, params, gives, doc, compute);
    };
    add("compose", &[Ints, Ints], Ints, "the permutation `p[q[i]]`: first `p`, then `q`", |a| {
        let (p, q) = (a.ints(0)?, a.ints(1)?);
        q.iter()
            .map(|&i| p.get(usize::try_from(i).ok()?).copied())
            .collect::<Option<_>>()
            .map(Attr::Ints)
    });
    add("inverse", &[Ints], Ints, "the permutation that undoes this one", |a| {
        let p = a.ints(0)?;
        let mut inverse: sapwood_ptir::Ints = p.iter().map(|_| -1).collect();
        for (n, &i) in p.iter().enumerate() {
            *inverse.get_mut(usize::try_from(i).ok()?)? = n as i64;
        }
        inverse.iter().all(|&i| i >= 0).then_some(Attr::Ints(inverse))
    });
    add("plus", &[Int, Int], Int, "the sum of two integers", |a| {
        Some(Attr::Int(a.int(0)?.checked_add(a.int(1)?)?))
    });
    add("minus", &[Int, Int], Int, "the difference of two integers", |a| {
        Some(Attr::Int(a.int(0)?.checked_sub(a.int(1)?)?))
    });
    add("add_each", &[Ints, Ints], Ints, "the sums of two lists of the same length", |a| {
        each(a, i64::checked_add)
    });
    add("sub_each", &[Ints, Ints], Ints, "the differences of two lists of the same length", |a| {
        each(a, i64::checked_sub)
    });
    add("join", &[Ints, Ints], Ints, "one list after the other", |a| {
        Some(Attr::Ints(a.ints(0)?.iter().chain(a.ints(1)?).copied().collect()))
    });
    add("zeros", &[Int], Ints, "a list of this many zeros", |a| {
        let count = usize::try_from(a.int(0)?).ok().filter(|&n| n <= sapwood_ptir::MAX_RANK)?;
        Some(Attr::Ints(std::iter::repeat_n(0, count).collect()))
    });
    add("only", &[Ints, Int], Ints, "the list with zeros at all places but this one", |a| {
        let kept = usize::try_from(a.int(1)?).ok()?;
        let list = a.ints(0)?.iter().enumerate();
        Some(Attr::Ints(list.map(|(n, &i)| if n == kept { i } else { 0 }).collect()))
    });
    add("without", &[Ints, Int], Ints, "the list without the element at this place", |a| {
        let left_out = usize::try_from(a.int(1)?).ok()?;
        let list = a.ints(0)?.iter().enumerate();
        Some(Attr::Ints(list.filter(|(n, _)| *n != left_out).map(|(_, &i)| i).collect()))
    });
    add("size", &[Value, Ints], Int, "the number of elements along these axes", |a| {
        let (shape, axes) = (a.tensor(0)?.known_shape()?, a.ints(1)?);
        let dim = |&axis: &i64| shape.get(usize::try_from(axis).ok()?).copied();
        let size = axes.iter().map(dim).try_fold(1u64, |all, n| all.checked_mul(n?))?;
        Some(Attr::Int(i64::try_from(size).ok()?))
    });
    add("reciprocal", &[Int], ArgumentKind::Number, "one divided by it", |a| match a.int(0)? {
        0 => None,
        n => Some(Attr::float(1.0 / n as f64)),
    });
    add("negative", &[Int], Int, "the integer with the other sign", |a| {
        Some(Attr::Int(a.int(0)?.checked_neg()?))
    });
    add("int_of", &[ArgumentKind::Number], Int, "the integer that all elements are", |a| {
        let int = match a.numbers(0)?.single()? {
            Number::Int(n) => i64::try_from(n).ok()?,
            Number::Float(x) if x.fract() == 0.0 && x.abs() < 2f64.powi(53) => x as i64,
            Number::Float(_) => return None,
        };
        Some(Attr::Int(int))
    });
    add(
        "float_of",
        &[ArgumentKind::Number],
        ArgumentKind::Number,
        "the number that all elements are, as a float",
        |a| match a.numbers(0)?.single()? {
            Number::Int(n) => Some(Attr::float(n as f64)),
            Number::Float(x) => Some(Attr::float(x)),
        },
    );
    add("shape_of", &[Value], Ints, "its dims, if all are known", |a| {
        let shape = a.tensor(0)?.known_shape()?;
        shape.iter().map(|&n| i64::try_from(n).ok()).collect::<Option<_>>().map(Attr::Ints)
    });
    add("dtype_of", &[Value], Dtype, "its element type", |a| Some(Attr::Type(a.dtype(0)?)));
    add("rank_of", &[Value], Int, "the number of its dims", |a| {
        Some(Attr::Int(a.tensor(0)?.rank() as i64))
    });
}

fn each(a: &WordArguments<'_>, f: fn(i64, i64) -> Option<i64>) -> Option<Attr> {
    let (x, y) = (a.ints(0)?, a.ints(1)?);
    if x.len() != y.len() {
        return None;
    }
    x.iter().zip(y).map(|(&x, &y)| f(x, y)).collect::<Option<_>>().map(Attr::Ints)
}
