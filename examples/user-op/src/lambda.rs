//! An IR of one's own: the lambda calculus. The derive macro describes its nodes to the engine.

use sapwood::structural::{Node, Ref};

/// A variable; its name does not count.
#[derive(Node)]
#[node(kind = "var")]
pub struct Var {
    /// The name, for printing.
    #[node(ignore)]
    pub name: String,
}

/// A function, which binds its parameters.
#[derive(Node)]
#[node(scope)]
pub struct Lambda {
    /// The parameters.
    #[node(def)]
    pub params: Vec<Ref<Var>>,
    /// The body: variables that are applied to each other.
    pub body: Vec<Ref<Var>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood::structural::equal;

    #[test]
    fn functions_are_equal_up_to_renaming() -> Result<(), Box<dyn std::error::Error>> {
        let lambda = |names: [&str; 2], body: [usize; 2]| {
            let params = names.map(|name| Ref::new(Var { name: name.into() }));
            let body = body.map(|n| params[n].clone());
            Ref::new(Lambda { params: params.to_vec(), body: body.to_vec() })
        };
        assert!(equal(&lambda(["x", "y"], [0, 1]), &lambda(["a", "b"], [0, 1]))?);
        assert!(!equal(&lambda(["x", "y"], [0, 1]), &lambda(["x", "y"], [1, 0]))?);
        Ok(())
    }
}
