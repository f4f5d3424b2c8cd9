//! A macro that builds mutated copies of the shipped patterns, for the campaign that tests `opt --check`.
//!
//! [`mutated!`] reads the sources of the patterns and expands to a copy that contains every mutant, none of them active:
//! an expression `e` becomes `if active(17) { broken e } else { e }`. One build holds all mutants, and the test
//! activates one at run time. The shipped sources are unchanged. See `docs/design/2026-11-16-mutants.md`.
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `mutator` | A visitor that inserts mutants into a file. |
//! | `expression` | The mutations of one expression. |
//! | `tables` | Names that type-check in place of each other. |

mod expression;
mod mutator;
mod tables;

use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::visit_mut::VisitMut as _;
use syn::{Item, LitStr};

use mutator::{Mutant, Mutator};

/// Expands to the mutated modules of a source folder, given relative to the manifest of the calling crate.
///
/// The folder's `mod.rs` lists the files; each becomes a module of the same name. The expansion uses
/// `crate::mutant::active`, which returns whether a mutant is active, `crate::mutant::Mutant`, which describes one, and
/// `crate::prelude`, whose names are imported into each module. A constant `MUTANTS` lists all mutants in order.
#[proc_macro]
pub fn mutated(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let folder = syn::parse_macro_input!(input as LitStr);
    let root = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    match modules(&root.join(folder.value())) {
        Ok(tokens) => tokens.into(),
        Err(problem) => syn::Error::new(folder.span(), problem).to_compile_error().into(),
    }
}

// Expands the `mod.rs` of a folder with its modules inline, and the list of mutants.
fn modules(folder: &Path) -> Result<TokenStream, String> {
    let mut all: Vec<Mutant> = Vec::new();
    let (top, mut watched) = read(&folder.join("mod.rs"))?;
    let mut items = Vec::new();
    for item in top.items {
        let Item::Mod(module) = &item else {
            items.push(quote!(#item));
            continue;
        };
        let name = module.ident.to_string();
        let (mut file, path) = read(&folder.join(format!("{name}.rs")))?;
        watched.extend(path);
        let mut mutator = Mutator::new(&name, all.len());
        file.items.iter_mut().for_each(|item| mutator.visit_item_mut(item));
        all.extend(mutator.found);
        let (name, inner) = (format_ident!("{name}"), file.items);
        items.push(quote! {
            pub mod #name {
                use crate::prelude::*;
                #(#inner)*
            }
        });
    }
    let listed = all.iter().map(|Mutant { file, function, kind, before, after }| {
        quote!(crate::mutant::Mutant {
            file: #file, function: #function, kind: #kind, before: #before, after: #after,
        })
    });
    Ok(quote! {
        /// All mutants, by number.
        pub const MUTANTS: &[crate::mutant::Mutant] = &[#(#listed),*];
        // Makes the build depend on the sources.
        const _: &[&[u8]] = &[#(include_bytes!(#watched)),*];
        #(#items)*
    })
}

// Parses a file. Returns it without its attributes, and its path.
fn read(path: &Path) -> Result<(syn::File, Vec<String>), String> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|why| format!("cannot read {shown}: {why}"))?;
    let file = syn::parse_file(&text).map_err(|why| format!("cannot parse {shown}: {why}"))?;
    Ok((file, vec![shown.to_string()]))
}
