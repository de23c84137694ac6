//! Files with the `impl`s of a type.

use crate::modules::Modules;
use crate::sources::{self, Source};

/// Exceptions: the package's folder, and the type.
const EXCEPTIONS: &[(&str, &str)] = &[
    // Its builder and its HTTP server are made of it, and begin at functions of it.
    ("a2a-server", "Server"),
];

/// Functions of a type are in its file, or in one more. `impl`s of traits, tests and programs in `src/bin` are not
/// looked at.
#[test]
fn impls_of_every_type_are_in_at_most_two_files() {
    let sources = sources::read(".rs");
    let roots = sources::roots();
    let found = roots.iter().flat_map(|root| spread(&sources, root));
    let found: Vec<_> = found
        .filter(|(root, name, _)| !EXCEPTIONS.contains(&(root.as_str(), name.as_str())))
        .map(|(root, name, files)| format!("{root} {name}: {}", files.join(", ")))
        .collect();
    assert!(
        found.is_empty(),
        "{} types have `impl`s in more than two files:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// Returns every type of a package that has `impl`s in more than two files, with the files.
fn spread(sources: &[Source], root: &str) -> Vec<(String, String, Vec<String>)> {
    let impls = Modules::read(sources, root).impls().into_iter();
    let spread = impls.filter(|(_, files)| files.len() > 2);
    let short = |file: &String| file.trim_start_matches(root).to_owned();
    let package = root.trim_end_matches("/src/");
    spread
        .map(|((_, name), files)| (package.to_owned(), name, files.iter().map(short).collect()))
        .collect()
}

mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let found = spread(&sources::sample(files), "p/src/");
        let names: Vec<_> = found.iter().map(|(_, name, _)| name.as_str()).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn a_type_is_the_one_that_is_imported() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;"),
            (
                "a.rs",
                "pub struct A<T>(T);\nimpl<T: Fn() -> T> A<T> where T: Copy {}",
            ),
            (
                "b.rs",
                "use crate::a::A;\nimpl A<u8> {}\nimpl Clone for A<u8> {}",
            ),
            ("c.rs", "impl super::a::A<i8> {}\nfn f() -> impl Copy {}"),
        ];
        check(&files, &["A"]);
        check(&files[..3], &[]);
        let other = ("c.rs", "struct A;\nimpl A {}");
        check(&[files[0], files[1], files[2], other], &[]);
        let test = ("c.rs", "#[cfg(test)]\nimpl crate::a::A<i8> {}");
        check(&[files[0], files[1], files[2], test], &[]);
    }
}
