//! Selecting a function of a program by name, or by default.

use sapwood_ptir::{Function, Program};

use super::cli_error::CliError;
use super::io::files::Input;

/// Returns the function of this name, with or without `@`.
pub(crate) fn find_function<'a>(
    program: &'a Program,
    name: &str,
) -> Result<&'a Function, CliError> {
    let name = name.strip_prefix('@').unwrap_or(name);
    program.function(name).map(|f| &**f).ok_or_else(|| {
        let names = program.functions().iter().map(|f| f.name().as_str());
        CliError::unknown_name("function", name, names)
    })
}

/// Returns the function to run: the one of this name, `main`, or the only one.
pub(crate) fn entry_function<'a>(
    name: Option<&str>,
    program: &'a Program,
    input: &Input,
) -> Result<&'a Function, CliError> {
    if let Some(name) = name {
        return find_function(program, name);
    }
    match (program.function("main"), program.functions()) {
        (Some(main), _) => Ok(main),
        (None, [only]) => Ok(only),
        (None, []) => Err(CliError::new(format!("{input}: the program has no functions"))),
        (None, several) => {
            let names: Vec<String> = several.iter().map(|f| format!("@{}", f.name())).collect();
            let names = names.join(", ");
            Err(CliError::new(format!(
                "{input}: several functions and no `main`; choose one with --function: {names}"
            )))
        }
    }
}
