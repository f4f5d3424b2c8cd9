//! `#[derive(Node)]` for `sapwood-structural`. The attributes are described at the trait `Node`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, LitStr, Result};

/// Derives `Node`.
#[proc_macro_derive(Node, attributes(node))]
pub fn derive_node(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &input.generics,
            "a node type has one descriptor, so it cannot have generic parameters",
        ));
    }
    let name = &input.ident;
    let on_type = TypeAttributes::parse(&input.attrs)?;
    match &input.data {
        Data::Struct(data) => {
            let key = on_type.key.clone().unwrap_or_else(|| name.to_string());
            let shape = Shape::new(name, &quote!(Self), None, &key, &on_type, &data.fields)?;
            Ok(implement(name, &[shape]))
        }
        Data::Enum(data) => {
            if on_type.kind.is_some() || on_type.scope || on_type.hooks {
                return Err(Error::new_spanned(
                    name,
                    "kind, scope and hooks belong on the variants of an enum",
                ));
            }
            let prefix = on_type.key.clone().unwrap_or_else(|| name.to_string());
            let mut shapes = Vec::new();
            for variant in &data.variants {
                let ident = &variant.ident;
                let on_variant = TypeAttributes::parse(&variant.attrs)?;
                let key = on_variant.key.clone().unwrap_or_else(|| format!("{prefix}.{ident}"));
                let path = quote!(Self::#ident);
                shapes.push(Shape::new(
                    name,
                    &path,
                    Some(ident),
                    &key,
                    &on_variant,
                    &variant.fields,
                )?);
            }
            Ok(implement(name, &shapes))
        }
        Data::Union(data) => {
            Err(Error::new_spanned(data.union_token, "a node is a struct or an enum"))
        }
    }
}

/// The attributes of a type or of a variant.
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
                    once(&meta, found.kind.is_some())?;
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
                                    "no kind is called {other:?}; there are \"tree\", \
                                     \"const-tree\", \"dag\", \"var\", \"singleton\" and \"none\""
                                ),
                            ));
                        }
                    };
                    found.kind = Some(variant);
                } else if meta.path.is_ident("key") {
                    once(&meta, found.key.is_some())?;
                    let key: LitStr = meta.value()?.parse()?;
                    found.key = Some(key.value());
                } else if meta.path.is_ident("scope") {
                    once(&meta, std::mem::replace(&mut found.scope, true))?;
                } else if meta.path.is_ident("hooks") {
                    once(&meta, std::mem::replace(&mut found.hooks, true))?;
                } else {
                    return Err(meta.error("a type can say kind, key, scope and hooks"));
                }
                Ok(())
            })?;
        }
        Ok(found)
    }
}

/// Refuses what was said before.
fn once(meta: &ParseNestedMeta<'_>, before: bool) -> Result<()> {
    if before { Err(meta.error("this is said twice")) } else { Ok(()) }
}

/// What a field says.
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
                    once(&meta, std::mem::replace(&mut found.def, true))?;
                } else if meta.path.is_ident("ignore") {
                    once(&meta, std::mem::replace(&mut found.ignore, true))?;
                } else if meta.path.is_ident("default") {
                    once(&meta, std::mem::replace(&mut found.default, true))?;
                } else {
                    return Err(meta.error("a field can say def, ignore and default"));
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

/// The code for one descriptor: of a struct, or of one variant.
struct Shape {
    /// Matches a value, binding its fields to `f0`, `f1`, ….
    pattern: TokenStream,
    /// The items and expression that give the descriptor.
    info: TokenStream,
    /// The function in which the descriptor lives.
    function: Ident,
    /// The same, binding its fields to `g0`, `g1`, ….
    other: TokenStream,
    /// The value of field `index`, given the pattern.
    view: TokenStream,
    /// Whether the fields that count meet, given both patterns.
    meet: TokenStream,
    /// Takes in the fields that count for a hash, given the pattern.
    feed: TokenStream,
    /// A value from `fields`.
    build: TokenStream,
}

impl Shape {
    fn new(
        name: &Ident,
        path: &TokenStream,
        variant: Option<&Ident>,
        key: &str,
        attributes: &TypeAttributes,
        fields: &Fields,
    ) -> Result<Self> {
        let crate_ = quote!(::sapwood_structural);
        let count = fields.len();
        let mut infos = Vec::new();
        let mut patterns = Vec::new();
        let mut others = Vec::new();
        let mut meets = Vec::new();
        let mut feeds = Vec::new();
        let mut views = Vec::new();
        let mut builds = Vec::new();
        for (index, field) in fields.iter().enumerate() {
            let said = FieldAttributes::parse(&field.attrs)?;
            let role = said.role();
            let field_name = field.ident.as_ref().map_or_else(
                || index.to_string(),
                |ident| ident.to_string().trim_start_matches("r#").to_owned(),
            );
            infos.push(quote!(#crate_::FieldInfo::new(#field_name, #crate_::Role::#role)));
            let binding = format_ident!("f{index}");
            let other = format_ident!("g{index}");
            if said.def {
                meets.push(quote!(
                    meet.define(|meet| #crate_::Field::meet(#binding, #other, meet))
                ));
            } else if !said.ignore {
                meets.push(quote!(#crate_::Field::meet(#binding, #other, meet)));
            }
            if !said.ignore {
                feeds.push(feed_field(index, &binding, said.def));
            }
            views.push(quote!(#index => #crate_::Field::view(#binding)));
            let ty = &field.ty;
            let missing = if said.default {
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
        let hooks = attributes.hooks.then(|| quote!(.hooked(&#crate_::TypedHooks::<#name>::NEW)));
        let function = match variant {
            Some(variant) => format_ident!("__node_info_{variant}"),
            None => format_ident!("__node_info"),
        };
        let info = quote! {
            static FIELDS: [#crate_::FieldInfo; #count] = [#(#infos),*];
            static INFO: #crate_::TypeInfo =
                #crate_::TypeInfo::record::<#name>(#key, #crate_::Kind::#kind, &FIELDS)
                #scope #hooks;
            &INFO
        };
        let view = quote!(match index { #(#views,)* _ => #crate_::View::None });
        let meet = quote!(true #(&& #meets)*);
        let back = feeds.iter().rev();
        let feed = quote!({
            if feed.backwards() { #(#back)* } else { #(#feeds)* }
            sum
        });
        Ok(Self { pattern, other, info, function, view, meet, feed, build })
    }
}

/// Takes in one field for a hash.
fn feed_field(index: usize, binding: &Ident, def: bool) -> TokenStream {
    let crate_ = quote!(::sapwood_structural);
    let part = if def {
        quote!(feed.define(|feed| #crate_::Field::part(#binding, feed)))
    } else {
        quote!(#crate_::Field::part(#binding, feed))
    };
    quote! {
        let part = #part;
        if feed.halted() {
            return feed.leave(#index, sum);
        }
        sum = sum.add(const { #crate_::Position::of(#index) }, part);
    }
}

fn implement(name: &Ident, shapes: &[Shape]) -> TokenStream {
    let crate_ = quote!(::sapwood_structural);
    let functions: Vec<&Ident> = shapes.iter().map(|shape| &shape.function).collect();
    let infos = shapes.iter().map(|shape| &shape.info);
    let patterns: Vec<&TokenStream> = shapes.iter().map(|shape| &shape.pattern).collect();
    let others: Vec<&TokenStream> = shapes.iter().map(|shape| &shape.other).collect();
    let views = shapes.iter().map(|shape| &shape.view);
    let meets = shapes.iter().map(|shape| &shape.meet);
    let feeds = shapes.iter().map(|shape| &shape.feed);
    let builds = shapes.iter().map(|shape| &shape.build);
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
                fn meet<'__a>(&'__a self, other: &'__a Self, meet: &mut #crate_::Meet<'__a>) -> bool {
                    match (self, other) { #((#patterns, #others) => #meets,)* _ => false }
                }

                fn feed<'__a>(
                    &'__a self,
                    mut sum: #crate_::Sum,
                    feed: &mut #crate_::Feed<'_, '_, '__a>,
                ) -> #crate_::Sum {
                    match self { #(#patterns => #feeds,)* }
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
    use super::expand;

    /// What the derive says of a text that it refuses.
    #[track_caller]
    fn refusal(text: &str) -> String {
        expand(&syn::parse_str(text).unwrap()).expect_err(text).to_string()
    }

    #[test]
    fn a_field_has_one_role() {
        for text in [
            "struct A { #[node(ignore, def)] a: i64 }",
            "struct A(#[node(def)] #[node(ignore)] i64);",
            "enum A { B { #[node(def, default, ignore)] a: i64 } }",
        ] {
            assert_eq!(refusal(text), "a field has one role: def or ignore", "{text}");
        }
        for text in [
            "struct A { #[node(ignore, default)] a: i64 }",
            "struct A { #[node(def)] #[node(default)] a: i64 }",
        ] {
            expand(&syn::parse_str(text).unwrap()).expect(text);
        }
    }

    #[test]
    fn nothing_is_said_twice() {
        for said in [r#"kind = "dag""#, r#"key = "a.A""#, "scope", "hooks"] {
            for text in [
                format!("#[node({said}, {said})] struct A;"),
                format!("#[node({said})] #[node({said})] struct A;"),
                format!("enum A {{ #[node({said}, {said})] B }}"),
            ] {
                assert_eq!(refusal(&text), "this is said twice", "{text}");
            }
        }
        assert_eq!(
            refusal(r#"#[node(kind = "dag", kind = "var")] struct A;"#),
            "this is said twice"
        );
        for said in ["def", "ignore", "default"] {
            let text = format!("struct A {{ #[node({said}, {said})] a: i64 }}");
            assert_eq!(refusal(&text), "this is said twice", "{text}");
        }
    }
}
