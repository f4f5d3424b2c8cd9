//! The JSON form of a program: flat, versioned tables.
//!
//! A function is stored as lists of types, values, bodies and instructions that refer to each other by position. Body
//! 0 is the function's own; instructions are in the order of the text. JSON nesting does not grow with the program,
//! so deeply nested programs are harmless.

use std::borrow::Cow;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_types::{
    DataType, Diagnostic, Diagnostics, Loc, LocTable, Span, did_you_mean, read_hex, read_locs,
    write_hex,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value as Json, json};
use smallvec::SmallVec;

use crate::attr::{Attr, AttrKind, MAX_ATTR_DEPTH};
use crate::dims::{DimExpr, Facts, Relation};
use crate::func::Function;
use crate::ids::{BodyId, TypeId, ValueId};
use crate::literal::TensorLiteral;
use crate::name::Name;
use crate::op::{OpKey, Registry};
use crate::program::Program;
use crate::text::parse_type_text;
use crate::verify;

/// The version of the JSON form that is written. Older versions are read, newer ones are refused.
pub const JSON_VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
struct JsonHeader {
    format: String,
    version: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonProgram<'a> {
    format: String,
    version: u64,
    functions: Vec<JsonFunction<'a>>,
    /// The locations, as text; `#loc7` is the one at position 7. Nested ones are before those that contain them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    locs: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonFunction<'a> {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extracted_from: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    private: bool,
    /// The facts that the function assumes: `?B >= 1`.
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty")]
    facts: Vec<String>,
    /// The comment lines before the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    /// The position of its location in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loc: Option<usize>,
    types: Vec<String>,
    results: Vec<usize>,
    values: Vec<JsonValue<'a>>,
    bodies: Vec<Vec<usize>>,
    ops: Vec<String>,
    insts: Vec<JsonInst>,
}

/// The type and the name of a value.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonValue<'a> {
    #[serde(rename = "type")]
    ty: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonInst {
    op: usize,
    body: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    operands: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    results: Vec<usize>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    attrs: Map<String, Json>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    regions: Vec<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loc: Option<usize>,
}

/// Writes a program as JSON.
#[must_use]
pub fn to_json(program: &Program) -> String {
    let mut table = LocTable::new();
    let functions = program.functions().iter().map(|f| write_function(f, &mut table)).collect();
    let locs = table.texts().collect();
    let file = JsonProgram { format: "ptir".into(), version: JSON_VERSION, functions, locs };
    // The data consists of strings, numbers and lists, so serialization cannot fail.
    serde_json::to_string(&file).unwrap_or_default()
}

fn write_function<'a>(f: &'a Function, locs: &mut LocTable) -> JsonFunction<'a> {
    let mut loc = |span: Span| Some(span.loc()).filter(|l| !l.is_unknown()).map(|l| locs.number(l));
    let function_loc = loc(f.span());
    let mut types: Vec<String> = Vec::new();
    let mut type_index: HashMap<TypeId, usize, FxBuildHasher> = HashMap::default();
    let mut ops: Vec<String> = Vec::new();
    let mut op_index: HashMap<OpKey, usize, FxBuildHasher> = HashMap::default();
    let mut value_index = vec![usize::MAX; f.value_capacity()];
    let mut body_index = vec![usize::MAX; f.body_capacity()];
    let mut values = Vec::new();
    let mut bodies: Vec<Vec<usize>> = Vec::new();
    let mut insts = Vec::new();
    let mut type_of = |id: TypeId| {
        *type_index.entry(id).or_insert_with(|| {
            types.push(f.type_by_id(id).to_string());
            types.len() - 1
        })
    };
    let mut value = |v: ValueId, type_of: &mut dyn FnMut(TypeId) -> usize| {
        value_index[v.index()] = values.len();
        values.push(JsonValue { ty: type_of(f.type_id(v)), name: f.hint(v).map(Into::into) });
        values.len() - 1
    };
    body_index[f.body().index()] = 0;
    bodies.push(f.params().iter().map(|&v| value(v, &mut type_of)).collect());
    // Values are numbered during the walk, so operands are written after it.
    let mut operands = Vec::new();
    for inst in f.walk() {
        let results = f.inst_results(inst).map(|v| value(v, &mut type_of)).collect();
        for &body in f.regions(inst) {
            body_index[body.index()] = bodies.len();
            bodies.push(f.body_params(body).iter().map(|&v| value(v, &mut type_of)).collect());
        }
        let key = f.op_key(inst);
        let op = *op_index.entry(key).or_insert_with(|| {
            ops.push(key.name().into());
            ops.len() - 1
        });
        let body = f.body_of(inst).map_or(0, |b| body_index[b.index()]);
        let regions = f.regions(inst).iter().map(|b| body_index[b.index()]).collect();
        operands.push(inst);
        insts.push(JsonInst {
            op,
            body,
            operands: Vec::new(),
            results,
            attrs: write_attrs(f, inst),
            regions,
            comment: f.comment(inst).map(Into::into),
            loc: loc(f.inst_span(inst)),
        });
    }
    let results = f.result_ids().iter().map(|&id| type_of(id)).collect();
    for (inst, id) in insts.iter_mut().zip(operands) {
        inst.operands = f.operands(id).iter().map(|v| value_index[v.index()]).collect();
    }
    JsonFunction {
        name: f.name().as_str().into(),
        extracted_from: f.extracted_from().map(|name| name.as_str().into()),
        private: f.is_private() && f.extracted_from().is_none(),
        facts: f.facts().into_iter().flat_map(Facts::relations).map(|r| r.to_string()).collect(),
        comment: f.leading_comment().map(Into::into),
        loc: function_loc,
        types,
        results,
        values,
        bodies,
        ops,
        insts,
    }
}

/// Returns the attributes of an instruction as a JSON object, without those that have their default value.
#[must_use]
pub fn attrs_to_json(function: &Function, inst: crate::ids::InstId) -> String {
    Json::Object(write_attrs(function, inst)).to_string()
}

/// Reads the attributes of an op from a JSON object, in the order of its definition, with defaults filled in. An empty text is an
/// empty object.
///
/// # Errors
/// If the text is not an object of attributes of the op.
pub fn attrs_from_json(def: &crate::op::OpDef, text: &str) -> Result<Vec<Attr>, String> {
    let text = if text.is_empty() { "{}" } else { text };
    let map: Map<String, Json> = serde_json::from_str(text).map_err(|e| e.to_string())?;
    read_attrs(Some(def), &map)
}

fn write_attrs(f: &Function, inst: crate::ids::InstId) -> Map<String, Json> {
    let attrs = f.attrs(inst);
    match f.op_def(inst) {
        Some(def) => def
            .attrs
            .iter()
            .zip(attrs.iter())
            .filter(|(row, attr)| {
                row.kind != AttrKind::ResultType && row.default.as_ref() != Some(*attr)
            })
            .map(|(row, attr)| (row.name.into(), write_attr(attr)))
            .collect(),
        None => match attrs.first() {
            Some(Attr::Dict(entries)) => {
                entries.iter().map(|(k, v)| (k.as_str().into(), write_attr(v))).collect()
            }
            _ => Map::new(),
        },
    }
}

fn write_attr(attr: &Attr) -> Json {
    match attr {
        Attr::Unit => Json::Null,
        Attr::Bool(b) => json!(b),
        Attr::Int(n) => json!(n),
        Attr::Float(bits) => match Number::from_f64(bits.get()) {
            Some(number) => json!({ "float": number }),
            None => json!({ "float": format!("0x{:016x}", bits.0) }),
        },
        Attr::Str(text) => json!(&**text),
        Attr::Word(name) => json!({ "word": name.as_str() }),
        Attr::Func(name) => json!({ "func": name.as_str() }),
        Attr::Type(dtype) => json!({ "dtype": dtype.short_name() }),
        Attr::Ints(list) => json!(&list[..]),
        Attr::Dim(expr) => json!({ "dim": expr.to_string() }),
        Attr::List(items) => items.iter().map(write_attr).collect(),
        Attr::Dict(entries) => {
            let map: Map<String, Json> =
                entries.iter().map(|(k, v)| (k.as_str().into(), write_attr(v))).collect();
            json!({ "dict": map })
        }
        Attr::Literal(literal) => {
            let mut hex = String::new();
            write_hex(&mut hex, literal.stored_bytes());
            let splat = literal.as_splat().is_some();
            json!({ "literal": {
                "dtype": literal.dtype().short_name(), "shape": literal.shape(), "splat": splat, "hex": hex,
            } })
        }
    }
}

/// Reads and verifies a program of built-in ops.
///
/// # Errors
/// If the JSON is malformed or the program is invalid, with all problems found.
pub fn from_json(text: &str) -> Result<Program, Diagnostics> {
    from_json_with(text, &Registry::builtin())
}

/// Reads and verifies a program of the ops in a registry.
///
/// # Errors
/// If the JSON is malformed or the program is invalid, with all problems found.
pub fn from_json_with(text: &str, registry: &Arc<Registry>) -> Result<Program, Diagnostics> {
    let malformed = |error: &serde_json::Error| {
        let (line, column) = (error.line() as u32, (error.column() as u32).max(1));
        let span = Span::new("", line, column, line, column.saturating_add(1));
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
        Diagnostics::from(Diagnostic::error(span, format!("not a PTIR program: {message}")))
    };
    // A byte order mark is not part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let head: JsonHeader = serde_json::from_str(text).map_err(|e| malformed(&e))?;
    let refuse = |message: String| Diagnostics::from(Diagnostic::error(Span::unknown(), message));
    if head.format != "ptir" {
        return Err(refuse(format!("the format is `{}`, expected `ptir`", head.format)));
    }
    if head.version == 0 || head.version > JSON_VERSION {
        return Err(refuse(format!(
            "unsupported version {} of the JSON form; expected 1 to {JSON_VERSION}",
            head.version
        )));
    }
    let file: JsonProgram<'_> = serde_json::from_str(text).map_err(|e| malformed(&e))?;
    let mut program = Program::new(registry.clone());
    let mut problems = Diagnostics::new();
    let locs = read_locs(&file.locs)
        .map_err(|(n, error)| refuse(format!("locs[{n}]: {}", error.message)))?;
    for (n, json) in file.functions.iter().enumerate() {
        let mut reader =
            JsonReader { path: format!("functions[{n}]"), problems: &mut problems, locs: &locs };
        let Some(function) = reader.read_function(json, registry) else { continue };
        verify::check_function(&function, &mut problems, &verify::UnreadParts::default());
        if let Err(error) = program.add(function) {
            problems.error(Span::unknown(), error.to_string());
        }
    }
    verify::check_calls(&program, &mut problems, &HashMap::default());
    problems.into_result(program)
}

struct JsonReader<'a> {
    path: String,
    problems: &'a mut Diagnostics,
    locs: &'a [Loc],
}

impl JsonReader<'_> {
    fn fail<T>(&mut self, at: &str, message: &str) -> Option<T> {
        self.problems.error(Span::unknown(), format!("{}{at}: {message}", self.path));
        None
    }

    // Returns a span without a place, with the location at a position of the list.
    fn span_with_loc(&mut self, at: &str, position: Option<usize>) -> Option<Span> {
        let Some(position) = position else { return Some(Span::unknown()) };
        match self.locs.get(position) {
            Some(&loc) => Some(Span::unknown().with_loc(loc)),
            None => {
                let count = self.locs.len();
                self.fail(at, &format!("location {position} is out of range, there are {count}"))
            }
        }
    }

    fn read_function(
        &mut self,
        json: &JsonFunction<'_>,
        registry: &Arc<Registry>,
    ) -> Option<Function> {
        let mut f = Function::new(json.name.as_str(), registry.clone());
        f.set_extracted_from(json.extracted_from.as_deref().map(Name::new));
        f.set_private(json.private);
        let mut facts = Facts::new();
        for (i, text) in json.facts.iter().enumerate() {
            let relation = text.parse::<Relation>().map_err(|error| error.to_string());
            let assumed = relation.and_then(|r| facts.assume(r).map_err(|error| error.to_string()));
            if let Err(why) = assumed {
                return self.fail(&format!(".where[{i}]"), &why);
            }
        }
        f.set_facts(facts);
        f.set_leading_comment(json.comment.as_deref());
        f.set_span(self.span_with_loc("", json.loc)?);
        let mut types = Vec::new();
        for (i, text) in json.types.iter().enumerate() {
            match parse_type_text(text) {
                Ok(ty) => types.push(f.dfg.types.intern(&ty)),
                Err(why) => return self.fail(&format!(".types[{i}]"), &why),
            }
        }
        let out_of = |what: &str, i: usize, len: usize| {
            format!("{what} {i} is out of range, there are {len}")
        };
        let mut results = Vec::new();
        for (i, &t) in json.results.iter().enumerate() {
            match types.get(t) {
                Some(&ty) => results.push(ty),
                None => {
                    return self.fail(&format!(".results[{i}]"), &out_of("type", t, types.len()));
                }
            }
        }
        f.set_result_ids(results);
        let mut value_types = Vec::new();
        for (i, value) in json.values.iter().enumerate() {
            match types.get(value.ty) {
                Some(&ty) => value_types.push(ty),
                None => {
                    return self
                        .fail(&format!(".values[{i}]"), &out_of("type", value.ty, types.len()));
                }
            }
        }
        let mut values: Vec<Option<ValueId>> = vec![None; json.values.len()];
        if json.bodies.is_empty() {
            return self.fail(".bodies", "expected at least one body");
        }
        let mut bodies = vec![f.body()];
        bodies.extend((1..json.bodies.len()).map(|_| f.create_body()).collect::<Vec<_>>());
        for (b, params) in json.bodies.iter().enumerate() {
            for (i, &v) in params.iter().enumerate() {
                let Some(&ty) = value_types.get(v) else {
                    return self.fail(
                        &format!(".bodies[{b}][{i}]"),
                        &out_of("value", v, value_types.len()),
                    );
                };
                let value = f.push_param_id(bodies[b], ty);
                if let Err(why) = define_value(&mut f, &mut values, json, v, value) {
                    return self.fail(&format!(".bodies[{b}][{i}]"), &why);
                }
            }
        }
        // A body accepts instructions only after its owner was read, and gets only one owner, so bodies form a tree.
        let mut attached = vec![false; bodies.len()];
        attached[0] = true;
        for (n, inst) in json.insts.iter().enumerate() {
            let at = format!(".insts[{n}]");
            let Some(name) = json.ops.get(inst.op) else {
                return self.fail(&at, &out_of("op", inst.op, json.ops.len()));
            };
            if attached.get(inst.body) != Some(&true) {
                return self.fail(&at, &format!("body {} does not exist here", inst.body));
            }
            let def = registry.by_name(name);
            if def.is_none() && !(name.contains('.') && crate::text::is_word(name)) {
                let near = did_you_mean(name, registry.defs().map(|d| d.name));
                return self.fail(&at, &format!("unknown op `{name}`{}", suggestion(near)));
            }
            let mut operands: SmallVec<[ValueId; 4]> = SmallVec::new();
            for &v in &inst.operands {
                match values.get(v).copied().flatten() {
                    Some(value) => operands.push(value),
                    None => {
                        return self.fail(&at, &format!("operand {v} is not defined before it"));
                    }
                }
            }
            let mut regions: SmallVec<[BodyId; 2]> = SmallVec::new();
            for &b in &inst.regions {
                if attached.get(b) != Some(&false) {
                    return self
                        .fail(&at, &format!("body {b} does not exist or has an owner already"));
                }
                attached[b] = true;
                regions.push(bodies[b]);
            }
            let mut result_types: SmallVec<[TypeId; 2]> = SmallVec::new();
            for &v in &inst.results {
                match value_types.get(v) {
                    Some(&ty) => result_types.push(ty),
                    None => return self.fail(&at, &out_of("value", v, value_types.len())),
                }
            }
            let attrs = match read_attrs(def, &inst.attrs) {
                Ok(attrs) => attrs,
                Err(why) => return self.fail(&at, &format!("{name}: {why}")),
            };
            let key = def.map_or_else(|| OpKey::of(name), |d| d.key);
            let attrs = f.dfg.attrs.intern_vec(attrs);
            let span = self.span_with_loc(&at, inst.loc)?;
            let inst_id = f.create_inst(key, attrs, &operands, &regions, &result_types, span);
            f.layout.link_last(inst_id, bodies[inst.body]);
            f.set_comment(inst_id, inst.comment.as_deref());
            let results: Vec<ValueId> = f.inst_results(inst_id).collect();
            for (&v, value) in inst.results.iter().zip(results) {
                if let Err(why) = define_value(&mut f, &mut values, json, v, value) {
                    return self.fail(&at, &why);
                }
            }
        }
        if let Some(b) = attached.iter().position(|a| !a) {
            return self.fail(&format!(".bodies[{b}]"), "no instruction owns it");
        }
        f.layout.relabel_body(f.body());
        Some(f)
    }
}

fn define_value(
    f: &mut Function,
    values: &mut [Option<ValueId>],
    json: &JsonFunction<'_>,
    i: usize,
    value: ValueId,
) -> Result<(), String> {
    if values[i].replace(value).is_some() {
        return Err(format!("value {i} is defined twice"));
    }
    if let Some(name) = &json.values[i].name {
        f.set_hint(value, name);
    }
    Ok(())
}

fn read_attrs(
    def: Option<&crate::op::OpDef>,
    map: &Map<String, Json>,
) -> Result<Vec<Attr>, String> {
    let Some(def) = def else {
        let entries = map.iter().map(|(k, v)| Ok((Name::new(k), read_attr(v, 0)?)));
        return Ok(vec![Attr::dict(entries.collect::<Result<_, String>>()?)]);
    };
    if let Some(unknown) = map.keys().find(|k| !def.attrs.iter().any(|a| a.name == k.as_str())) {
        let near = did_you_mean(unknown, def.attrs.iter().map(|a| a.name));
        return Err(format!("it has no attribute `{unknown}`{}", suggestion(near)));
    }
    let one = |row: &crate::op::AttrDef| match map.get(row.name) {
        None => row.default.clone().ok_or_else(|| format!("it needs the attribute `{}`", row.name)),
        Some(json) => {
            let attr = read_attr(json, 0)?;
            if attr == Attr::Unit && row.default == Some(Attr::Unit) {
                return Ok(attr);
            }
            let found = attr.describe();
            row.kind.coerce(attr).ok_or_else(|| {
                format!("attribute `{}` must be {}, found {found}", row.name, row.kind.describe())
            })
        }
    };
    def.attrs.iter().map(one).collect()
}

fn suggestion(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

fn read_attr(json: &Json, depth: usize) -> Result<Attr, String> {
    if depth > MAX_ATTR_DEPTH {
        return Err(format!("attributes nest at most {MAX_ATTR_DEPTH} deep"));
    }
    match json {
        Json::Null => Ok(Attr::Unit),
        Json::Bool(b) => Ok(Attr::Bool(*b)),
        Json::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(n), _) => Ok(Attr::Int(n)),
            (None, Some(x)) if n.is_f64() => Ok(Attr::float(x)),
            _ => Err(format!("{n} does not fit a 64-bit integer")),
        },
        Json::String(text) => Ok(Attr::Str(text.as_str().into())),
        Json::Array(items) => Ok(Attr::list(
            items.iter().map(|item| read_attr(item, depth + 1)).collect::<Result<_, _>>()?,
        )),
        Json::Object(map) => {
            let mut entries = map.iter();
            let (Some((tag, value)), None) = (entries.next(), entries.next()) else {
                return Err(format!("an attribute object has one key, found {}", map.len()));
            };
            read_tagged(tag, value, depth)
        }
    }
}

fn read_tagged(tag: &str, value: &Json, depth: usize) -> Result<Attr, String> {
    let wrong = || format!("malformed `{tag}`: {}", shorten_json(value));
    let text = || value.as_str().ok_or_else(wrong);
    match tag {
        "float" => match value {
            Json::Number(n) => n.as_f64().map(Attr::float).ok_or_else(wrong),
            _ => {
                let digits =
                    text()?.strip_prefix("0x").filter(|d| d.len() == 16).ok_or_else(wrong)?;
                u64::from_str_radix(digits, 16)
                    .map(|bits| Attr::float(f64::from_bits(bits)))
                    .map_err(|_| wrong())
            }
        },
        "word" => Ok(Attr::word(text()?)),
        "func" => Ok(Attr::Func(Name::new(text()?))),
        "dtype" => text()?.parse::<DataType>().map(Attr::Type).map_err(|e| e.to_string()),
        "dim" => {
            let expr = text()?.parse::<DimExpr>().map_err(|error| error.to_string())?;
            match expr.as_constant() {
                None => Ok(Attr::Dim(expr)),
                Some(n) => Err(format!("`dim` is {n}, expected an expression over symbols")),
            }
        }
        "dict" => {
            let map = value.as_object().ok_or_else(wrong)?;
            let entries = map.iter().map(|(k, v)| Ok((Name::new(k), read_attr(v, depth + 1)?)));
            Ok(Attr::dict(entries.collect::<Result<_, String>>()?))
        }
        "literal" => {
            let dtype = value["dtype"]
                .as_str()
                .ok_or_else(wrong)?
                .parse::<DataType>()
                .map_err(|e| e.to_string())?;
            let shape = value["shape"].as_array().ok_or_else(wrong)?;
            let shape: Vec<u64> =
                shape.iter().map(Json::as_u64).collect::<Option<_>>().ok_or_else(wrong)?;
            let bytes = value["hex"].as_str().and_then(read_hex).ok_or_else(wrong)?;
            let literal = if value["splat"].as_bool().ok_or_else(wrong)? {
                TensorLiteral::splat(dtype, &shape, &bytes)
            } else {
                TensorLiteral::new(dtype, &shape, &bytes)
            };
            literal.map(Attr::Literal).map_err(|e| e.to_string())
        }
        _ => Err(format!("unknown kind of attribute `{tag}`")),
    }
}

fn shorten_json(value: &Json) -> String {
    value.to_string().chars().take(40).collect()
}
