//! Methods of the converter that look up attributes. Attributes that are looked up are interpreted; the others are saved as extras.

use sapwood_ptir::{Attr, AttrField as _, Axes, Pairs, TensorLiteral};
use sapwood_types::{DataType, counted, did_you_mean};

use super::OpConverter;
use super::form::Words;
use crate::attr::{Ints, NamedAttr, RawAttr};
use crate::cursor::Cursor;
use crate::read::ints_of;
use crate::types;

impl<'a> OpConverter<'_, 'a> {
    /// Returns the attribute with one of these names.
    pub(crate) fn attr(&mut self, names: &[&'static str]) -> Option<&RawAttr<'a>> {
        self.queried_names.extend_from_slice(names);
        let mut all = self.op.attrs.iter_mut().filter(|e| names.contains(&&*e.name));
        let found = all.next()?;
        found.used = true;
        if let Some(second) = all.next() {
            self.duplicate = self.duplicate.or(Some([found.text, second.text]));
        }
        Some(&found.value)
    }

    /// Returns the text of the attribute with one of these names.
    fn text_of(&self, names: &[&str]) -> Option<&'a str> {
        self.op.attrs.iter().find(|e| names.contains(&&*e.name)).map(|e| e.text)
    }

    /// Records a duplicate if both attributes are present: `all` contains the value of `name`.
    pub(crate) fn forbid_both(&mut self, all: &'static str, name: &'static str) {
        if let (Some(first), Some(second)) = (self.text_of(&[all]), self.text_of(&[name])) {
            self.duplicate = self.duplicate.or(Some([first, second]));
        }
    }

    /// Records a duplicate if one of these attributes is present although `text` already has its value in the pretty form.
    pub(crate) fn forbid_attr(&mut self, names: &[&'static str], text: &'a str) {
        if self.attr(names).is_some()
            && let Some(other) = self.text_of(names)
        {
            self.duplicate = self.duplicate.or(Some([text, other]));
        }
    }

    fn require<T>(
        &mut self,
        names: &[&'static str],
        what: &str,
        found: Option<T>,
    ) -> Result<T, String> {
        match found {
            Some(value) => Ok(value),
            None if self.attr(names).is_some() => {
                self.error_text = self.text_of(names);
                Err(format!("attribute `{}` must be {what}", names[0]))
            }
            None => Err(format!("attribute `{}` is missing", names[0])),
        }
    }

    /// Returns a list of integers.
    pub(crate) fn ints(&mut self, names: &[&'static str]) -> Result<Ints, String> {
        let found = self.attr(names).and_then(ints_of);
        self.require(names, "a list of integers", found)
    }

    /// Returns a list of `count` integers; `None` if it is absent or if all entries are the default.
    pub(crate) fn optional_ints_unless(
        &mut self,
        names: &[&'static str],
        default: i64,
        count: usize,
    ) -> Result<Option<Axes>, String> {
        if self.attr(names).is_none() {
            return Ok(None);
        }
        let list = self.ints(names)?;
        self.check_count(names, list.len(), count)?;
        Ok(list.iter().any(|&n| n != default).then(|| Axes(list)))
    }

    /// Returns the two lists of `[1] x [0]`; they are empty if they are absent.
    pub(crate) fn list_pair(&mut self, name: &'static str) -> Result<[Axes; 2], String> {
        let lists = match self.attr(&[name]) {
            None => return Ok([Axes::default(), Axes::default()]),
            Some(RawAttr::List(sides)) => match &sides[..] {
                [lhs, rhs] => ints_of(lhs).zip(ints_of(rhs)),
                _ => None,
            },
            Some(_) => None,
        };
        let (lhs, rhs) = lists.ok_or_else(|| format!("`{name}` must be `[…] x […]`"))?;
        Ok([Axes(lhs), Axes(rhs)])
    }

    /// Returns the starts, limits and strides of `[0:4, 1:8:2]`, or of the attributes of the generic form.
    pub(crate) fn ranges(&mut self) -> Result<[Attr; 3], String> {
        let (starts, limits, strides) = match self.op.ranges.take() {
            Some(ranges) => {
                for name in ["start_indices", "limit_indices", "strides"] {
                    self.forbid_attr(&[name], self.op.ranges_text);
                }
                let part = |i: usize| ranges.iter().map(|range| range[i]).collect::<Ints>();
                (part(0), part(1), part(2))
            }
            None => {
                let starts = self.ints(&["start_indices"])?;
                let limits = self.ints(&["limit_indices"])?;
                let strides = self.ints(&["strides"])?;
                self.check_count(&["strides"], strides.len(), starts.len())?;
                (starts, limits, strides)
            }
        };
        let strides = strides.iter().any(|&n| n != 1).then_some(Axes(strides));
        Ok([Attr::Ints(starts), Attr::Ints(limits), strides.to_attr()])
    }

    /// Returns the number of `[0]`, or of an attribute.
    pub(crate) fn index(&mut self, name: &'static str) -> Result<i64, String> {
        match self.op.ranges.take().as_deref() {
            Some([[index, ..]]) => {
                self.forbid_attr(&[name], self.op.ranges_text);
                Ok(*index)
            }
            Some(_) => Err("expected the number of an element: `[0]`".into()),
            None => self.int(&[name]),
        }
    }

    /// Returns the literal of a constant.
    pub(crate) fn literal(&mut self) -> Result<TensorLiteral, String> {
        match self.attr(&["value"]) {
            Some(RawAttr::Dense(literal)) => Ok(literal.clone()),
            _ => Err("attribute `value` must be a literal".into()),
        }
    }

    /// Returns an axis of a tensor of this rank.
    pub(crate) fn axis(&mut self, names: &[&'static str], rank: usize) -> Result<i64, String> {
        let axis = self.int(names)?;
        if usize::try_from(axis).is_ok_and(|axis| axis < rank) {
            return Ok(axis);
        }
        self.error_text = self.text_of(names);
        Err(format!("`{}` is {axis}, out of range for rank {rank}", names[0]))
    }

    /// Checks the length of a list.
    pub(crate) fn check_count(
        &mut self,
        names: &[&str],
        found: usize,
        expected: usize,
    ) -> Result<(), String> {
        if found == expected {
            return Ok(());
        }
        self.error_text = self.text_of(names);
        let name = self.op.attrs.iter().map(|e| &*e.name).find(|name| names.contains(name));
        let (name, found) = (name.unwrap_or(names[0]), counted(found, "entry"));
        Err(format!("`{name}` has {found}, expected {expected}"))
    }

    /// Returns `count` pairs of integers; `None` if they are absent or all zero.
    pub(crate) fn int_pairs(
        &mut self,
        names: &[&'static str],
        count: usize,
    ) -> Result<Option<Pairs>, String> {
        let Some(attr) = self.attr(names) else { return Ok(None) };
        let pairs = match attr {
            RawAttr::Dense(literal) if matches!(literal.shape(), [_, 2]) => ints_of(attr)
                .map(|flat| flat.chunks_exact(2).map(|p| [p[0], p[1]]).collect::<Vec<[i64; 2]>>()),
            RawAttr::Ints(list) if list.is_empty() => Some(Vec::new()),
            RawAttr::List(rows) => rows
                .iter()
                .map(|row| ints_of(row).and_then(|r| <[i64; 2]>::try_from(&r[..]).ok()))
                .collect(),
            _ => None,
        };
        let pairs = self.require(names, "a list of pairs", pairs)?;
        self.check_count(names, pairs.len(), count)?;
        Ok(pairs.iter().any(|p| *p != [0, 0]).then_some(Pairs(pairs)))
    }

    /// Returns an integer.
    pub(crate) fn int(&mut self, names: &[&'static str]) -> Result<i64, String> {
        let found = match self.attr(names) {
            Some(RawAttr::Int(n)) => Some(*n),
            _ => None,
        };
        self.require(names, "an integer", found)
    }

    /// Returns an integer, or the default if it is absent.
    pub(crate) fn int_or(&mut self, names: &[&'static str], default: i64) -> Result<i64, String> {
        if self.attr(names).is_none() { Ok(default) } else { self.int(names) }
    }

    /// Returns a bool.
    pub(crate) fn bool(&mut self, names: &[&'static str]) -> Result<bool, String> {
        if self.attr(names).is_none() {
            return self.require(names, "true or false", None);
        }
        self.bool_or(names, false)
    }

    /// Returns a bool, or the default if it is absent.
    pub(crate) fn bool_or(
        &mut self,
        names: &[&'static str],
        default: bool,
    ) -> Result<bool, String> {
        let found = match self.attr(names) {
            None => return Ok(default),
            Some(RawAttr::Bool(b)) => Some(*b),
            Some(RawAttr::Unit) => Some(true),
            Some(_) => None,
        };
        self.require(names, "true or false", found)
    }

    /// Returns a float.
    pub(crate) fn float(&mut self, names: &[&'static str]) -> Result<f64, String> {
        let found = match self.attr(names) {
            Some(RawAttr::Float(x)) => Some(*x),
            _ => None,
        };
        self.require(names, "a float", found)
    }

    /// Returns a word: a bare one at this position of the pretty form, or that of an attribute.
    pub(crate) fn word(
        &mut self,
        names: &[&'static str],
        position: usize,
    ) -> Result<Option<&'a str>, String> {
        let bare = self.op.words.get_mut(position).map(|(word, used)| {
            *used = true;
            *word
        });
        if let Some(word) = bare {
            self.forbid_attr(names, word);
            self.error_text = Some(word);
            return Ok(Some(word));
        }
        let found = match self.attr(names) {
            None => return Ok(None),
            Some(RawAttr::Word(word) | RawAttr::Raw(word)) => Some(*word),
            Some(_) => None,
        };
        let word = self.require(names, "a word", found)?;
        self.error_text = self.text_of(names);
        Ok(Some(word))
    }

    /// Returns the position of a word that [`OpConverter::word`] finds.
    pub(crate) fn choice(
        &mut self,
        names: &[&'static str],
        position: usize,
        words: &'static Words,
    ) -> Result<Option<usize>, String> {
        let Some(word) = self.word(names, position)? else { return Ok(None) };
        let meant = words.find(word)?;
        self.error_text = None;
        Ok(Some(meant))
    }

    /// Returns the entries of a struct or a dictionary.
    pub(crate) fn fields(&mut self, names: &[&'static str]) -> Result<Vec<NamedAttr<'a>>, String> {
        let found = match self.attr(names) {
            Some(RawAttr::Struct(entries) | RawAttr::Dict(entries)) => Some(entries.clone()),
            _ => None,
        };
        self.require(names, "a struct", found)
    }

    /// Checks the precision of a product. The default is dropped, others are saved as extras.
    pub(crate) fn check_precision(&mut self) -> Result<(), String> {
        const NAMES: [&str; 2] = ["precision_config", "precision"];
        let (nothing, wrong) = match self.attr(&NAMES) {
            None => return Ok(()),
            Some(RawAttr::Ints(items)) if items.is_empty() => (true, None),
            Some(RawAttr::List(items)) => {
                let level = |item: &RawAttr<'_>| match item {
                    RawAttr::Word(word) => PRECISIONS.find(word),
                    _ => Err("a precision is DEFAULT, HIGH or HIGHEST".into()),
                };
                let levels: Result<Vec<usize>, String> = items.iter().map(level).collect();
                (levels.iter().flatten().all(|&level| level == 0), levels.err())
            }
            Some(_) => (false, Some("`precision` must be a list of words".into())),
        };
        if let Some(message) = wrong {
            self.error_text = self.text_of(&NAMES);
            return Err(message);
        }
        for entry in &mut self.op.attrs {
            match &*entry.name {
                "precision" | "precision_config" => entry.used = nothing,
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks the algorithm of a product, which is saved as an extra, and returns its accumulation type. The types that operands are
    /// rounded to, in one component or several, only permit less precision than products have here.
    pub(crate) fn check_algorithm(&mut self) -> Result<Option<DataType>, String> {
        const NAMES: [&str; 1] = ["algorithm"];
        if self.attr(&NAMES).is_none() {
            return Ok(None);
        }
        let fields = self.fields(&NAMES)?;
        self.error_text = self.text_of(&NAMES);
        let known = [ALGORITHM_TYPES, ALGORITHM_COUNTS].concat();
        check_fields(&fields, &[&known[..], &["allow_imprecise_accumulation"]].concat())?;
        let mut sums = None;
        for name in ALGORITHM_TYPES {
            let word =
                required_field(&fields, name)?.text.rsplit('=').next().unwrap_or_default().trim();
            let digits = word.trim_start_matches(['t', 'b']).strip_prefix('f');
            if !digits.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
                return Err(format!("`{name}` is `{word}`, expected a float type or tf32"));
            }
            sums = types::read_element_type(&mut Cursor::new(word)).ok();
        }
        for name in ALGORITHM_COUNTS {
            required_field(&fields, name)?;
            let count = field_int(&fields, name)?;
            if count < 1 {
                return Err(format!("`{name}` is {count}, expected at least 1"));
            }
        }
        let imprecise = required_field(&fields, "allow_imprecise_accumulation")?;
        if !matches!(imprecise.value, RawAttr::Bool(_)) {
            return Err("`allow_imprecise_accumulation` must be true or false".into());
        }
        let precise = |e: &NamedAttr<'_>| e.name.starts_with("precision") && !e.used;
        if self.op.attrs.iter().any(precise) {
            return Err("with `algorithm`, the precision must be DEFAULT".into());
        }
        for entry in self.op.attrs.iter_mut().filter(|e| e.name == NAMES[0]) {
            entry.used = false;
        }
        self.error_text = None;
        Ok(sums)
    }

    /// Checks that the conversion used everything that is written: the rest would be dropped, or written back as something else.
    pub(crate) fn check_all_used(&mut self) -> Result<(), String> {
        if let Some((word, _)) = self.op.words.iter().find(|(_, used)| !used) {
            self.error_text = Some(word);
            return Err(format!("`{word}` is not expected here"));
        }
        let product = matches!(&*self.op.name, "stablehlo.dot_general" | "stablehlo.dot");
        let kept = |name: &str| product && matches!(name, "precision" | "algorithm");
        let unasked = |e: &&NamedAttr<'_>| e.clause && !e.used && !kept(&e.name);
        if let Some(entry) = self.op.attrs.iter().find(unasked) {
            self.error_text = Some(entry.text);
            let name = &entry.name;
            return Err(match did_you_mean(name, self.queried_names.iter().copied()) {
                Some(other) => format!("`{name}` is not known here; did you mean `{other}`?"),
                None => format!("`{name}` is not known here; put it in braces to keep it"),
            });
        }
        if self.op.ranges.is_some() {
            self.error_text = Some(self.op.ranges_text);
            return Err("`[…]` is not expected here".into());
        }
        if !self.op.symbol_text.is_empty() && !self.symbol_used {
            self.error_text = Some(self.op.symbol_text);
            return Err(format!("`{}` is not expected here", self.op.symbol_text));
        }
        if !self.op.regions.is_empty() && !self.regions_used {
            return Err(format!("expected 0 regions, found {}", self.op.regions.len()));
        }
        Ok(())
    }
}

// The fields with types; the last one is the accumulation type.
const ALGORITHM_TYPES: [&str; 3] =
    ["lhs_precision_type", "rhs_precision_type", "accumulation_type"];
const ALGORITHM_COUNTS: [&str; 3] =
    ["lhs_component_count", "rhs_component_count", "num_primitive_operations"];

// Returns a field of a struct, which must be present.
fn required_field<'f, 'a>(
    fields: &'f [NamedAttr<'a>],
    name: &str,
) -> Result<&'f NamedAttr<'a>, String> {
    let found = fields.iter().find(|e| e.name == name);
    found.ok_or_else(|| format!("field `{name}` is missing"))
}

static PRECISIONS: Words =
    Words::new("precision", "precision", &[("DEFAULT", ""), ("HIGH", ""), ("HIGHEST", "")]);

/// Checks that all fields of a struct are known.
pub(crate) fn check_fields(fields: &[NamedAttr<'_>], known: &[&'static str]) -> Result<(), String> {
    let Some(entry) = fields.iter().find(|e| !known.contains(&&*e.name)) else { return Ok(()) };
    let name = &entry.name;
    Err(match did_you_mean(name, known.iter().copied()) {
        Some(other) => format!("field `{name}` is not known; did you mean `{other}`?"),
        None => format!("field `{name}` is not known, expected {}", known.join(", ")),
    })
}

/// Returns the list of a field; empty if the field is absent.
pub(crate) fn field_ints(fields: &[NamedAttr<'_>], name: &str) -> Result<Axes, String> {
    match fields.iter().find(|e| e.name == name) {
        None => Ok(Axes::default()),
        Some(entry) => ints_of(&entry.value)
            .map(Axes)
            .ok_or_else(|| format!("field `{name}` must be a list of integers")),
    }
}

/// Returns the integer of a field; zero if the field is absent.
pub(crate) fn field_int(fields: &[NamedAttr<'_>], name: &str) -> Result<i64, String> {
    match fields.iter().find(|e| e.name == name).map(|e| &e.value) {
        None => Ok(0),
        Some(RawAttr::Int(n)) => Ok(*n),
        Some(_) => Err(format!("field `{name}` must be an integer")),
    }
}

/// Returns the accumulation type of products if it is not the operand type: the wider type, and f32 for narrower floats.
pub(crate) fn accumulation_dtype(operand: DataType, result: DataType) -> Option<DataType> {
    let wide = |d: DataType| if d.is_float() && d.bit_width() < 32 { DataType::F32 } else { d };
    let (a, b) = (wide(operand), wide(result));
    let wider = if b.bit_width() > a.bit_width() { b } else { a };
    (operand != result && wider != operand).then_some(wider)
}
