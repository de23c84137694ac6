//! Modules of a crate, and the files that define the names they use.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::Source;
use crate::tokens::{is_word, tokens};

/// The imports of a crate: the file that imports and the file that defines, with the names.
pub(crate) type Arrows = BTreeMap<(String, String), BTreeSet<String>>;

/// The files that have `impl`s of a type outside traits, by the file that defines the type and its name.
pub(crate) type Impls = BTreeMap<(String, String), BTreeSet<String>>;

/// Names from the crate's root, or of an import.
type Path<'a> = Vec<&'a str>;

/// The modules of a crate, by their paths.
#[derive(Default)]
pub(crate) struct Modules<'a> {
    all: BTreeMap<Path<'a>, Module<'a>>,
    /// Modules that only tests have.
    of_tests: Vec<Path<'a>>,
}

#[derive(Default)]
struct Module<'a> {
    file: &'a str,
    children: BTreeSet<&'a str>,
    /// Names of the items in it.
    items: BTreeSet<&'a str>,
    imports: Vec<Import<'a>>,
    /// Types that have an `impl` outside traits here.
    impls: BTreeSet<Path<'a>>,
    /// Paths of two names or more outside of imports.
    paths: Vec<Path<'a>>,
    /// Words outside of imports.
    words: BTreeSet<&'a str>,
}

struct Import<'a> {
    path: Path<'a>,
    /// The name that it has here; `*` for all names.
    name: &'a str,
    is_public: bool,
}

/// The module or the file that a path leads to.
#[derive(Clone)]
enum Target<'a> {
    Module(Path<'a>),
    ItemIn(&'a str),
}

impl<'a> Modules<'a> {
    /// Reads the modules of a crate from its sources under `root`, as in `a2a-server/src/`, without programs in
    /// `src/bin`.
    pub(crate) fn read(sources: &'a [Source], root: &str) -> Self {
        let mut modules = Self::default();
        for source in sources {
            let path = source.path.strip_prefix(root);
            let Some(path) = path.filter(|path| !path.starts_with("bin/")) else {
                continue;
            };
            let path = path.strip_suffix(".rs").unwrap_or(path);
            let path = path.strip_suffix("/mod").unwrap_or(path);
            let path = match path {
                "lib" | "main" => Vec::new(),
                path => path.split('/').collect(),
            };
            modules.parse(&source.path, path, &tokens(&source.text));
        }
        let Self { all, of_tests } = &mut modules;
        all.retain(|path, _| !of_tests.iter().any(|test| path.starts_with(test)));
        modules
    }

    /// Returns which file takes which names from which other one. A re-export hands a name on and is no
    /// import; a module that hands a name on is not its owner.
    pub(crate) fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (path, module) in &self.all {
            let imports = module.imports.iter();
            let used = imports.filter(|it| !it.is_public || module.words.contains(it.name));
            for taken in used.map(|it| &it.path).chain(&module.paths) {
                for target in self.resolve(path, taken, 0) {
                    if let Target::ItemIn(file) = target
                        && file != module.file
                        && let Some(name) = taken.last()
                    {
                        let arrow = (module.file.to_owned(), file.to_owned());
                        arrows.entry(arrow).or_default().insert((*name).to_owned());
                    }
                }
            }
        }
        arrows
    }

    /// Returns which files have `impl`s of which types, without `impl`s of traits.
    pub(crate) fn impls(&self) -> Impls {
        let mut impls = Impls::new();
        for (path, module) in &self.all {
            for taken in &module.impls {
                let targets = match taken.first() {
                    Some(&("crate" | "self" | "super")) => self.resolve(path, taken, 0),
                    _ => self.walk(path.clone(), taken, 0),
                };
                for target in targets {
                    if let (Target::ItemIn(file), Some(name)) = (target, taken.last()) {
                        let key = (file.to_owned(), (*name).to_owned());
                        impls.entry(key).or_default().insert(module.file.to_owned());
                    }
                }
            }
        }
        impls
    }

    /// Finds what a path means in a module; nothing if it leads out of the crate.
    fn resolve(&self, at: &[&'a str], path: &[&'a str], depth: u8) -> Vec<Target<'a>> {
        // A circle of re-exports would not compile; one of names that are spelled alike may be seen here.
        if depth > 16 {
            return Vec::new();
        }
        let (first, rest) = match path.split_first() {
            Some((&"crate", rest)) => return self.walk(Vec::new(), rest, depth),
            Some((&"self", rest)) => return self.walk(at.to_vec(), rest, depth),
            Some((first, rest)) => (first, rest),
            None => return Vec::new(),
        };
        if *first == "super" {
            let above = at.split_last().map_or(at, |(_, above)| above);
            return match rest.first() {
                Some(&"super") => self.resolve(above, rest, depth),
                _ => self.walk(above.to_vec(), rest, depth),
            };
        }
        let Some(module) = self.all.get(at) else {
            return Vec::new();
        };
        let is_here = module.children.contains(first)
            || module.imports.iter().any(|import| import.name == *first);
        match is_here {
            true => self.walk(at.to_vec(), path, depth),
            false => Vec::new(),
        }
    }

    /// Follows a path downwards from a module.
    fn walk(&self, mut at: Path<'a>, path: &[&'a str], depth: u8) -> Vec<Target<'a>> {
        let Some((name, rest)) = path.split_first() else {
            return vec![Target::Module(at)];
        };
        let Some(module) = self.all.get(&at) else {
            return Vec::new();
        };
        let is_child = module.children.contains(name);
        let bound = || module.imports.iter().filter(|import| import.name == *name);
        if !is_child || rest.is_empty() {
            let mut targets = Vec::new();
            for import in bound().filter(|import| import.path != [*name]) {
                for target in self.resolve(&at, &import.path, depth + 1) {
                    match target {
                        Target::Module(module) => {
                            targets.extend(self.walk(module, rest, depth + 1));
                        }
                        item @ Target::ItemIn(_) => targets.push(item),
                    }
                }
            }
            if bound().next().is_some() {
                return targets;
            }
        }
        if is_child {
            at.push(name);
            return self.walk(at, rest, depth);
        }
        if !module.items.contains(name)
            && let Some(found) = self.through_globs(&at, module, path, depth)
        {
            return found;
        }
        vec![Target::ItemIn(module.file)]
    }

    fn through_globs(
        &self,
        at: &[&'a str],
        module: &Module<'a>,
        path: &[&'a str],
        depth: u8,
    ) -> Option<Vec<Target<'a>>> {
        let globs = module.imports.iter().filter(|import| import.name == "*");
        globs
            .flat_map(|glob| self.resolve(at, &glob.path, depth + 1))
            .find_map(|target| {
                let Target::Module(from) = target else {
                    return None;
                };
                let has = self.all.get(&from)?.has(path.first()?);
                has.then(|| self.walk(from, path, depth + 1))
            })
    }

    fn parse(&mut self, file: &'a str, path: Path<'a>, tokens: &[&'a str]) {
        // Inline modules that are open, each with the depth of braces at which it ends.
        let mut open = vec![(path, 0)];
        let mut depth = 0;
        let mut at = 0;
        while let Some(token) = tokens.get(at).copied() {
            let before = at.checked_sub(1).map_or("", |before| tokens[before]);
            let after = |by: usize| tokens.get(at + by).copied().unwrap_or_default();
            let path = open
                .last()
                .map(|(path, _)| path.clone())
                .unwrap_or_default();
            let module = self.all.entry(path.clone()).or_default();
            module.file = file;
            let child = || [path.as_slice(), &[after(1)]].concat();
            match token {
                "#" if is_test(&tokens[at..]) => {
                    let item = after_item(tokens, at);
                    if let [.., "mod", name, ";"] = &tokens[at..item] {
                        self.of_tests.push([path.as_slice(), &[name]].concat());
                    }
                    at = item;
                    continue;
                }
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if open.len() > 1 && open.last().is_some_and(|(_, end)| *end > depth) {
                        open.pop();
                    }
                }
                "mod" if matches!(after(2), "{" | ";") => {
                    module.children.insert(after(1));
                    if after(2) == "{" {
                        depth += 1;
                        open.push((child(), depth));
                    }
                    at += 3;
                    continue;
                }
                // `use<'a>` is a bound, and `use ::name` another crate.
                "use" if !matches!(after(1), "<" | "::") => {
                    let is_public = matches!(before, "pub" | ")");
                    let mut trees = Trees { tokens, at: at + 1 };
                    trees.read(&[], is_public, &mut module.imports);
                    at = trees.at;
                    continue;
                }
                "impl" if matches!(before, "" | ";" | "{" | "}" | "]") => {
                    module.impls.extend(implemented(&tokens[at + 1..]));
                }
                "macro_rules" => _ = module.items.insert(after(2)),
                token if ITEMS.contains(&token) => _ = module.items.insert(after(1)),
                token if is_word(token) && !matches!(before, "::" | ".") => {
                    let mut names = vec![token];
                    while tokens.get(at + 1) == Some(&"::")
                        && let Some(name) = tokens.get(at + 2).filter(|name| is_word(name))
                    {
                        names.push(name);
                        at += 2;
                    }
                    module.words.insert(token);
                    if names.len() > 1 {
                        module.paths.push(names);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

impl Module<'_> {
    fn has(&self, name: &str) -> bool {
        self.items.contains(name) || self.imports.iter().any(|import| import.name == name)
    }
}

/// A reader of `a::{b, c::d as e}`.
struct Trees<'t, 'a> {
    tokens: &'t [&'a str],
    at: usize,
}

impl<'a> Trees<'_, 'a> {
    fn read(&mut self, prefix: &[&'a str], is_public: bool, imports: &mut Vec<Import<'a>>) {
        let mut path = prefix.to_vec();
        let mut name;
        loop {
            match self.next() {
                "{" => {
                    while !matches!(self.peek(), "}" | "") {
                        self.read(&path, is_public, imports);
                        self.at += usize::from(self.peek() == ",");
                    }
                    self.at += 1;
                    return;
                }
                "*" => name = "*",
                "self" if !path.is_empty() => name = path.last().copied().unwrap_or_default(),
                segment => {
                    path.push(segment);
                    name = segment;
                }
            }
            match self.peek() {
                "::" => self.at += 1,
                "as" => {
                    self.at += 1;
                    name = self.next();
                    break;
                }
                _ => break,
            }
        }
        imports.push(Import {
            path,
            name,
            is_public,
        });
    }

    fn next(&mut self) -> &'a str {
        let next = self.peek();
        self.at += 1;
        next
    }

    fn peek(&self) -> &'a str {
        self.tokens.get(self.at).copied().unwrap_or_default()
    }
}

/// Returns the type of an `impl`, which begins before these tokens; nothing if it is of a trait.
fn implemented<'a>(tokens: &[&'a str]) -> Option<Path<'a>> {
    let (mut path, mut depth, mut before) = (Path::new(), 0, "");
    for token in tokens {
        match *token {
            "<" => depth += 1,
            ">" if before != "-" => depth -= 1,
            "for" if depth == 0 => return None,
            "{" | "where" if depth == 0 => break,
            name if depth == 0 && is_word(name) => path.push(name),
            _ => {}
        }
        before = token;
    }
    Some(path)
}

fn is_test(tokens: &[&str]) -> bool {
    let tests: [&[&str]; 2] = [
        &["#", "[", "cfg", "(", "test", ")", "]"],
        &["#", "[", "cfg", "(", "all", "(", "test"],
    ];
    tests.iter().any(|test| tokens.starts_with(test))
}

/// The index after the item that begins at `at` with its attributes.
fn after_item(tokens: &[&str], mut at: usize) -> usize {
    let mut depth = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth -= 1;
                if depth == 0 && *token == "}" {
                    break;
                }
            }
            ";" if depth == 0 => break,
            _ => {}
        }
    }
    at
}

/// Words before the name of an item.
const ITEMS: &[&str] = &[
    "const", "enum", "fn", "static", "struct", "trait", "type", "union",
];
