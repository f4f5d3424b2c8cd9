//! The JSON form of extras, which accompanies the JSON form of a program.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Function, InstId, Name, Program};
use sapwood_types::{Loc, LocAliases, Span};
use serde::{Deserialize, Serialize};

use crate::module::{Extras, FunctionExtras, OpExtras, PRIVATE};

/// The version of the JSON form that is written.
const VERSION: u32 = 1;

/// The JSON form of [`Extras`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonExtras {
    version: u32,
    name: Option<Box<str>>,
    attributes: Option<Box<str>>,
    /// The location of the module, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loc: Option<Box<str>>,
    functions: Vec<JsonFunction>,
}

/// The JSON form of [`FunctionExtras`], with the extras of the ops in the function.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonFunction {
    name: Box<str>,
    visibility: Option<Box<str>>,
    params: Vec<Option<Box<str>>>,
    results: Vec<Option<Box<str>>>,
    attributes: Option<Box<str>>,
    /// The locations of parameters, as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    param_locs: Vec<Box<str>>,
    ops: Vec<JsonOp>,
}

/// The JSON form of [`OpExtras`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonOp {
    op: Box<str>,
    attributes: Box<str>,
    /// The span of the op: file, line, column, last line, last column.
    at: (Box<str>, u32, u32, u32, u32),
    /// The instructions that the op became, by their positions in the function.
    insts: Vec<usize>,
}

impl Extras {
    /// Returns the extras that belong to `program` as JSON.
    #[must_use]
    pub fn to_json(&self, program: &Program) -> String {
        let functions = program.functions().iter().map(|f| self.function_to_json(f)).collect();
        let written = JsonExtras {
            version: VERSION,
            name: self.name.clone(),
            attributes: self.attributes.clone(),
            loc: (!self.loc.is_unknown()).then(|| self.loc.to_string().into()),
            functions,
        };
        // Strings, numbers and lists only: this cannot fail.
        serde_json::to_string(&written).unwrap_or_default()
    }

    fn function_to_json(&self, f: &Function) -> JsonFunction {
        let own = self.functions.get(&f.name()).cloned().unwrap_or_default();
        let FunctionExtras { visibility, params, results, param_locs, attributes } = own;
        let param_locs = param_locs.iter().map(|loc| loc.to_string().into()).collect();
        let mut ops: Vec<JsonOp> = Vec::new();
        let mut known: HashMap<Span, usize, FxBuildHasher> = HashMap::default();
        for (position, inst) in f.walk().enumerate() {
            let span = f.inst_span(inst).without_loc();
            let Some(OpExtras { op, attributes }) = self.ops.get(&span) else { continue };
            let index = *known.entry(span).or_insert(ops.len());
            if index == ops.len() {
                let (op, attributes) = (op.clone(), attributes.clone());
                ops.push(JsonOp { op, attributes, at: span_to_json(span), insts: Vec::new() });
            }
            ops[index].insts.push(position);
        }
        let name = f.name().as_str().into();
        JsonFunction { name, visibility, params, results, attributes, param_locs, ops }
    }

    /// Reads the output of [`Extras::to_json`] and sets the spans of the instructions of `program`, which must have its
    /// instructions in the order they had when the JSON was written.
    ///
    /// # Errors
    /// If the text is not in this form, or names functions or instructions that `program` does not have.
    pub fn from_json(text: &str, program: &mut Program) -> Result<Self, String> {
        let written: JsonExtras = serde_json::from_str(text)
            .map_err(|error| format!("the text is not StableHLO extras: {error}"))?;
        if written.version != VERSION {
            let found = written.version;
            return Err(format!(
                "the StableHLO extras have version {found}, expected version {VERSION}"
            ));
        }
        let (name, attributes) = (written.name, written.attributes);
        let loc = written.loc.map_or(Ok(Loc::UNKNOWN), |text| read_loc(&text))?;
        let mut extras = Self { name, attributes, loc, ..Self::default() };
        for json in written.functions {
            extras.read_function(json, program)?;
        }
        Ok(extras)
    }

    fn read_function(&mut self, json: JsonFunction, program: &mut Program) -> Result<(), String> {
        let name = Name::new(&json.name);
        if program.function(name).is_none() {
            return Err(format!(
                "StableHLO extras name the function @{name}, which the program does not have"
            ));
        }
        if !json.ops.is_empty()
            && let Some(f) = program.function_mut(name)
        {
            let insts: Vec<InstId> = f.walk().collect();
            for JsonOp { op, attributes, at, insts: positions } in json.ops {
                let span = Span::new(&*at.0, at.1, at.2, at.3, at.4);
                for position in positions {
                    let &inst = insts.get(position).ok_or_else(|| {
                        let count = insts.len();
                        format!(
                            "StableHLO extras name instruction {position} of @{name}, which has {count}"
                        )
                    })?;
                    f.set_inst_span(inst, span.with_loc(f.inst_span(inst).loc()));
                }
                self.ops.insert(span, OpExtras { op, attributes });
            }
        }
        let JsonFunction { mut visibility, params, results, attributes, param_locs, .. } = json;
        let param_locs = param_locs.iter().map(|text| read_loc(text)).collect::<Result<_, _>>()?;
        // Older versions wrote the visibility here.
        if visibility.as_deref() == Some(PRIVATE)
            && let Some(f) = program.function_mut(name)
        {
            f.set_private(true);
            visibility = None;
        }
        let own = FunctionExtras { visibility, params, results, param_locs, attributes };
        self.functions.insert(name, own);
        Ok(())
    }

    /// Returns whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.name.is_none()
            && self.loc.is_unknown()
            && self.attributes.is_none()
            && self.functions.is_empty()
            && self.ops.is_empty()
    }
}

fn read_loc(text: &str) -> Result<Loc, String> {
    let text = format!("({text})");
    let read = LocAliases::new().read(&text, 0);
    read.map(|(loc, _)| loc).map_err(|error| {
        format!("malformed location in StableHLO extras: {}: {text}", error.message)
    })
}

fn span_to_json(span: Span) -> (Box<str>, u32, u32, u32, u32) {
    let file = span.filename().into();
    (file, span.begin_line(), span.begin_column(), span.end_line(), span.end_column())
}
