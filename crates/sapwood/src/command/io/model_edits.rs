//! The arguments that edit ONNX models as they are read.

use std::sync::Arc;

use sapwood_onnx::{InputDim, ModelEdits};

use crate::command::console::Console;
use crate::toolkit::Toolkit;

/// The arguments that edit ONNX models.
#[derive(clap::Args)]
pub(crate) struct ModelEditArgs {
    /// Give an input of an ONNX model a shape, for example `image=1x3x224x224`; an extent may also be a symbol, or `?`. May be
    /// repeated
    #[arg(long, value_name = "NAME=SHAPE", value_parser = parse_input_shape)]
    input_shape: Vec<(String, Vec<InputDim>)>,
    /// Cut an ONNX model: these values become its inputs
    #[arg(long = "inputs", value_name = "NAMES", value_delimiter = ',')]
    cut_inputs: Vec<String>,
    /// Cut an ONNX model: these values become its outputs, and nodes that they do not need are removed
    #[arg(long = "outputs", value_name = "NAMES", value_delimiter = ',')]
    cut_outputs: Vec<String>,
    /// Leave the nodes of these ops of an ONNX model as they are, for example `Gelu,Resize`
    #[arg(long, value_name = "OPS", value_delimiter = ',')]
    keep_op: Vec<String>,
    /// Write ONNX models with this version of the operator set; the default is that of the input
    #[arg(long, value_name = "N")]
    opset: Option<i64>,
}

impl ModelEditArgs {
    /// Returns a console whose toolkit edits the models that it reads, and inlines their functions if `inline_functions`.
    pub(crate) fn console(&self, console: &Console, inline_functions: bool) -> Console {
        let edits = ModelEdits {
            input_shapes: self.input_shape.clone(),
            inputs: self.cut_inputs.clone(),
            outputs: self.cut_outputs.clone(),
            keep_ops: self.keep_op.clone(),
            inline_functions,
        };
        let toolkit = Toolkit::clone(&console.toolkit).edit_models(edits);
        let toolkit = toolkit.write_opset(self.opset);
        Console { toolkit: Arc::new(toolkit), ..console.clone() }
    }
}

// Reads `NAME=1x3x224x224`; names may contain `=`.
fn parse_input_shape(text: &str) -> Result<(String, Vec<InputDim>), String> {
    let expected = || format!("`{text}` is not a shape of an input; expected NAME=1x3x224x224");
    let (name, shape) = text.rsplit_once('=').ok_or_else(expected)?;
    if name.is_empty() {
        return Err(expected());
    }
    if shape.is_empty() {
        return Ok((name.to_owned(), Vec::new()));
    }
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    // `x` separates extents, unless it is inside a symbol: those are separated by `,`.
    let separator = if shape.contains(',') { ',' } else { 'x' };
    let dim = |part: &str| match part.trim() {
        "?" => Ok(InputDim::Unknown),
        part if part.parse::<u64>().is_ok() => {
            part.parse().map(InputDim::Known).map_err(|_| expected())
        }
        part if is_name(part) => Ok(InputDim::Symbol(part.to_owned())),
        _ => Err(expected()),
    };
    Ok((name.to_owned(), shape.split(separator).map(dim).collect::<Result<_, _>>()?))
}
