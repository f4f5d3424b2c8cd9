//! Binding of constructor arguments by hand: one `__new__` serves all node classes.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use sapwood_types::counted;

use crate::errors;

/// Returns the arguments of a call in parameter order, `None` for those that are absent. Fails if one of the first `required` is absent.
pub(crate) fn bind<'py, const N: usize>(
    class: &str,
    names: [&'static str; N],
    required: usize,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<[Option<Bound<'py, PyAny>>; N]> {
    let py = args.py();
    if args.len() > N {
        let takes = counted(N, "argument");
        let message = format!("{class} takes {takes} ({}), {} given", names.join(", "), args.len());
        return Err(errors::argument_error(py, message));
    }
    let mut bound = [const { None }; N];
    for (slot, given) in bound.iter_mut().zip(args.iter()) {
        *slot = Some(given);
    }
    for (name, given) in kwargs.into_iter().flatten() {
        let name = name.cast::<PyString>()?.to_str()?;
        let Some(index) = names.iter().position(|known| *known == name) else {
            let hint = sapwood_types::did_you_mean(name, names);
            let more = match hint {
                Some(hint) => format!("did you mean {hint}?"),
                None => format!("it takes {}", names.join(", ")),
            };
            return Err(errors::argument_error(
                py,
                format!("{class} has no argument {name}; {more}"),
            ));
        };
        if bound[index].replace(given).is_some() {
            return Err(errors::argument_error(py, format!("{class} was given {name} twice")));
        }
    }
    if let Some(missing) = (0..required).find(|&index| bound[index].is_none()) {
        let message = format!("{class} needs {}, which was not given", names[missing]);
        return Err(errors::argument_error(py, message));
    }
    Ok(bound)
}
