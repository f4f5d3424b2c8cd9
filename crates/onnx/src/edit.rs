//! Edits of models before they are read as programs: shapes of inputs, and cutting a part out.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ValueType;
use sapwood_types::{Diagnostics, Severity, did_you_mean};
use thiserror::Error;

use crate::inline::inline_functions;
use crate::model::with_stack;
use crate::read::main_value_types;
use crate::values::type_of;
use crate::{
    Dimension, DimensionValue, ExternalData, Graph, Model, Nested, Node, Shape, TensorType, Text,
    Type, TypeValue, ValueInfo, verify,
};

/// Edits of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelEdits {
    /// New shapes of inputs, by name.
    pub input_shapes: Vec<(String, Vec<InputDim>)>,
    /// The values that become the inputs of the model; none means that the inputs stay.
    pub inputs: Vec<String>,
    /// The values that become the outputs of the model; none means that the outputs stay.
    pub outputs: Vec<String>,
    /// The ops whose nodes passes leave as they are.
    pub keep_ops: Vec<String>,
    /// Replace the calls of the model's functions by their nodes. A function stays if it needs another version of an operator set.
    pub inline_functions: bool,
}

// Invalid models stay as they are, so that messages are about what the file has.
fn has_errors(model: &Model) -> bool {
    verify(model).iter().any(|problem| problem.severity == Severity::Error)
}

/// An extent in the shape of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputDim {
    /// A known number.
    Known(u64),
    /// A symbol.
    Symbol(String),
    /// An extent of which nothing is known.
    Unknown,
}

/// The reason why a model cannot be edited.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum EditError {
    /// The model is not valid.
    #[error("{0}")]
    Model(Diagnostics),
    /// A name is not that of an input, or of a value.
    #[error("the model has no {kind} `{name}`{}", .close.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
    UnknownName {
        /// `input` or `value`.
        kind: &'static str,
        /// The name.
        name: String,
        /// A similar name that exists.
        close: Option<String>,
    },
    /// A shape contradicts the declared one.
    #[error("input `{name}` is declared with the shape [{declared}], which [{found}] contradicts")]
    Shape {
        /// The input.
        name: String,
        /// The declared shape.
        declared: String,
        /// The new shape.
        found: String,
    },
    /// An output depends on an input that is not among the new ones.
    #[error(
        "the outputs depend on `{name}`, which is not among the inputs; name it or a value between"
    )]
    MissingInput {
        /// The input.
        name: String,
    },
}

impl ModelEdits {
    /// Returns whether no edit was asked for; functions may be inlined in any model.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.input_shapes.is_empty()
            && self.inputs.is_empty()
            && self.outputs.is_empty()
            && self.keep_ops.is_empty()
    }

    /// Edits a model. The nodes that the outputs do not need are removed.
    ///
    /// # Errors
    /// If a name is unknown, a shape contradicts the declared one, or the outputs depend on other inputs than those named. Then the model
    /// is unchanged.
    pub fn apply(&self, model: &mut Model, data: &ExternalData) -> Result<(), EditError> {
        if self.inline_functions && !model.functions.is_empty() && !has_errors(model) {
            inline_functions(model);
        }
        if self.is_empty() {
            return Ok(());
        }
        let mut edited = model.clone();
        if let Some(graph) = edited.graph.as_mut() {
            for (name, dims) in &self.input_shapes {
                set_input_shape(graph, name, dims)?;
            }
        }
        if !self.inputs.is_empty() || !self.outputs.is_empty() {
            self.cut(&mut edited, data)?;
        }
        *model = edited;
        Ok(())
    }

    fn cut(&self, model: &mut Model, data: &ExternalData) -> Result<(), EditError> {
        let inputs: HashSet<Text, FxBuildHasher> =
            self.inputs.iter().map(|name| name.as_str().into()).collect();
        let Some(graph) = &mut model.graph else { return Ok(()) };
        let infos = graph.value_info.iter().chain(&graph.output).chain(&graph.input);
        let known: HashMap<Text, ValueInfo, FxBuildHasher> =
            infos.filter_map(|info| Some((info.name.clone()?, info.clone()))).collect();
        let info = |name: &str| {
            let text = Text::from(name);
            let none = || ValueInfo { name: Some(text.clone()), ..ValueInfo::default() };
            known.get(&text).cloned().unwrap_or_else(none)
        };
        self.check_values(graph)?;
        if !self.outputs.is_empty() {
            graph.output = self.outputs.iter().map(|name| info(name)).collect();
        }
        let mut new_inputs: Vec<ValueInfo> = self.inputs.iter().map(|name| info(name)).collect();
        // The outputs are already the new ones, and nodes that only compute the new inputs are left out, because nodes that are
        // removed must not decide a rank.
        let types = main_value_types(model, data, &inputs).map_err(EditError::Model)?;
        let type_in = |types: &ValueTypes, info: &ValueInfo| {
            type_of(types.get(info.name.as_ref()?)?).map(Nested::new)
        };
        for info in &mut new_inputs {
            if info.r#type.is_none() {
                info.r#type = type_in(&types, info);
            }
            // The nodes that compute it count for its own type.
            if info.r#type.is_none() {
                let others = inputs.iter().filter(|&name| info.name.as_ref() != Some(name));
                let others = others.cloned().collect();
                let mut model = model.clone();
                if let Some(graph) = &mut model.graph {
                    graph.output.push(info.clone());
                }
                let types = main_value_types(&model, data, &others).map_err(EditError::Model)?;
                info.r#type = type_in(&types, info);
            }
        }
        let Some(graph) = model.graph.as_deref_mut() else { return Ok(()) };
        for info in &mut graph.output {
            if info.r#type.is_none() {
                info.r#type = type_in(&types, info);
            }
        }
        // Names that the outputs need, from the last node to the first.
        let mut needed: HashSet<Text, FxBuildHasher> =
            graph.output.iter().filter_map(|output| output.name.clone()).collect();
        let mut kept = Vec::new();
        for node in std::mem::take(&mut graph.node).into_iter().rev() {
            let is_needed =
                |name: &Text| !name.is_empty() && needed.contains(name) && !inputs.contains(name);
            if node.output.iter().any(is_needed) {
                add_used_names(&node, &mut needed);
                kept.push(node);
            }
        }
        kept.reverse();
        graph.node = kept;
        let is_used = |name: &Option<Text>| {
            name.as_ref().is_some_and(|name| needed.contains(name) && !inputs.contains(name))
        };
        graph.initializer.retain(|tensor| is_used(&tensor.name));
        graph
            .sparse_initializer
            .retain(|tensor| tensor.values.as_ref().is_some_and(|values| is_used(&values.name)));
        let initialized: HashSet<Text, FxBuildHasher> =
            graph.initializer.iter().filter_map(|tensor| tensor.name.clone()).collect();
        let old_inputs: Vec<ValueInfo> = std::mem::take(&mut graph.input);
        let still_needed = old_inputs.into_iter().filter(|input| is_used(&input.name));
        match self.inputs.is_empty() {
            true => graph.input = still_needed.collect(),
            false => {
                graph.input = new_inputs;
                for input in still_needed {
                    match &input.name {
                        Some(name) if !initialized.contains(name) => {
                            return Err(EditError::MissingInput { name: name.to_string() });
                        }
                        _ => graph.input.push(input),
                    }
                }
            }
        }
        let defined: HashSet<&Text, FxBuildHasher> =
            graph.node.iter().flat_map(|node| &node.output).collect();
        graph.value_info.retain(|info| info.name.as_ref().is_some_and(|n| defined.contains(n)));
        Ok(())
    }

    // Checks that the new inputs and outputs are values of the graph.
    fn check_values(&self, graph: &Graph) -> Result<(), EditError> {
        let inputs = graph.input.iter().filter_map(|input| input.name.as_ref());
        let weights = graph.initializer.iter().filter_map(|tensor| tensor.name.as_ref());
        let sparse = graph.sparse_initializer.iter().filter_map(|tensor| tensor.values.as_ref());
        let results = graph.node.iter().flat_map(|node| &node.output);
        let names: Vec<&Text> = inputs
            .chain(weights)
            .chain(sparse.filter_map(|values| values.name.as_ref()))
            .chain(results.filter(|name| !name.is_empty()))
            .collect();
        let set: HashSet<&Text, FxBuildHasher> = names.iter().copied().collect();
        let mut named = self.outputs.iter().chain(&self.inputs);
        match named.find(|name| !set.contains(&Text::from(name.as_str()))) {
            Some(name) => Err(unknown("value", name, names.into_iter())),
            None => Ok(()),
        }
    }
}

/// Types of values by their names in the model.
pub(crate) type ValueTypes = HashMap<Text, ValueType, FxBuildHasher>;

fn unknown<'a>(kind: &'static str, name: &str, names: impl Iterator<Item = &'a Text>) -> EditError {
    let names: Vec<String> = names.map(ToString::to_string).collect();
    let close = did_you_mean(name, names.iter().map(String::as_str)).map(ToString::to_string);
    EditError::UnknownName { kind, name: name.to_owned(), close }
}

fn set_input_shape(graph: &mut Graph, name: &str, dims: &[InputDim]) -> Result<(), EditError> {
    let text = Text::from(name);
    let Some(input) = graph.input.iter_mut().find(|input| input.name.as_ref() == Some(&text))
    else {
        let names = graph.input.iter().filter_map(|input| input.name.as_ref());
        return Err(unknown("input", name, names));
    };
    let declared = match input.r#type.as_deref().and_then(|ty| ty.value.as_ref()) {
        Some(TypeValue::Tensor(tensor)) => tensor.clone(),
        _ => TensorType::default(),
    };
    if let Some(shape) = &declared.shape {
        let fits = |(old, new): (&Dimension, &InputDim)| match (&old.value, new) {
            (Some(DimensionValue::Value(n)), InputDim::Known(m)) => {
                *n < 0 || u64::try_from(*n) == Ok(*m)
            }
            _ => true,
        };
        if shape.dim.len() != dims.len() || !shape.dim.iter().zip(dims).all(fits) {
            let old = shape.dim.iter().map(|dim| match &dim.value {
                Some(DimensionValue::Value(n)) => n.to_string(),
                Some(DimensionValue::Param(name)) => name.to_string(),
                None => "?".into(),
            });
            return Err(EditError::Shape {
                name: name.to_owned(),
                declared: old.collect::<Vec<_>>().join(", "),
                found: dims.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            });
        }
    }
    let dim = |dim: &InputDim| Dimension {
        value: match dim {
            InputDim::Known(n) => i64::try_from(*n).ok().map(DimensionValue::Value),
            InputDim::Symbol(name) => Some(DimensionValue::Param(name.as_str().into())),
            InputDim::Unknown => None,
        },
        ..Dimension::default()
    };
    let shape = Shape { dim: dims.iter().map(dim).collect(), ..Shape::default() };
    let tensor = TensorType { shape: Some(shape), ..declared };
    let ty = Type { value: Some(TypeValue::Tensor(tensor)), ..Type::default() };
    input.r#type = Some(Nested::new(ty));
    Ok(())
}

impl std::fmt::Display for InputDim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Known(n) => write!(f, "{n}"),
            Self::Symbol(name) => write!(f, "{name}"),
            Self::Unknown => write!(f, "?"),
        }
    }
}

/// Adds the names that a node and the nodes of its subgraphs use.
fn add_used_names(node: &Node, names: &mut HashSet<Text, FxBuildHasher>) {
    names.extend(node.input.iter().filter(|name| !name.is_empty()).cloned());
    for graph in node.attribute.iter().flat_map(crate::Attribute::graphs) {
        with_stack(|| {
            names.extend(graph.output.iter().filter_map(|output| output.name.clone()));
            graph.node.iter().for_each(|inner| add_used_names(inner, names));
        });
    }
}
