#!/bin/sh
# Installs the programs of a release. The release has a copy with its version and digests.
set -eu

version=
# SHA-256 and name of each archive of this version.
digests=''
releases=${A2A_RELEASES:-https://github.com/a2a-rust/a2a/releases/download}

usage() {
    cat <<'END'
Installs a2a and a2a-conformance of a release, after a check of the archive's SHA-256.

Usage: sh install.sh [OPTIONS]

Options:
  --to DIR         directory of the programs; ~/.local/bin by default
  --version TAG    the release; by default the one that this script belongs to
  --sha256 DIGEST  SHA-256 of its archive; by default the one that is published with it
  --only PROGRAM   a2a or a2a-conformance; both by default

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
    curl --fail --silent --show-error --location --retry 3 --output "$2" "$1" || fail "cannot download $1"
}

sha256() {
    if command -v sha256sum > /dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
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
    [ "${asked:-$version}" ] || fail "this copy of install.sh belongs to no release: name one, like --version v0.1.0"

    suffix='' kind=tar.gz
    case "$(uname -sm)" in
        "Linux x86_64") target=x86_64-unknown-linux-musl ;;
        "Linux aarch64" | "Linux arm64") target=aarch64-unknown-linux-musl ;;
        "Darwin x86_64") target=x86_64-apple-darwin ;;
        "Darwin arm64") target=aarch64-apple-darwin ;;
        MINGW*x86_64 | MSYS*x86_64) target=x86_64-pc-windows-msvc kind=zip suffix=.exe ;;
        *) fail "there are no programs for $(uname -sm): build them with cargo install --git https://github.com/a2a-rust/a2a agent2agent-cli agent2agent-conformance" ;;
    esac
    name=a2a-${asked:-$version}-$target
    place=$releases/${asked:-$version}

    directory=$(mktemp -d)
    trap 'rm -rf "$directory"' EXIT
    download "$place/$name.$kind" "$directory/archive"
    if [ -z "$expected" ] && [ "${asked:-$version}" = "$version" ]; then
        expected=$(echo "$digests" | grep -F " $name.$kind" | cut -d ' ' -f 1)
    fi
    if [ -z "$expected" ]; then
        download "$place/$name.$kind.sha256" "$directory/sha256"
        expected=$(cut -d ' ' -f 1 "$directory/sha256")
    fi
    found=$(sha256 "$directory/archive")
    [ "$found" = "$expected" ] || fail "cannot trust $name.$kind: expected SHA-256 $expected, found $found"
    case $kind in
        zip) unzip -q "$directory/archive" -d "$directory" ;;
        *) tar -xzf "$directory/archive" -C "$directory" ;;
    esac || fail "cannot unpack $name.$kind"

    mkdir -p "$to"
    for program in $programs; do
        cp "$directory/$name/$program$suffix" "$to/" || fail "cannot install $program in $to"
        echo "$to/$program$suffix"
    done
    case ":$PATH:" in
        *":$to:"*) ;;
        *) echo "note: $to is not in PATH" >&2 ;;
    esac
}

# Called in the last line: a download that was cut does nothing.
main "$@"
