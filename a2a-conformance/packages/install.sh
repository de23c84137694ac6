#!/bin/sh
# Installs the programs of a release. The release has a copy with its version and digests.
set -eu

version=
# SHA-256 and name of each archive of this version.
digests=''
releases=${A2A_RELEASES:-https://github.com/a2a-rust/a2a/releases/download}

usage() {
    cat <<'END'
Downloads a2a and a2a-conformance, checks the SHA-256 of each archive, and installs them.

Usage: sh install.sh [OPTIONS]

Options:
  --to DIR         directory of the programs; ~/.local/bin by default
  --version TAG    the release; by default the one that this script belongs to
  --only PROGRAM   a2a or a2a-conformance; both by default
  --sha256 DIGEST  SHA-256 of the archive of that program; by default the one that is published with it

Examples:
  curl -fsSL https://github.com/a2a-rust/a2a/releases/latest/download/install.sh | sh
  sh install.sh --to /usr/local/bin --only a2a-conformance
END
}

fail() {
    echo "error: $1" >&2
    exit 1
}

download() {
    curl --fail --silent --show-error --location --proto-redir =https --retry 3 --output "$2" "$1" || fail "cannot download $1"
}

sha256() {
    if command -v sha256sum > /dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# Installs a program of the release `tag` for `target` in `to`.
install() {
    name=$1-$tag-$target
    download "$releases/$tag/$name.$kind" "$directory/archive"
    known=$expected
    if [ -z "$known" ] && [ "$tag" = "$version" ]; then
        known=$(echo "$digests" | grep -F " $name.$kind" | cut -d ' ' -f 1)
        [ "$known" ] || fail "this script has no SHA-256 of $name.$kind"
    elif [ -z "$known" ]; then
        download "$releases/$tag/$name.$kind.sha256" "$directory/sha256"
        known=$(cut -d ' ' -f 1 "$directory/sha256")
    fi
    found=$(sha256 "$directory/archive")
    [ "$found" = "$known" ] || fail "cannot trust $name.$kind: expected SHA-256 $known, found $found"
    case $kind in
        zip) unzip -q "$directory/archive" -d "$directory" ;;
        *) tar -xzf "$directory/archive" -C "$directory" ;;
    esac || fail "cannot unpack $name.$kind"
    # A running program cannot be written, but replaced.
    if ! { cp "$directory/$name/$1$suffix" "$to/.$1.new" && mv -f "$to/.$1.new" "$to/$1$suffix"; }; then
        fail "cannot install $1 in $to"
    fi
    echo "$to/$1$suffix"
}

main() {
    to=${HOME:-}/.local/bin asked='' expected='' programs='a2a a2a-conformance'
    while [ $# -gt 0 ]; do
        case "$1" in
            --help | -h) usage && return ;;
            --to | --version | --sha256 | --only) [ $# -gt 1 ] || fail "$1 needs a value" ;;
            *) fail "unknown option $1; see --help" ;;
        esac
        case "$1" in
            --to) to=$2 ;;
            --version) asked=$2 ;;
            --sha256) expected=$2 ;;
            --only) programs=$2 ;;
        esac
        shift 2
    done
    case $programs in
        a2a | a2a-conformance) ;;
        'a2a a2a-conformance') [ -z "$expected" ] || fail "--sha256 needs --only" ;;
        *) fail "unknown program $programs: expected a2a or a2a-conformance" ;;
    esac
    [ "${asked:-$version}" ] || fail "no version is given, and this copy of install.sh is not from a release: add one, like --version v0.1.0"

    suffix='' kind=tar.gz
    case "$(uname -sm)" in
        "Linux x86_64") target=x86_64-unknown-linux-musl ;;
        "Linux aarch64" | "Linux arm64") target=aarch64-unknown-linux-musl ;;
        "Darwin x86_64") target=x86_64-apple-darwin ;;
        "Darwin arm64") target=aarch64-apple-darwin ;;
        MINGW*x86_64 | MSYS*x86_64) target=x86_64-pc-windows-msvc kind=zip suffix=.exe ;;
        *) fail "there are no programs for $(uname -sm): build them with cargo install --git https://github.com/a2a-rust/a2a agent2agent-cli agent2agent-conformance" ;;
    esac
    tag=${asked:-$version}

    directory=$(mktemp -d)
    trap 'rm -rf "$directory"' EXIT
    mkdir -p "$to"
    for program in $programs; do
        install "$program"
    done
    case ":$PATH:" in
        *":$to:"*) ;;
        *) echo "note: $to is not in PATH" >&2 ;;
    esac
}

# Called in the last line: a download that was cut does nothing.
main "$@"
