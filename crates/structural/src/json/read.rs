//! Reading: the table of types, then one node per row, each from the rows before it.

use std::borrow::Cow;

use sapwood_types::counted;

use super::error::{JsonPlace, JsonReadError};
use super::lexer::{Lexer, Token, clip};
use super::{JSON_VERSION, NESTING};
use crate::dynamic::Registry;
use crate::error::{BuildError, TypeError};
use crate::intern::GetError;
use crate::kind::Kind;
use crate::node::Field;
use crate::reference::AnyRef;
use crate::type_info::{Layout, TypeInfo};
use crate::values::{BigInt, Bytes, Tensor, Value};

/// A value from the JSON that [`crate::write_json`] gives, its types taken from `registry`.
///
/// Fields are known by name: those that the registered type has and the text does not name take
/// their defaults. Singletons come from their `get`. Whatever the text is, reading it takes memory
/// in proportion to its length, and nothing recurses on the graph.
///
/// Singletons, and the file names of spans, are kept for the life of the process once they are read.
/// Reading many different ones from texts of others is memory that never comes back.
///
/// # Errors
/// Says where the text is not JSON, or which row and field is not what its type needs.
pub fn read_json<T: Field>(text: &str, registry: &Registry) -> Result<T, JsonReadError> {
    let parts = Parts::find(text)?;
    let types = read_types(parts.types, registry)?;
    let mut reader = Reader { types, rows: Vec::new(), row: None, field: None };
    reader.read_rows(parts.nodes)?;
    let mut root = parts.root;
    let value = reader.child(&mut root, NESTING)?;
    T::from_value(value).map_err(|error| reader.build(error.into()))
}

/// Where the parts of the document begin. Their order is free, so they are looked for first.
struct Parts<'t> {
    types: Lexer<'t>,
    nodes: Lexer<'t>,
    root: Lexer<'t>,
}

impl<'t> Parts<'t> {
    fn find(text: &'t str) -> Result<Self, JsonReadError> {
        const NAMES: [&str; 4] = ["sapwood-graph", "types", "nodes", "root"];
        let mut lexer = Lexer::new(text);
        let mut found: [Option<Lexer<'t>>; 4] = [None; 4];
        lexer.expect(b'{', "`{`")?;
        let mut more = !lexer.take(b'}');
        while more {
            lexer.peek_mark();
            let before = lexer;
            let key = lexer.key()?;
            let Some(part) = NAMES.iter().position(|name| *name == key) else {
                return Err(before.wrong("one of sapwood-graph, types, nodes, root"));
            };
            if found[part].replace(lexer).is_some() {
                return Err(twice(&before, &key));
            }
            lexer.skip_value()?;
            // A newer version may look quite different: say so before anything else.
            if let (0, Some(mut version)) = (part, found[0]) {
                check_version(&mut version)?;
            }
            more = lexer.another(b'}')?;
        }
        if lexer.next()? != Token::End {
            return Err(lexer.wrong("the end"));
        }
        let part = |index: usize| found[index].ok_or(JsonReadError::Missing(NAMES[index]));
        part(0)?;
        Ok(Self { types: part(1)?, nodes: part(2)?, root: part(3)? })
    }
}

fn twice(at: &Lexer<'_>, key: &str) -> JsonReadError {
    let (line, column) = at.line_column();
    JsonReadError::Twice { line, column, key: clip(key) }
}

fn check_version(lexer: &mut Lexer<'_>) -> Result<(), JsonReadError> {
    let before = *lexer;
    let version = match lexer.next()? {
        Token::Number(digits) => digits.parse::<u64>().ok(),
        _ => None,
    };
    match version {
        None | Some(0) => Err(before.wrong("the number of a version")),
        Some(found) if found > JSON_VERSION => {
            Err(JsonReadError::Version { found, known: JSON_VERSION })
        }
        Some(_) => Ok(()),
    }
}

/// A type, and which of its fields each child of a row is.
struct RowType {
    info: &'static TypeInfo,
    fields: Vec<usize>,
}

fn read_types(mut lexer: Lexer<'_>, registry: &Registry) -> Result<Vec<RowType>, JsonReadError> {
    let mut types: Vec<RowType> = Vec::new();
    let mut seen = hashbrown::HashSet::<&str, rustc_hash::FxBuildHasher>::default();
    lexer.expect(b'[', "the list of types")?;
    let mut more = !lexer.take(b']');
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
        more = lexer.another(b']')?;
    }
    Ok(types)
}

/// The key of a type and the names of its fields.
fn read_type<'t>(
    lexer: &mut Lexer<'t>,
) -> Result<(Cow<'t, str>, Vec<Cow<'t, str>>), JsonReadError> {
    let (mut key, mut names) = (None, None);
    let start = *lexer;
    lexer.expect(b'{', "a type")?;
    let mut more = !lexer.take(b'}');
    while more {
        lexer.peek_mark();
        let before = *lexer;
        let name = lexer.key()?;
        let again = match &*name {
            "key" => key.replace(read_text(lexer)?).is_some(),
            "fields" => names.replace(read_names(lexer)?).is_some(),
            _ => return Err(before.wrong("key or fields")),
        };
        if again {
            return Err(twice(&before, &name));
        }
        more = lexer.another(b'}')?;
    }
    let key = key.ok_or_else(|| start.wrong("a type with a key"))?;
    Ok((key, names.unwrap_or_default()))
}

fn read_names<'t>(lexer: &mut Lexer<'t>) -> Result<Vec<Cow<'t, str>>, JsonReadError> {
    let mut names = Vec::new();
    lexer.expect(b'[', "a list of field names")?;
    let mut more = !lexer.take(b']');
    while more {
        names.push(read_text(lexer)?);
        more = lexer.another(b']')?;
    }
    Ok(names)
}

fn read_text<'t>(lexer: &mut Lexer<'t>) -> Result<Cow<'t, str>, JsonReadError> {
    let before = *lexer;
    match lexer.next()? {
        Token::Text(text) => Ok(text),
        _ => Err(before.wrong("a string")),
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
            return Err(JsonReadError::Field { index, key: info.key(), field: clip(name), hint });
        };
        if std::mem::replace(&mut given[field], true) {
            let (key, field) = (info.key().to_owned(), clip(name));
            return Err(JsonReadError::Type {
                index,
                error: TypeError::DuplicateField { key, field },
            });
        }
        fields.push(field);
    }
    Ok(fields)
}

struct Reader {
    types: Vec<RowType>,
    rows: Vec<AnyRef>,
    /// The row being read; nothing for the root.
    row: Option<usize>,
    /// The child being read: which type and which of its children.
    field: Option<(usize, usize)>,
}

impl Reader {
    fn read_rows(&mut self, mut lexer: Lexer<'_>) -> Result<(), JsonReadError> {
        lexer.expect(b'[', "the list of nodes")?;
        let mut more = !lexer.take(b']');
        while more {
            self.row = Some(self.rows.len());
            self.field = None;
            let node = self.read_row(&mut lexer)?;
            self.rows.push(node);
            more = lexer.another(b']')?;
        }
        (self.row, self.field) = (None, None);
        Ok(())
    }

    fn read_row(&mut self, lexer: &mut Lexer<'_>) -> Result<AnyRef, JsonReadError> {
        let before = *lexer;
        if !lexer.take(b'[') {
            return Err(self.expected("a row", &before.clone().next()?));
        }
        let token = lexer.next()?;
        let number = match token {
            Token::Number(digits) => digits.parse::<usize>().ok(),
            _ => None,
        };
        let Some(number) = number.filter(|&number| number < self.types.len()) else {
            let expected = format!("the number of one of {}", counted(self.types.len(), "type"));
            return Err(self.expected(&expected, &token));
        };
        let mut children = Vec::new();
        while lexer.another(b']')? {
            self.field = Some((number, children.len()));
            let child = self.child(lexer, NESTING)?;
            children.push(child);
        }
        self.field = None;
        self.node(number, children)
    }

    /// The node of a row from its children.
    fn node(&self, number: usize, children: Vec<Value>) -> Result<AnyRef, JsonReadError> {
        let RowType { info, fields } = &self.types[number];
        let (info, found) = (*info, children.len());
        let made = if info.layout() == Layout::Record {
            if found != fields.len() {
                let (place, expected) = (self.place(), fields.len());
                return Err(JsonReadError::Count { place, key: info.key(), expected, found });
            }
            let interned = info.kind() == Kind::Singleton;
            if fields.iter().enumerate().all(|(index, &field)| index == field) {
                info.construct(children, interned)
            } else {
                info.construct_some(in_order(info, fields, children), interned)
            }
        } else {
            if info.layout() == Layout::Map && !found.is_multiple_of(2) {
                let error = BuildError::new("the last key of this map has no value");
                return Err(self.build(error.into()));
            }
            info.make(children).map_err(GetError::from)
        };
        made.map_err(|error| self.build(error))
    }

    /// A child: of a row, of a list, or the root.
    fn child(&self, lexer: &mut Lexer<'_>, nesting: usize) -> Result<Value, JsonReadError> {
        let token = lexer.next()?;
        Ok(match token {
            Token::Null => Value::None,
            Token::Bool(value) => Value::Bool(value),
            Token::Text(text) => Value::from(&*text),
            Token::Number(digits) => return self.number(digits),
            Token::Mark(b'{') => return self.tagged(lexer),
            Token::Mark(b'[') => {
                let Some(nesting) = nesting.checked_sub(1) else {
                    let expected = format!("lists that nest at most {NESTING} deep");
                    return Err(self.expected(&expected, &token));
                };
                let mut items = Vec::new();
                let mut more = !lexer.take(b']');
                while more {
                    items.push(self.child(lexer, nesting)?);
                    more = lexer.another(b']')?;
                }
                crate::Seq::new(items).into()
            }
            Token::Mark(_) | Token::End => return Err(self.expected("a value", &token)),
        })
    }

    fn number(&self, digits: &str) -> Result<Value, JsonReadError> {
        let wrong = |expected: &str| self.expected(expected, &Token::Number(digits));
        if !digits.contains(['.', 'e', 'E']) {
            let what = "an integer of at most 64 bits, or {\"int\":\"0x…\"}";
            return digits.parse().map(Value::Int).map_err(|_| wrong(what));
        }
        match digits.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Value::Float(value)),
            _ => Err(wrong("a finite float, or {\"float\":\"inf\"}")),
        }
    }

    /// What an object with one key stands for.
    fn tagged(&self, lexer: &mut Lexer<'_>) -> Result<Value, JsonReadError> {
        let tag = lexer.key()?;
        let value = match &*tag {
            "node" => self.reference(lexer)?,
            "int" => self.text(lexer, "an integer as \"0x…\"", |text| {
                let (sign, digits) = match text.strip_prefix('-') {
                    Some(digits) => ("-", digits),
                    None => ("", text),
                };
                let digits = digits.strip_prefix("0x")?;
                // The sign belongs before the prefix.
                (!digits.starts_with('-')).then_some(())?;
                BigInt::from_hex(&format!("{sign}{digits}")).map(Value::from)
            })?,
            "float" => self.text(lexer, "\"nan\", \"inf\" or \"-inf\"", |text| match text {
                "nan" => Some(Value::Float(f64::NAN)),
                "inf" => Some(Value::Float(f64::INFINITY)),
                "-inf" => Some(Value::Float(f64::NEG_INFINITY)),
                _ => None,
            })?,
            "bytes" => {
                self.text(lexer, BYTES, |text| Some(Value::from(Bytes::new(&unhex(text)?))))?
            }
            "tensor" => self.tensor(lexer)?,
            _ => {
                let expected = "one of node, int, float, bytes, tensor";
                return Err(self.expected(expected, &Token::Text(tag)));
            }
        };
        lexer.expect(b'}', "`}`: a tagged value has one key")?;
        Ok(value)
    }

    fn reference(&self, lexer: &mut Lexer<'_>) -> Result<Value, JsonReadError> {
        let token = lexer.next()?;
        let target = match token {
            Token::Number(digits) => digits.parse::<u64>().ok(),
            _ => None,
        };
        let target = target.ok_or_else(|| self.expected("the number of a row", &token))?;
        let row = usize::try_from(target).ok().and_then(|row| self.rows.get(row));
        row.map(|node| Value::Node(node.clone())).ok_or_else(|| JsonReadError::Reference {
            place: self.place(),
            target,
            earlier: self.rows.len(),
        })
    }

    fn text<V>(
        &self,
        lexer: &mut Lexer<'_>,
        expected: &str,
        meaning: impl FnOnce(&str) -> Option<V>,
    ) -> Result<V, JsonReadError> {
        let token = lexer.next()?;
        let value = match &token {
            Token::Text(text) => meaning(text),
            _ => None,
        };
        value.ok_or_else(|| self.expected(expected, &token))
    }

    /// Data type, shape, content.
    fn tensor(&self, lexer: &mut Lexer<'_>) -> Result<Value, JsonReadError> {
        lexer.expect(b'[', "`[`")?;
        let dtype = self.text(lexer, "the name of a data type", |text| text.parse().ok())?;
        lexer.expect(b',', "`,`")?;
        lexer.expect(b'[', "a shape")?;
        let mut shape = Vec::new();
        let mut more = !lexer.take(b']');
        while more {
            let token = lexer.next()?;
            let extent = match token {
                Token::Number(digits) => digits.parse::<u64>().ok(),
                _ => None,
            };
            shape.push(extent.ok_or_else(|| self.expected("an extent", &token))?);
            more = lexer.another(b']')?;
        }
        lexer.expect(b',', "`,`")?;
        let content = self.text(lexer, BYTES, unhex)?;
        lexer.expect(b']', "`]`")?;
        let tensor = Tensor::new(dtype, &shape, Bytes::new(&content));
        tensor
            .map(Value::from)
            .map_err(|error| self.build(BuildError::new(error.to_string()).into()))
    }

    fn place(&self) -> JsonPlace {
        let field = self.field.map(|(number, child)| {
            let RowType { info, fields } = &self.types[number];
            let field = fields.get(child).and_then(|&field| info.fields().get(field));
            field.map_or_else(|| child.to_string(), |field| field.name.to_owned())
        });
        JsonPlace { row: self.row, field }
    }

    fn expected(&self, expected: &str, found: &Token<'_>) -> JsonReadError {
        let (expected, found) = (expected.to_owned(), found.shown());
        JsonReadError::Expected { place: self.place(), expected, found }
    }

    fn build(&self, error: GetError) -> JsonReadError {
        JsonReadError::Build { place: self.place(), error }
    }
}

const BYTES: &str = "pairs of hexadecimal digits";

fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let byte = |&[high, low]: &[u8; 2]| Some(digit(high)? << 4 | digit(low)?);
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

/// Puts the fields in the order of their declaration, `None` where one was not given.
fn in_order(info: &TypeInfo, fields: &[usize], children: Vec<Value>) -> Vec<Option<Value>> {
    let mut slots: Vec<Option<Value>> = vec![None; info.fields().len()];
    for (&field, child) in fields.iter().zip(children) {
        slots[field] = Some(child);
    }
    slots
}
