//! The writer: from programs to text that StableHLO's own tools read.

mod form;
mod materialize;
mod text_writer;
mod value_names;

use sapwood_ptir::{Function, InstId, Program};
use sapwood_types::{Loc, LocTable};

use crate::module::{Extras, FunctionExtras, Module, PRIVATE};
use crate::types;

pub(crate) use form::{print_form, write_array};
pub(crate) use sapwood_types::write_mlir_string as write_string;
pub(crate) use text_writer::{TextWriter, write_list, write_results};

/// The size that is reserved for the text of an instruction. Most take more.
const BYTES_PER_INST: usize = 64;

/// The reason why a program cannot be written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// StableHLO has no counterpart of an op.
    #[error("op `{op}` of @{function} cannot be written as StableHLO: {why}")]
    Op {
        /// The op.
        op: String,
        /// The function that has the op.
        function: String,
        /// The reason.
        why: String,
    },
}

/// Writes a module.
///
/// ```
/// use sapwood_types::Source;
///
/// let text = "module @m {\n  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n    \
///             %y = stablehlo.exponential %x : tensor<4xf32>\n    return %y : tensor<4xf32>\n  }\n}\n";
/// let module = sapwood_stablehlo::read(&Source::new("a.mlir", text)).unwrap();
/// assert_eq!(sapwood_stablehlo::write(&module).unwrap(), text);
/// ```
///
/// # Errors
/// If an op has no counterpart in StableHLO.
pub fn write(module: &Module) -> Result<String, WriteError> {
    write_program(&module.program, &module.extras)
}

/// Writes a program with the extras of the module it was read from, or with empty extras. If an instruction or a function has a
/// [location](sapwood_types::Loc), all are written with theirs.
///
/// # Errors
/// If an op has no counterpart in StableHLO.
pub fn write_program(program: &Program, extras: &Extras) -> Result<String, WriteError> {
    let mut out = String::with_capacity(64 + BYTES_PER_INST * program.num_insts());
    out.push_str("module");
    if let Some(name) = &extras.name {
        out.push_str(" @");
        write_symbol(&mut out, name);
    }
    if let Some(attributes) = &extras.attributes {
        out.push_str(" attributes ");
        out.push_str(attributes);
    }
    out.push_str(" {\n");
    let has_locs = program.functions().iter().any(|f| f.has_locs()) || !extras.loc.is_unknown();
    let mut locs = has_locs.then(LocTable::new);
    for function in program.functions() {
        (out, locs) = write_function((out, locs), function, program, extras)?;
    }
    out.push('}');
    if let Some(locs) = &mut locs {
        out.push(' ');
        locs.write_use(&mut out, extras.loc);
    }
    out.push('\n');
    if let Some(locs) = locs {
        locs.write_definitions(&mut out);
    }
    Ok(out)
}

fn write_function(
    (out, locs): (String, Option<LocTable>),
    f: &Function,
    program: &Program,
    extras: &Extras,
) -> Result<(String, Option<LocTable>), WriteError> {
    let materialized = materialize::materialize_dims(f)?;
    let f = materialized.as_ref().unwrap_or(f);
    let mut w = TextWriter::new(out, f, program, extras);
    w.locs = locs;
    let none = FunctionExtras::default();
    let own = extras.functions.get(&f.name()).unwrap_or(&none);
    w.out.push_str("  func.func ");
    let visibility = if f.is_private() { Some(PRIVATE) } else { own.visibility.as_deref() };
    if let Some(visibility) = visibility {
        w.out.push_str(visibility);
        w.out.push(' ');
    }
    w.out.push('@');
    write_symbol(&mut w.out, f.name().as_str());
    w.out.push('(');
    let attributes = |list: &[Option<Box<str>>], i: usize, count: usize| {
        (list.len() == count).then(|| list[i].clone()).flatten()
    };
    for (i, &param) in f.params().iter().enumerate() {
        if i > 0 {
            w.out.push_str(", ");
        }
        w.name_value(param);
        w.write_value(param);
        w.out.push_str(": ");
        w.write_type_of(param);
        if let Some(text) = attributes(&own.params, i, f.params().len()) {
            w.out.push(' ');
            w.out.push_str(&text);
        }
        let loc = own.param_locs.get(i).copied().unwrap_or(Loc::UNKNOWN);
        w.write_loc(if own.params.len() == f.params().len() { loc } else { Loc::UNKNOWN });
    }
    w.out.push(')');
    let results = f.result_types();
    let plain = results.len() == 1 && own.results.iter().all(Option::is_none);
    if !results.is_empty() {
        w.out.push_str(if plain { " -> " } else { " -> (" });
        for (i, ty) in results.iter().enumerate() {
            if i > 0 {
                w.out.push_str(", ");
            }
            types::write(&mut w.out, ty);
            if let Some(text) = attributes(&own.results, i, results.len()) {
                w.out.push(' ');
                w.out.push_str(&text);
            }
        }
        if !plain {
            w.out.push(')');
        }
    }
    if let Some(text) = &own.attributes {
        w.out.push_str(" attributes ");
        w.out.push_str(text);
    }
    w.out.push_str(" {\n");
    w.write_body(f.body())?;
    w.out.push_str("  }");
    w.write_loc(f.span().loc());
    w.out.push('\n');
    Ok((w.out, w.locs))
}

/// Writes the name of a function, in quotes if it is not a word.
pub(crate) fn write_symbol(out: &mut String, name: &str) {
    let first = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    if first && name.bytes().all(crate::cursor::is_name_byte) {
        out.push_str(name);
    } else {
        write_string(out, name);
    }
}

/// Returns the error for an op that cannot be written.
pub(crate) fn unwritable(w: &TextWriter<'_>, inst: InstId, why: impl Into<String>) -> WriteError {
    WriteError::Op {
        op: w.f.op_name(inst).to_owned(),
        function: w.f.name().to_string(),
        why: why.into(),
    }
}
