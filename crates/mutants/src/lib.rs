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
use syn::parse::{Parse, ParseStream};
use syn::visit_mut::VisitMut as _;
use syn::{Item, LitStr, Token};

use mutator::{Mutant, Mutator};

/// Expands to the mutated modules of a source folder, given relative to the manifest of the calling crate.
///
/// The folder's `mod.rs` lists the files; each becomes a module of the same name. The expansion uses
/// `crate::mutant::active`, which returns whether a mutant is active, `crate::mutant::Mutant`, which describes one, and
/// `crate::prelude`, whose names are imported into each module. A constant `MUTANTS` lists all mutants in order; the first has the number `FIRST_MUTANT`.
///
/// A second folder after a comma is expanded by another call: the numbers of the mutants continue after those of that folder.
#[proc_macro]
pub fn mutated(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let Folders { folder, previous } = syn::parse_macro_input!(input as Folders);
    let root = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let expand = || {
        let first = match &previous {
            Some(previous) => modules(&root.join(previous.value()), 0)?.mutants,
            None => 0,
        };
        modules(&root.join(folder.value()), first)
    };
    match expand() {
        Ok(expanded) => expanded.tokens.into(),
        Err(problem) => syn::Error::new(folder.span(), problem).to_compile_error().into(),
    }
}

/// The arguments of the macro.
struct Folders {
    folder: LitStr,
    previous: Option<LitStr>,
}

impl Parse for Folders {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let folder = input.parse()?;
        let previous = match input.parse::<Option<Token![,]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self { folder, previous })
    }
}

/// The mutated modules of a folder.
struct Expanded {
    tokens: TokenStream,
    /// The number of mutants.
    mutants: usize,
}

// Expands the `mod.rs` of a folder with its modules inline, and the list of mutants, whose numbers begin with `first`.
fn modules(folder: &Path, first: usize) -> Result<Expanded, String> {
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
        let mut mutator = Mutator::new(&name, first + all.len());
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
    let mutants = all.len();
    let tokens = quote! {
        /// The number of the first mutant.
        pub const FIRST_MUTANT: usize = #first;
        /// All mutants, by number.
        pub const MUTANTS: &[crate::mutant::Mutant] = &[#(#listed),*];
        // Makes the build depend on the sources.
        const _: &[&[u8]] = &[#(include_bytes!(#watched)),*];
        #(#items)*
    };
    Ok(Expanded { tokens, mutants })
}

// Parses a file. Returns it without its attributes, and its path.
fn read(path: &Path) -> Result<(syn::File, Vec<String>), String> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|why| format!("cannot read {shown}: {why}"))?;
    let file = syn::parse_file(&text).map_err(|why| format!("cannot parse {shown}: {why}"))?;
    Ok((file, vec![shown.to_string()]))
}
