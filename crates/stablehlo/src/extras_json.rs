//! The JSON form of extras, which accompanies the JSON form of a program.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Function, InstId, Name, Program};
use sapwood_types::{Loc, LocTable, Span, read_locs};
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
    /// The location of the module, by its position in `locs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loc: Option<usize>,
    functions: Vec<JsonFunction>,
    /// The texts of the locations, as in the JSON form of a program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    locs: Vec<String>,
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
    /// The locations of parameters, by their positions in `locs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    param_locs: Vec<usize>,
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
        let mut table = LocTable::new();
        let loc = (!self.loc.is_unknown()).then(|| table.number(self.loc));
        let functions =
            program.functions().iter().map(|f| self.function_to_json(f, &mut table)).collect();
        let written = JsonExtras {
            version: VERSION,
            name: self.name.clone(),
            attributes: self.attributes.clone(),
            loc,
            functions,
            locs: table.texts().collect(),
        };
        // Strings, numbers and lists only: this cannot fail.
        serde_json::to_string(&written).unwrap_or_default()
    }

    fn function_to_json(&self, f: &Function, table: &mut LocTable) -> JsonFunction {
        let own = self.functions.get(&f.name()).cloned().unwrap_or_default();
        let FunctionExtras { visibility, params, results, param_locs, attributes } = own;
        let param_locs = param_locs.iter().map(|&loc| table.number(loc)).collect();
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
        let locs = read_locs(&written.locs).map_err(|(n, error)| {
            format!("malformed location {n} in StableHLO extras: {}", error.message)
        })?;
        let loc = written.loc.map_or(Ok(Loc::UNKNOWN), |position| loc_at(&locs, position))?;
        let mut extras = Self { name, attributes, loc, ..Self::default() };
        for json in written.functions {
            extras.read_function(json, &locs, program)?;
        }
        Ok(extras)
    }

    fn read_function(
        &mut self,
        json: JsonFunction,
        locs: &[Loc],
        program: &mut Program,
    ) -> Result<(), String> {
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
        let param_locs = param_locs.iter().map(|&n| loc_at(locs, n)).collect::<Result<_, _>>()?;
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

fn loc_at(locs: &[Loc], position: usize) -> Result<Loc, String> {
    let count = locs.len();
    locs.get(position)
        .copied()
        .ok_or_else(|| format!("StableHLO extras name location {position}, but there are {count}"))
}

fn span_to_json(span: Span) -> (Box<str>, u32, u32, u32, u32) {
    let file = span.filename().into();
    (file, span.begin_line(), span.begin_column(), span.end_line(), span.end_column())
}

#[cfg(test)]
mod tests {
    use sapwood_types::{LocKind, Source};

    use super::*;

    #[test]
    fn large_and_shared_locations_are_kept_whole() {
        let text = "module {\nfunc.func @f(%x: tensor<f32> loc(\"x\")) -> tensor<f32> {\nreturn %x : tensor<f32>\n}\n} loc(\"m\")\n";
        let mut module = crate::read(&Source::new("a.mlir", text)).unwrap();
        let mut deep = Loc::new(LocKind::Name { name: "leaf", child: Loc::UNKNOWN });
        for n in 0..20_000 {
            deep = Loc::new(LocKind::Name { name: &format!("n{n}"), child: deep });
        }
        // Each location is used twice by the next: without sharing, the text would have 2^200 parts.
        let mut shared = deep;
        for _ in 0..200 {
            shared = Loc::new(LocKind::Fused { metadata: "", locs: &[shared, shared] });
        }
        module.extras.loc = deep;
        let name = module.program.functions()[0].name();
        module.extras.functions.get_mut(&name).unwrap().param_locs = vec![shared];
        let json = module.extras.to_json(&module.program);
        let back = Extras::from_json(&json, &mut module.program).unwrap();
        assert_eq!((back.loc, &*back.functions[&name].param_locs), (deep, &[shared][..]));
    }

    #[test]
    fn malformed_locations_are_refused() {
        let mut module = crate::read(&Source::new("a.mlir", "module {\n} loc(\"m\")\n")).unwrap();
        let json = module.extras.to_json(&module.program);
        for (from, to, message) in [
            ("\\\"m\\\"", "\\\"m\\\") trailing (", "expected one location"),
            ("\\\"m\\\"", "m", "expected a location"),
            ("\"loc\":0", "\"loc\":3", "name location 3, but there are 1"),
        ] {
            assert!(json.contains(from), "{json}");
            let error =
                Extras::from_json(&json.replace(from, to), &mut module.program).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
