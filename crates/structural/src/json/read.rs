//! Reads graphs from JSON: the table of types, then one node per row, each built from earlier rows.

use std::borrow::Cow;

use sapwood_types::{counted, read_hex};

use super::error::{GraphRowLocation, JsonReadError};
use super::lexer::{JsonLexer, JsonToken, truncate};
use super::{JSON_VERSION, MAX_LIST_NESTING};
use crate::dynamic_types::TypeRegistry;
use crate::error::{BuildError, TypeError};
use crate::kind::NodeKind;
use crate::node::Field;
use crate::reference::AnyRef;
use crate::singletons::ConstructError;
use crate::type_info::{ChildLayout, TypeInfo};
use crate::values::{BigInt, Bytes, Tensor, Value};

/// Reads a value from the JSON of [`crate::write_json`], with the types of `registry`.
///
/// Fields are matched by name: fields of the registered type that the text does not list take their defaults.
/// Singletons come from their `get`. Memory is proportional to the length of the text, whatever it contains,
/// and nothing recurses on the graph.
///
/// Singletons, and the file names of spans, stay in memory for the life of the process once they are read.
/// Reading many different ones from untrusted texts uses memory that is never freed.
///
/// # Errors
/// Reports where the text is not JSON, or which row and field does not fit its type.
pub fn read_json<T: Field>(text: &str, registry: &TypeRegistry) -> Result<T, JsonReadError> {
    let parts = DocumentParts::find(text)?;
    let types = read_types(parts.types, registry)?;
    let mut reader = GraphReader { types, rows: Vec::new(), row: None, field: None };
    reader.read_rows(parts.nodes)?;
    let mut root = parts.root;
    let value = reader.read_child(&mut root, MAX_LIST_NESTING)?;
    T::from_value(value).map_err(|error| reader.build_error(error.into()))
}

/// The start of each part of the document. Their order is free, so they are located first.
struct DocumentParts<'t> {
    types: JsonLexer<'t>,
    nodes: JsonLexer<'t>,
    root: JsonLexer<'t>,
}

impl<'t> DocumentParts<'t> {
    fn find(text: &'t str) -> Result<Self, JsonReadError> {
        const NAMES: [&str; 4] = ["sapwood-graph", "types", "nodes", "root"];
        let mut lexer = JsonLexer::new(text);
        let mut found: [Option<JsonLexer<'t>>; 4] = [None; 4];
        lexer.expect(b'{', "`{`")?;
        let mut more = !lexer.take_if(b'}');
        while more {
            lexer.peek_byte();
            let before = lexer;
            let key = lexer.key()?;
            let Some(part) = NAMES.iter().position(|name| *name == key) else {
                return Err(before.syntax_error("one of sapwood-graph, types, nodes, root"));
            };
            if found[part].replace(lexer).is_some() {
                return Err(duplicate_key(&before, &key));
            }
            lexer.skip_value()?;
            // A newer version may look quite different, so report the version before anything else.
            if let (0, Some(mut version)) = (part, found[0]) {
                check_version(&mut version)?;
            }
            more = lexer.next_element(b'}')?;
        }
        if lexer.next()? != JsonToken::End {
            return Err(lexer.syntax_error("the end"));
        }
        let part = |index: usize| found[index].ok_or(JsonReadError::Missing(NAMES[index]));
        part(0)?;
        Ok(Self { types: part(1)?, nodes: part(2)?, root: part(3)? })
    }
}

fn duplicate_key(at: &JsonLexer<'_>, key: &str) -> JsonReadError {
    let (line, column) = at.line_column();
    JsonReadError::DuplicateKey { line, column, key: truncate(key) }
}

fn check_version(lexer: &mut JsonLexer<'_>) -> Result<(), JsonReadError> {
    let before = *lexer;
    let version = match lexer.next()? {
        JsonToken::Number(digits) => digits.parse::<u64>().ok(),
        _ => None,
    };
    match version {
        None | Some(0) => Err(before.syntax_error("the number of a version")),
        Some(found) if found > JSON_VERSION => {
            Err(JsonReadError::Version { found, known: JSON_VERSION })
        }
        Some(_) => Ok(()),
    }
}

/// A type, and the field index of each child of its rows.
struct RowType {
    info: &'static TypeInfo,
    fields: Vec<usize>,
}

fn read_types(
    mut lexer: JsonLexer<'_>,
    registry: &TypeRegistry,
) -> Result<Vec<RowType>, JsonReadError> {
    let mut types: Vec<RowType> = Vec::new();
    let mut seen = hashbrown::HashSet::<&str, rustc_hash::FxBuildHasher>::default();
    lexer.expect(b'[', "the list of types")?;
    let mut more = !lexer.take_if(b']');
    while more {
        let index = types.len();
        let (key, names) = read_type(&mut lexer)?;
        let wrong = |error| JsonReadError::Type { index, error };
        let info = registry.get(&key).map_err(wrong)?;
        if !seen.insert(info.key()) {
            return Err(wrong(TypeError::Duplicate(key.into_owned())));
        }
        let fields = match_fields(index, info, &names)?;
        types.push(RowType { info, fields });
        more = lexer.next_element(b']')?;
    }
    Ok(types)
}

/// Reads the key of a type and the names of its fields.
fn read_type<'t>(
    lexer: &mut JsonLexer<'t>,
) -> Result<(Cow<'t, str>, Vec<Cow<'t, str>>), JsonReadError> {
    let (mut key, mut names) = (None, None);
    let start = *lexer;
    lexer.expect(b'{', "a type")?;
    let mut more = !lexer.take_if(b'}');
    while more {
        lexer.peek_byte();
        let before = *lexer;
        let name = lexer.key()?;
        let duplicate = match &*name {
            "key" => key.replace(read_text(lexer)?).is_some(),
            "fields" => names.replace(read_names(lexer)?).is_some(),
            _ => return Err(before.syntax_error("key or fields")),
        };
        if duplicate {
            return Err(duplicate_key(&before, &name));
        }
        more = lexer.next_element(b'}')?;
    }
    let key = key.ok_or_else(|| start.syntax_error("a type with a key"))?;
    Ok((key, names.unwrap_or_default()))
}

fn read_names<'t>(lexer: &mut JsonLexer<'t>) -> Result<Vec<Cow<'t, str>>, JsonReadError> {
    let mut names = Vec::new();
    lexer.expect(b'[', "a list of field names")?;
    let mut more = !lexer.take_if(b']');
    while more {
        names.push(read_text(lexer)?);
        more = lexer.next_element(b']')?;
    }
    Ok(names)
}

fn read_text<'t>(lexer: &mut JsonLexer<'t>) -> Result<Cow<'t, str>, JsonReadError> {
    let before = *lexer;
    match lexer.next()? {
        JsonToken::Text(text) => Ok(text),
        _ => Err(before.syntax_error("a string")),
    }
}

fn match_fields(
    index: usize,
    info: &'static TypeInfo,
    names: &[Cow<'_, str>],
) -> Result<Vec<usize>, JsonReadError> {
    let mut given = vec![false; info.fields().len()];
    let mut fields = Vec::with_capacity(names.len().min(given.len()));
    for name in names {
        let Some(field) = info.field_index(name) else {
            let known = info.fields().iter().map(|field| field.name);
            let hint = sapwood_types::did_you_mean(name, known).map(str::to_owned);
            return Err(JsonReadError::Field {
                index,
                key: info.key(),
                field: truncate(name),
                hint,
            });
        };
        if std::mem::replace(&mut given[field], true) {
            let (key, field) = (info.key().to_owned(), truncate(name));
            return Err(JsonReadError::Type {
                index,
                error: TypeError::DuplicateField { key, field },
            });
        }
        fields.push(field);
    }
    Ok(fields)
}

/// The reader of the rows, with the nodes read so far.
struct GraphReader {
    types: Vec<RowType>,
    rows: Vec<AnyRef>,
    /// The row being read; `None` for the root.
    row: Option<usize>,
    /// The child being read: the index of its row's type, and its index.
    field: Option<(usize, usize)>,
}

impl GraphReader {
    fn read_rows(&mut self, mut lexer: JsonLexer<'_>) -> Result<(), JsonReadError> {
        lexer.expect(b'[', "the list of nodes")?;
        let mut more = !lexer.take_if(b']');
        while more {
            self.row = Some(self.rows.len());
            self.field = None;
            let node = self.read_row(&mut lexer)?;
            self.rows.push(node);
            more = lexer.next_element(b']')?;
        }
        (self.row, self.field) = (None, None);
        Ok(())
    }

    fn read_row(&mut self, lexer: &mut JsonLexer<'_>) -> Result<AnyRef, JsonReadError> {
        let before = *lexer;
        if !lexer.take_if(b'[') {
            return Err(self.expected_error("a row", &before.clone().next()?));
        }
        let token = lexer.next()?;
        let number = match token {
            JsonToken::Number(digits) => digits.parse::<usize>().ok(),
            _ => None,
        };
        let Some(number) = number.filter(|&number| number < self.types.len()) else {
            let expected = format!("the number of one of {}", counted(self.types.len(), "type"));
            return Err(self.expected_error(&expected, &token));
        };
        let mut children = Vec::new();
        while lexer.next_element(b']')? {
            self.field = Some((number, children.len()));
            let child = self.read_child(lexer, MAX_LIST_NESTING)?;
            children.push(child);
        }
        self.field = None;
        self.build_node(number, children)
    }

    /// Builds the node of a row from its children.
    fn build_node(&self, number: usize, children: Vec<Value>) -> Result<AnyRef, JsonReadError> {
        let RowType { info, fields } = &self.types[number];
        let (info, found) = (*info, children.len());
        let node = if info.layout() == ChildLayout::Record {
            if found != fields.len() {
                let (location, expected) = (self.location(), fields.len());
                return Err(JsonReadError::Count { location, key: info.key(), expected, found });
            }
            let interned = info.kind() == NodeKind::Singleton;
            if fields.iter().enumerate().all(|(index, &field)| index == field) {
                info.construct(children, interned)
            } else {
                info.construct_partial(
                    fields_in_declaration_order(info, fields, children),
                    interned,
                )
            }
        } else {
            if info.layout() == ChildLayout::Map && !found.is_multiple_of(2) {
                let error = BuildError::new("the last key of this map has no value");
                return Err(self.build_error(error.into()));
            }
            info.make(children).map_err(ConstructError::from)
        };
        node.map_err(|error| self.build_error(error))
    }

    /// Reads a child of a row or a list, or the root.
    fn read_child(
        &self,
        lexer: &mut JsonLexer<'_>,
        nesting: usize,
    ) -> Result<Value, JsonReadError> {
        let token = lexer.next()?;
        Ok(match token {
            JsonToken::Null => Value::None,
            JsonToken::Bool(value) => Value::Bool(value),
            JsonToken::Text(text) => Value::from(&*text),
            JsonToken::Number(digits) => return self.read_number(digits),
            JsonToken::Punctuation(b'{') => return self.read_tagged(lexer),
            JsonToken::Punctuation(b'[') => {
                let Some(nesting) = nesting.checked_sub(1) else {
                    let expected = format!("lists that nest at most {MAX_LIST_NESTING} deep");
                    return Err(self.expected_error(&expected, &token));
                };
                let mut items = Vec::new();
                let mut more = !lexer.take_if(b']');
                while more {
                    items.push(self.read_child(lexer, nesting)?);
                    more = lexer.next_element(b']')?;
                }
                crate::Seq::new(items).into()
            }
            JsonToken::Punctuation(_) | JsonToken::End => {
                return Err(self.expected_error("a value", &token));
            }
        })
    }

    fn read_number(&self, digits: &str) -> Result<Value, JsonReadError> {
        let wrong = |expected: &str| self.expected_error(expected, &JsonToken::Number(digits));
        if !digits.contains(['.', 'e', 'E']) {
            let what = "an integer of at most 64 bits, or {\"int\":\"0x…\"}";
            return digits.parse().map(Value::Int).map_err(|_| wrong(what));
        }
        match digits.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Value::Float(value)),
            _ => Err(wrong("a finite float, or {\"float\":\"inf\"}")),
        }
    }

    /// Reads a tagged value: an object with one key.
    fn read_tagged(&self, lexer: &mut JsonLexer<'_>) -> Result<Value, JsonReadError> {
        let tag = lexer.key()?;
        let value = match &*tag {
            "node" => self.read_reference(lexer)?,
            "int" => self.read_string_as(lexer, "an integer as \"0x…\"", |text| {
                let (sign, digits) = match text.strip_prefix('-') {
                    Some(digits) => ("-", digits),
                    None => ("", text),
                };
                let digits = digits.strip_prefix("0x")?;
                // The sign belongs before the prefix.
                (!digits.starts_with('-')).then_some(())?;
                BigInt::from_hex(&format!("{sign}{digits}")).map(Value::from)
            })?,
            "float" => {
                self.read_string_as(lexer, "\"nan\", \"inf\" or \"-inf\"", |text| match text {
                    "nan" => Some(Value::Float(f64::NAN)),
                    "inf" => Some(Value::Float(f64::INFINITY)),
                    "-inf" => Some(Value::Float(f64::NEG_INFINITY)),
                    _ => None,
                })?
            }
            "bytes" => self.read_string_as(lexer, EXPECTED_HEX, |text| {
                Some(Value::from(Bytes::new(&read_hex(text)?)))
            })?,
            "tensor" => self.read_tensor(lexer)?,
            _ => {
                let expected = "one of node, int, float, bytes, tensor";
                return Err(self.expected_error(expected, &JsonToken::Text(tag)));
            }
        };
        lexer.expect(b'}', "`}`: a tagged value has one key")?;
        Ok(value)
    }

    fn read_reference(&self, lexer: &mut JsonLexer<'_>) -> Result<Value, JsonReadError> {
        let token = lexer.next()?;
        let target = match token {
            JsonToken::Number(digits) => digits.parse::<u64>().ok(),
            _ => None,
        };
        let target = target.ok_or_else(|| self.expected_error("the number of a row", &token))?;
        let row = usize::try_from(target).ok().and_then(|row| self.rows.get(row));
        row.map(|node| Value::Node(node.clone())).ok_or_else(|| JsonReadError::Reference {
            location: self.location(),
            target,
            earlier: self.rows.len(),
        })
    }

    fn read_string_as<V>(
        &self,
        lexer: &mut JsonLexer<'_>,
        expected: &str,
        meaning: impl FnOnce(&str) -> Option<V>,
    ) -> Result<V, JsonReadError> {
        let token = lexer.next()?;
        let value = match &token {
            JsonToken::Text(text) => meaning(text),
            _ => None,
        };
        value.ok_or_else(|| self.expected_error(expected, &token))
    }

    /// Reads a tensor: data type, shape, content.
    fn read_tensor(&self, lexer: &mut JsonLexer<'_>) -> Result<Value, JsonReadError> {
        lexer.expect(b'[', "`[`")?;
        let dtype =
            self.read_string_as(lexer, "the name of a data type", |text| text.parse().ok())?;
        lexer.expect(b',', "`,`")?;
        lexer.expect(b'[', "a shape")?;
        let mut shape = Vec::new();
        let mut more = !lexer.take_if(b']');
        while more {
            let token = lexer.next()?;
            let extent = match token {
                JsonToken::Number(digits) => digits.parse::<u64>().ok(),
                _ => None,
            };
            shape.push(extent.ok_or_else(|| self.expected_error("an extent", &token))?);
            more = lexer.next_element(b']')?;
        }
        lexer.expect(b',', "`,`")?;
        let content = self.read_string_as(lexer, EXPECTED_HEX, read_hex)?;
        lexer.expect(b']', "`]`")?;
        let tensor = Tensor::new(dtype, &shape, Bytes::new(&content));
        tensor
            .map(Value::from)
            .map_err(|error| self.build_error(BuildError::new(error.to_string()).into()))
    }

    fn location(&self) -> GraphRowLocation {
        let field = self.field.map(|(number, child)| {
            let RowType { info, fields } = &self.types[number];
            let field = fields.get(child).and_then(|&field| info.fields().get(field));
            field.map_or_else(|| child.to_string(), |field| field.name.to_owned())
        });
        GraphRowLocation { row: self.row, field }
    }

    fn expected_error(&self, expected: &str, found: &JsonToken<'_>) -> JsonReadError {
        let (expected, found) = (expected.to_owned(), found.describe());
        JsonReadError::Expected { location: self.location(), expected, found }
    }

    fn build_error(&self, error: ConstructError) -> JsonReadError {
        JsonReadError::Build { location: self.location(), error }
    }
}

const EXPECTED_HEX: &str = "pairs of hexadecimal digits";

/// Puts the fields in declaration order, `None` where one was not given.
fn fields_in_declaration_order(
    info: &TypeInfo,
    fields: &[usize],
    children: Vec<Value>,
) -> Vec<Option<Value>> {
    let mut slots: Vec<Option<Value>> = vec![None; info.fields().len()];
    for (&field, child) in fields.iter().zip(children) {
        slots[field] = Some(child);
    }
    slots
}
