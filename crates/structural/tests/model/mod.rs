//! A reference model of structural equality, as plain as possible: recursive, without memos and shortcuts. It
//! is exponential in shared graphs; the engine must agree with it.

use sapwood_structural::{
    ChildLayout, Facts, FieldRole, NodeKind, NodeRef, StructuralOptions, Value, View,
};
use sapwood_testing::graphs::RandomTypes;

/// The comparison is refused (for the same reasons as in the engine).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused;

#[derive(Clone, Copy, PartialEq)]
enum ModelRegion {
    Use,
    Key,
    MapFree,
    Def,
    BelowVar,
    /// Below a variable bound at the root, outside and inside def fields.
    BelowRoot,
    DefBelowRoot,
}

#[derive(Clone)]
struct Entry {
    left: usize,
    right: usize,
    depth: usize,
}

/// Depths of the scopes whose bindings a comparison touched.
type Touched = Vec<usize>;

#[derive(Clone, Default)]
struct ModelState {
    variables: Vec<Entry>,
    dag: Vec<Entry>,
    depth: usize,
}

pub(crate) struct Model<'t> {
    types: &'t RandomTypes,
    base: ModelRegion,
    state: ModelState,
    steps: usize,
}

/// Returns whether two values are equal; `None` if finding out takes too long.
pub(crate) fn equal(
    types: &RandomTypes,
    left: &Value,
    right: &Value,
    options: StructuralOptions,
) -> Option<Result<bool, Refused>> {
    let region = if options.map_free_vars { ModelRegion::MapFree } else { ModelRegion::Use };
    let mut model = Model { types, base: region, state: ModelState::default(), steps: 0 };
    let result = model.values(left.view(), right.view(), region, &mut Touched::new());
    (model.steps < LIMIT).then_some(result)
}

const LIMIT: usize = 20_000;

impl Model<'_> {
    fn values(
        &mut self,
        left: View<'_>,
        right: View<'_>,
        region: ModelRegion,
        touched: &mut Touched,
    ) -> Result<bool, Refused> {
        self.steps += 1;
        if self.steps >= LIMIT {
            return Ok(true);
        }
        for view in [left, right] {
            if let View::Node(node) = view
                && node.info().kind() == NodeKind::Uncomparable
            {
                return Err(Refused);
            }
        }
        match (left, right) {
            (View::Node(left), View::Node(right)) => self.nodes(left, right, region, touched),
            (View::Node(_), _) | (_, View::Node(_)) => Ok(false),
            (left, right) => Ok(scalars(left, right)),
        }
    }

    fn nodes(
        &mut self,
        left: NodeRef<'_>,
        right: NodeRef<'_>,
        region: ModelRegion,
        touched: &mut Touched,
    ) -> Result<bool, Refused> {
        let info = left.info();
        if !std::ptr::eq(info, right.info()) {
            return Ok(false);
        }
        let same = left.id() == right.id();
        let open = left.facts().union(right.facts()).any(Facts::VAR.union(Facts::DAG));
        let uncomparable = left.facts().any(Facts::UNCOMPARABLE);
        match info.kind() {
            NodeKind::Singleton => Ok(same),
            NodeKind::ConstTree if open => Err(Refused),
            NodeKind::ConstTree if same && !uncomparable => Ok(true),
            NodeKind::Var => self.variables(left, right, region, touched),
            NodeKind::Dag => {
                let current = |entry: &&Entry| entry.left == left.id() || entry.right == right.id();
                if let Some(entry) = self.state.dag.iter().find(current).cloned() {
                    // Bindings may have changed since they were paired, so their content counts.
                    return Ok(entry.left == left.id()
                        && entry.right == right.id()
                        && self.inside(left, right, region, touched)?);
                }
                let mut inside = Touched::new();
                let equal = self.inside(left, right, region, &mut inside)?;
                if equal {
                    let depth = inside.iter().copied().max().unwrap_or(0);
                    self.state.dag.push(Entry { left: left.id(), right: right.id(), depth });
                }
                touched.extend(inside);
                Ok(equal)
            }
            NodeKind::Tree | NodeKind::ConstTree => self.inside(left, right, region, touched),
            NodeKind::Uncomparable => Err(Refused),
        }
    }

    fn variables(
        &mut self,
        left: NodeRef<'_>,
        right: NodeRef<'_>,
        region: ModelRegion,
        touched: &mut Touched,
    ) -> Result<bool, Refused> {
        let bound: Vec<Entry> = self
            .state
            .variables
            .iter()
            .filter(|entry| entry.left == left.id() || entry.right == right.id())
            .cloned()
            .collect();
        if region == ModelRegion::Def
            && bound.iter().any(|entry| (1..self.state.depth).contains(&entry.depth))
        {
            return Err(Refused);
        }
        if let Some(first) = bound.first() {
            touched.push(first.depth);
            return Ok(bound.len() == 1 && first.left == left.id() && first.right == right.id());
        }
        let depth = match region {
            ModelRegion::Use | ModelRegion::Key if left.id() != right.id() => return Ok(false),
            ModelRegion::Use
            | ModelRegion::Key
            | ModelRegion::MapFree
            | ModelRegion::BelowRoot
            | ModelRegion::DefBelowRoot => 0,
            ModelRegion::Def | ModelRegion::BelowVar => self.state.depth,
        };
        if !matches!(region, ModelRegion::Use | ModelRegion::Key) {
            let below = match region {
                ModelRegion::Def => ModelRegion::BelowVar,
                ModelRegion::MapFree => ModelRegion::BelowRoot,
                region => region,
            };
            if !self.inside(left, right, below, touched)? {
                return Ok(false);
            }
        }
        self.state.variables.push(Entry { left: left.id(), right: right.id(), depth });
        touched.push(depth);
        Ok(true)
    }

    /// Compares the children of two nodes of one type.
    fn inside(
        &mut self,
        left: NodeRef<'_>,
        right: NodeRef<'_>,
        region: ModelRegion,
        touched: &mut Touched,
    ) -> Result<bool, Refused> {
        let info = left.info();
        let mut inside = Touched::new();
        let ends = info.is_scope() && info.kind() != NodeKind::Var;
        let region = if ends { self.base } else { region };
        if info.is_scope() {
            self.state.depth += 1;
        }
        let equal = match self.types.hooks(info) {
            Some(style) => {
                let mut equal = false;
                'rounds: for round in style.rounds(left, right) {
                    for (l, r, def) in round {
                        let before = self.state.clone();
                        let mut part = Touched::new();
                        let region = if def { def_in(region) } else { region };
                        if !self.values(left.child(l), right.child(r), region, &mut part)? {
                            self.state = before;
                            continue 'rounds;
                        }
                        inside.extend(part);
                    }
                    equal = true;
                    break;
                }
                equal
            }
            None => match info.layout() {
                ChildLayout::Record => self.fields(left, right, region, &mut inside)?,
                ChildLayout::List => {
                    left.len() == right.len() && {
                        let mut equal = true;
                        for index in 0..left.len() {
                            equal = equal
                                && self.values(
                                    left.child(index),
                                    right.child(index),
                                    region,
                                    &mut inside,
                                )?;
                        }
                        equal
                    }
                }
                ChildLayout::Map | ChildLayout::Set => {
                    self.entries(left, right, region, &mut inside)?
                }
            },
        };
        if info.is_scope() {
            let depth = self.state.depth;
            self.state.variables.retain(|entry| entry.depth != depth);
            self.state.dag.retain(|entry| entry.depth != depth);
            inside.retain(|&touched| touched != depth);
            self.state.depth -= 1;
        }
        touched.extend(inside);
        Ok(equal)
    }

    fn fields(
        &mut self,
        left: NodeRef<'_>,
        right: NodeRef<'_>,
        region: ModelRegion,
        touched: &mut Touched,
    ) -> Result<bool, Refused> {
        for (index, field) in left.info().fields().iter().enumerate() {
            let region = match field.role {
                FieldRole::Ignore => continue,
                FieldRole::Def => def_in(region),
                FieldRole::Usual => region,
            };
            if !self.values(left.child(index), right.child(index), region, touched)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Pairs entries by trying every key against every key, then visits them in the order in which
    /// the left container keeps them where that order cannot depend on bindings.
    fn entries(
        &mut self,
        left: NodeRef<'_>,
        right: NodeRef<'_>,
        region: ModelRegion,
        touched: &mut Touched,
    ) -> Result<bool, Refused> {
        let per_entry = if left.info().layout() == ChildLayout::Map { 2 } else { 1 };
        if left.len() != right.len() {
            return Ok(false);
        }
        let free = |model: &Self, node: NodeRef<'_>, side: usize| {
            let mut free = Vec::new();
            for entry in 0..node.len() / per_entry {
                let bound: Vec<Vec<usize>> = (0..=model.state.depth)
                    .map(|depth| {
                        let here =
                            model.state.variables.iter().filter(|entry| entry.depth == depth);
                        here.map(|entry| [entry.left, entry.right][side]).collect()
                    })
                    .collect();
                let mut search = FreeInKey { types: model.types, bound, free: &mut free };
                search.visit(node.child(entry * per_entry), ModelRegion::Key);
            }
            free
        };
        let (lefts, rights) = (free(self, left, 0), free(self, right, 1));
        for id in lefts {
            let fresh = self.state.variables.iter().all(|entry| entry.left != id);
            if rights.contains(&id) && fresh {
                self.state.variables.push(Entry { left: id, right: id, depth: 0 });
            }
        }
        let mut partners = Vec::new();
        for l in 0..left.len() / per_entry {
            let mut partner = None;
            for r in 0..right.len() / per_entry {
                let before = self.state.clone();
                let (lk, rk) = (left.child(l * per_entry), right.child(r * per_entry));
                let mut used = Touched::new();
                let base = std::mem::replace(&mut self.base, ModelRegion::Use);
                let equal = self.values(lk, rk, ModelRegion::Key, &mut used);
                self.base = base;
                if equal? {
                    touched.extend(used);
                    partner = Some(r);
                    break;
                }
                self.state = before;
            }
            match partner {
                Some(r) => partners.push((l, r)),
                None => return Ok(false),
            }
        }
        if per_entry == 2 {
            let has =
                |view: View<'_>, facts| matches!(view, View::Node(node) if node.facts().any(facts));
            let open = Facts::VAR.union(Facts::HOOK);
            if partners.len() > 1 && partners.iter().any(|&(l, _)| has(left.child(2 * l), open)) {
                // The order of visits is that of hashes this model knows nothing of.
                self.steps = LIMIT;
            }
            // Tied entries whose values hold variables are visited last.
            let tied = |l: usize| -> bool {
                let hash = |entry: usize| sapwood_structural::hash(left.child(2 * entry)).ok();
                let mut ties = (0..left.len() / 2).filter(|&other| hash(other) == hash(l));
                ties.clone().count() > 1
                    && ties.any(|other| has(left.child(2 * other + 1), Facts::VAR))
            };
            partners.sort_by_key(|&(l, _)| tied(l));
            for (l, r) in partners {
                let (lv, rv) = (left.child(2 * l + 1), right.child(2 * r + 1));
                if !self.values(lv, rv, region, touched)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// A def field inside a region.
fn def_in(region: ModelRegion) -> ModelRegion {
    match region {
        ModelRegion::Key => ModelRegion::Key,
        ModelRegion::BelowRoot | ModelRegion::DefBelowRoot => ModelRegion::DefBelowRoot,
        _ => ModelRegion::Def,
    }
}

/// Finds the variables of a key that occur where nothing binds them.
struct FreeInKey<'s> {
    types: &'s RandomTypes,
    /// The variables that each open scope binds on the side in question.
    bound: Vec<Vec<usize>>,
    free: &'s mut Vec<usize>,
}

impl FreeInKey<'_> {
    fn visit(&mut self, view: View<'_>, region: ModelRegion) {
        let View::Node(node) = view else { return };
        let info = node.info();
        if info.kind() == NodeKind::Singleton {
            return;
        }
        if info.kind() == NodeKind::Var {
            if self.bound.iter().flatten().any(|&bound| bound == node.id()) {
                return;
            }
            if matches!(region, ModelRegion::Use | ModelRegion::Key) {
                self.free.push(node.id());
                self.bound[0].push(node.id());
                return;
            }
        }
        let region = match region {
            _ if info.is_scope() && info.kind() != NodeKind::Var => ModelRegion::Use,
            ModelRegion::Def if info.kind() == NodeKind::Var => ModelRegion::BelowVar,
            region => region,
        };
        if info.is_scope() {
            self.bound.push(Vec::new());
        }
        match self.types.hooks(info) {
            Some(style) => {
                for &(field, _, def) in &style.rounds(node, node)[0] {
                    let def = def && region != ModelRegion::Key;
                    self.visit(node.child(field), if def { ModelRegion::Def } else { region });
                }
            }
            None => {
                for index in 0..node.len() {
                    let region = match info.fields().get(index).map(|field| field.role) {
                        Some(FieldRole::Ignore) => continue,
                        Some(FieldRole::Def) if region != ModelRegion::Key => ModelRegion::Def,
                        _ => region,
                    };
                    self.visit(node.child(index), region);
                }
            }
        }
        if info.is_scope() {
            self.bound.pop();
        }
        if info.kind() == NodeKind::Var
            && let Some(innermost) = self.bound.last_mut()
        {
            innermost.push(node.id());
        }
    }
}

fn scalars(left: View<'_>, right: View<'_>) -> bool {
    match (left, right) {
        (View::None, View::None) => true,
        (View::Bool(l), View::Bool(r)) => l == r,
        (View::Int(l), View::Int(r)) => l == r,
        (View::Wide(l), View::Wide(r)) => l == r,
        (View::Float(l), View::Float(r)) => l.to_bits() == r.to_bits() || l.is_nan() && r.is_nan(),
        (View::Str(l), View::Str(r)) => l == r,
        _ => false,
    }
}
