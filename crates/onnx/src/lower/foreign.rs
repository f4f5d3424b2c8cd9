//! The types of nodes of other operator sets, whose ops stay unknown otherwise.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::{Attr, Dim, TensorType, ValueType};

use super::NodeView;

/// Ops of `com.microsoft` whose only result has the type of the first operand.
const LIKE_FIRST: &[&str] = &["BiasGelu", "BiasSplitGelu", "FastGelu", "Gelu", "QuickGelu"];

/// Returns the types of the results of an unknown node; `None` where they do not follow.
pub(super) fn infer(view: &NodeView<'_>, types: &[&ValueType]) -> Option<Vec<Option<ValueType>>> {
    let attr = |name: &str| view.attrs.get(view.def.attrs.iter().position(|row| row.name == name)?);
    if attr("domain")?.as_str()? != "com.microsoft" {
        return None;
    }
    let op = attr("op_type")?.as_str()?;
    let x = types.first()?.as_tensor()?;
    if op == "DynamicQuantizeLSTM" && x.rank() == 3 && x.dtype == DataType::F32 {
        let own = |name: &str| attr("attributes")?.get(name);
        let hidden = u64::try_from(own("hidden_size")?.as_int()?).ok()?;
        let directions = match own("direction").and_then(Attr::as_str) {
            Some("bidirectional") => 2,
            _ => 1,
        };
        let known = [Dim::Known(directions), x.dims[1], Dim::Known(hidden)];
        let state = TensorType { dtype: x.dtype, dims: known.iter().copied().collect() };
        let all = [x.dims[0]].into_iter().chain(known);
        let sequence = TensorType { dtype: x.dtype, dims: all.collect() };
        let results = [sequence, state.clone(), state];
        return Some(results.into_iter().take(view.outputs).map(|ty| Some(ty.into())).collect());
    }
    (LIKE_FIRST.contains(&op) && view.outputs == 1).then(|| vec![Some(x.clone().into())])
}
