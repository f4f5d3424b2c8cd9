//! The derive macro `#[derive(Node)]` of `sapwood-structural`. The trait `Node` documents the attributes.
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `lib.rs` | The whole macro: parsing of `#[node(…)]`, checks with an error at the attribute, and the generated descriptors and implementations. |

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, LitStr, Result};

/// Derives `Node` for a struct or an enum.
#[proc_macro_derive(Node, attributes(node))]
pub fn derive_node(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    expand(&input, &quote!(::sapwood_structural)).unwrap_or_else(Error::into_compile_error).into()
}

/// Derives `Node` in crates that depend on `sapwood` alone, which exports it as `sapwood::structural::Node`.
#[proc_macro_derive(SapwoodNode, attributes(node))]
pub fn derive_sapwood_node(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    expand(&input, &quote!(::sapwood::structural)).unwrap_or_else(Error::into_compile_error).into()
}

// Generates the implementation. `crate_` is the path of `sapwood-structural` in the user's crate.
fn expand(input: &DeriveInput, crate_: &TokenStream) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &input.generics,
            "a node type has one descriptor, so it cannot have generic parameters",
        ));
    }
    let name = &input.ident;
    let type_attributes = TypeAttributes::parse(&input.attrs)?;
    match &input.data {
        Data::Struct(data) => {
            let key = type_attributes.key.clone().unwrap_or_else(|| name.to_string());
            let descriptor = DescriptorCode::new(
                crate_,
                name,
                &quote!(Self),
                None,
                &key,
                &type_attributes,
                &data.fields,
            )?;
            Ok(implement_node(crate_, name, &[descriptor]))
        }
        Data::Enum(data) => {
            if type_attributes.kind.is_some() || type_attributes.scope || type_attributes.hooks {
                return Err(Error::new_spanned(
                    name,
                    "kind, scope and hooks belong on the variants of an enum",
                ));
            }
            let prefix = type_attributes.key.clone().unwrap_or_else(|| name.to_string());
            let mut descriptors = Vec::new();
            for variant in &data.variants {
                let ident = &variant.ident;
                let variant_attributes = TypeAttributes::parse(&variant.attrs)?;
                let key =
                    variant_attributes.key.clone().unwrap_or_else(|| format!("{prefix}.{ident}"));
                let path = quote!(Self::#ident);
                descriptors.push(DescriptorCode::new(
                    crate_,
                    name,
                    &path,
                    Some(ident),
                    &key,
                    &variant_attributes,
                    &variant.fields,
                )?);
            }
            Ok(implement_node(crate_, name, &descriptors))
        }
        Data::Union(data) => {
            Err(Error::new_spanned(data.union_token, "a node is a struct or an enum"))
        }
    }
}

/// The `#[node(…)]` attributes of a type or of a variant.
#[derive(Default)]
struct TypeAttributes {
    kind: Option<TokenStream>,
    key: Option<String>,
    scope: bool,
    hooks: bool,
}

impl TypeAttributes {
    fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut found = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("node")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("kind") {
                    reject_duplicate(&meta, found.kind.is_some())?;
                    let kind: LitStr = meta.value()?.parse()?;
                    let variant = match kind.value().as_str() {
                        "tree" => quote!(Tree),
                        "const-tree" => quote!(ConstTree),
                        "dag" => quote!(Dag),
                        "var" => quote!(Var),
                        "singleton" => quote!(Singleton),
                        "none" => quote!(Uncomparable),
                        other => {
                            return Err(Error::new(
                                kind.span(),
                                format!(
                                    "unknown kind {other:?}; expected \"tree\", \
                                     \"const-tree\", \"dag\", \"var\", \"singleton\" or \"none\""
                                ),
                            ));
                        }
                    };
                    found.kind = Some(variant);
                } else if meta.path.is_ident("key") {
                    reject_duplicate(&meta, found.key.is_some())?;
                    let key: LitStr = meta.value()?.parse()?;
                    found.key = Some(key.value());
                } else if meta.path.is_ident("scope") {
                    reject_duplicate(&meta, std::mem::replace(&mut found.scope, true))?;
                } else if meta.path.is_ident("hooks") {
                    reject_duplicate(&meta, std::mem::replace(&mut found.hooks, true))?;
                } else {
                    return Err(
                        meta.error("unknown attribute; a type takes kind, key, scope and hooks")
                    );
                }
                Ok(())
            })?;
        }
        Ok(found)
    }
}

/// Rejects an attribute that was given before.
fn reject_duplicate(meta: &ParseNestedMeta<'_>, before: bool) -> Result<()> {
    if before { Err(meta.error("this attribute is given twice")) } else { Ok(()) }
}

/// The `#[node(…)]` attributes of a field.
#[derive(Default)]
struct FieldAttributes {
    def: bool,
    ignore: bool,
    default: bool,
}

impl FieldAttributes {
    fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut found = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("node")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("def") {
                    reject_duplicate(&meta, std::mem::replace(&mut found.def, true))?;
                } else if meta.path.is_ident("ignore") {
                    reject_duplicate(&meta, std::mem::replace(&mut found.ignore, true))?;
                } else if meta.path.is_ident("default") {
                    reject_duplicate(&meta, std::mem::replace(&mut found.default, true))?;
                } else {
                    return Err(
                        meta.error("unknown attribute; a field takes def, ignore and default")
                    );
                }
                if found.def && found.ignore {
                    return Err(meta.error("a field has one role: def or ignore"));
                }
                Ok(())
            })?;
        }
        Ok(found)
    }

    fn role(&self) -> TokenStream {
        match self {
            Self { def: true, .. } => quote!(Def),
            Self { ignore: true, .. } => quote!(Ignore),
            _ => quote!(Usual),
        }
    }
}

/// The generated code for one descriptor: of a struct, or of one variant.
struct DescriptorCode {
    /// A pattern that matches a value and binds its fields to `f0`, `f1`, ….
    pattern: TokenStream,
    /// The items and the expression that return the descriptor.
    info: TokenStream,
    /// The name of the function that holds the descriptor.
    function: Ident,
    /// A pattern that matches the other value and binds its fields to `g0`, `g1`, ….
    other: TokenStream,
    /// An expression for the view of field `index`, given the pattern.
    view: TokenStream,
    /// An expression that compares the fields that are not ignored, given both patterns.
    compare: TokenStream,
    /// An expression that adds the hash contributions of the fields that are not ignored, given the pattern.
    hash: TokenStream,
    /// An expression that builds a value from `fields`.
    build: TokenStream,
}

impl DescriptorCode {
    fn new(
        crate_: &TokenStream,
        name: &Ident,
        path: &TokenStream,
        variant: Option<&Ident>,
        key: &str,
        attributes: &TypeAttributes,
        fields: &Fields,
    ) -> Result<Self> {
        let count = fields.len();
        let mut infos = Vec::new();
        let mut patterns = Vec::new();
        let mut others = Vec::new();
        let mut comparisons = Vec::new();
        let mut hash_steps = Vec::new();
        let mut views = Vec::new();
        let mut builds = Vec::new();
        for (index, field) in fields.iter().enumerate() {
            let attributes = FieldAttributes::parse(&field.attrs)?;
            let role = attributes.role();
            let field_name = field.ident.as_ref().map_or_else(
                || index.to_string(),
                |ident| ident.to_string().trim_start_matches("r#").to_owned(),
            );
            infos.push(quote!(#crate_::FieldInfo::new(#field_name, #crate_::FieldRole::#role)));
            let binding = format_ident!("f{index}");
            let other = format_ident!("g{index}");
            if attributes.def {
                comparisons.push(quote!(
                    comparer.with_def_region(|comparer| #crate_::Field::compare(#binding, #other, comparer))
                ));
            } else if !attributes.ignore {
                comparisons.push(quote!(#crate_::Field::compare(#binding, #other, comparer)));
            }
            if !attributes.ignore {
                hash_steps.push(hash_field(crate_, index, &binding, attributes.def));
            }
            views.push(quote!(#index => #crate_::Field::view(#binding)));
            let ty = &field.ty;
            let missing = if attributes.default {
                quote!(::core::default::Default::default())
            } else {
                quote!(return ::core::result::Result::Err(#crate_::BuildError::new(
                    ::std::format!("field {} of {} was not given", #field_name, #key))))
            };
            let value = quote! {
                match fields.next() {
                    ::core::option::Option::Some(value) => {
                        <#ty as #crate_::Field>::from_value(value)
                            .map_err(|error| error.in_field(#key, #field_name))?
                    }
                    ::core::option::Option::None => #missing,
                }
            };
            match &field.ident {
                Some(ident) => {
                    patterns.push(quote!(#ident: #binding));
                    others.push(quote!(#ident: #other));
                    builds.push(quote!(#ident: #value));
                }
                None => {
                    patterns.push(quote!(#binding));
                    others.push(quote!(#other));
                    builds.push(value);
                }
            }
        }
        let with = |parts: &[TokenStream]| match fields {
            Fields::Named(_) => quote!(#path { #(#parts),* }),
            Fields::Unnamed(_) => quote!(#path(#(#parts),*)),
            Fields::Unit => path.clone(),
        };
        let (pattern, other, build) = (with(&patterns), with(&others), with(&builds));
        let kind = attributes.kind.clone().unwrap_or_else(|| quote!(Tree));
        let scope = attributes.scope.then(|| quote!(.scoped()));
        let hooks = attributes
            .hooks
            .then(|| quote!(.hooked(&#crate_::__private::TypedHooks::<#name>::NEW)));
        let function = match variant {
            Some(variant) => format_ident!("__node_info_{variant}"),
            None => format_ident!("__node_info"),
        };
        let info = quote! {
            static FIELDS: [#crate_::FieldInfo; #count] = [#(#infos),*];
            static INFO: #crate_::TypeInfo =
                #crate_::TypeInfo::record::<#name>(#key, #crate_::NodeKind::#kind, &FIELDS)
                #scope #hooks;
            &INFO
        };
        let view = quote!(match index { #(#views,)* _ => #crate_::View::None });
        let compare = quote!(true #(&& #comparisons)*);
        let reversed = hash_steps.iter().rev();
        let hash = quote!({
            if hasher.backwards() { #(#reversed)* } else { #(#hash_steps)* }
            sum
        });
        Ok(Self { pattern, other, info, function, view, compare, hash, build })
    }
}

/// Generates the statement that adds the hash contribution of one field.
fn hash_field(crate_: &TokenStream, index: usize, binding: &Ident, def: bool) -> TokenStream {
    let part = if def {
        quote!(hasher.with_def_region(|hasher| #crate_::Field::hash_contribution(#binding, hasher)))
    } else {
        quote!(#crate_::Field::hash_contribution(#binding, hasher))
    };
    quote! {
        let part = #part;
        if hasher.halted() {
            return hasher.suspend_at(#index, sum);
        }
        sum = sum.add(const { #crate_::__private::ChildPosition::of(#index) }, part);
    }
}

fn implement_node(
    crate_: &TokenStream,
    name: &Ident,
    descriptors: &[DescriptorCode],
) -> TokenStream {
    let functions: Vec<&Ident> =
        descriptors.iter().map(|descriptor| &descriptor.function).collect();
    let infos = descriptors.iter().map(|descriptor| &descriptor.info);
    let patterns: Vec<&TokenStream> =
        descriptors.iter().map(|descriptor| &descriptor.pattern).collect();
    let others: Vec<&TokenStream> =
        descriptors.iter().map(|descriptor| &descriptor.other).collect();
    let views = descriptors.iter().map(|descriptor| &descriptor.view);
    let comparisons = descriptors.iter().map(|descriptor| &descriptor.compare);
    let hash_steps = descriptors.iter().map(|descriptor| &descriptor.hash);
    let builds = descriptors.iter().map(|descriptor| &descriptor.build);
    quote! {
        const _: () = {
            #(
                #[allow(non_snake_case)]
                fn #functions() -> &'static #crate_::TypeInfo { #infos }
            )*

            #[allow(unused_variables, unused_mut, clippy::match_single_binding)]
            impl #crate_::Node for #name {
                #[inline]
                fn type_info(&self) -> &'static #crate_::TypeInfo {
                    match self { #(#patterns => #functions(),)* }
                }

                #[inline]
                fn field(&self, index: usize) -> #crate_::View<'_> {
                    match self { #(#patterns => #views,)* }
                }

                #[inline]
                #[allow(unreachable_patterns)]
                fn compare_fields<'__a>(&'__a self, other: &'__a Self, comparer: &mut #crate_::FieldComparer<'__a>) -> bool {
                    match (self, other) { #((#patterns, #others) => #comparisons,)* _ => false }
                }

                fn hash_fields<'__a>(
                    &'__a self,
                    mut sum: #crate_::__private::HashSum,
                    hasher: &mut #crate_::FieldHasher<'_, '_, '__a>,
                ) -> #crate_::__private::HashSum {
                    match self { #(#patterns => #hash_steps,)* }
                }

                fn types() -> ::std::vec::Vec<&'static #crate_::TypeInfo> {
                    ::std::vec![#(#functions()),*]
                }

                fn build(
                    info: &'static #crate_::TypeInfo,
                    fields: ::std::vec::Vec<#crate_::Value>,
                ) -> ::core::result::Result<Self, #crate_::BuildError> {
                    let mut fields = fields.into_iter();
                    #(
                        if ::core::ptr::eq(info, #functions()) {
                            return ::core::result::Result::Ok(#builds);
                        }
                    )*
                    ::core::result::Result::Err(#crate_::BuildError::new(::std::format!(
                        "{} does not make nodes of {}", ::core::stringify!(#name), info.key())))
                }
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::expand;

    fn try_expand(text: &str) -> syn::Result<TokenStream> {
        expand(&syn::parse_str(text).unwrap(), &quote!(::sapwood::structural))
    }

    /// Returns the error of the derive for a text that it rejects.
    #[track_caller]
    fn expand_error(text: &str) -> String {
        try_expand(text).expect_err(text).to_string()
    }

    #[test]
    fn a_field_has_one_role() {
        for text in [
            "struct A { #[node(ignore, def)] a: i64 }",
            "struct A(#[node(def)] #[node(ignore)] i64);",
            "enum A { B { #[node(def, default, ignore)] a: i64 } }",
        ] {
            assert_eq!(expand_error(text), "a field has one role: def or ignore", "{text}");
        }
        for text in [
            "struct A { #[node(ignore, default)] a: i64 }",
            "struct A { #[node(def)] #[node(default)] a: i64 }",
        ] {
            let code = try_expand(text).expect(text).to_string();
            assert!(!code.contains("sapwood_structural"), "{text}: the path of the crate is given");
        }
    }

    #[test]
    fn no_attribute_is_given_twice() {
        for said in [r#"kind = "dag""#, r#"key = "a.A""#, "scope", "hooks"] {
            for text in [
                format!("#[node({said}, {said})] struct A;"),
                format!("#[node({said})] #[node({said})] struct A;"),
                format!("enum A {{ #[node({said}, {said})] B }}"),
            ] {
                assert_eq!(expand_error(&text), "this attribute is given twice", "{text}");
            }
        }
        assert_eq!(
            expand_error(r#"#[node(kind = "dag", kind = "var")] struct A;"#),
            "this attribute is given twice"
        );
        for said in ["def", "ignore", "default"] {
            let text = format!("struct A {{ #[node({said}, {said})] a: i64 }}");
            assert_eq!(expand_error(&text), "this attribute is given twice", "{text}");
        }
    }
}
