#!/usr/bin/env bash
# Tests of action.sh, with the programs `A2A` and `A2A_CONFORMANCE`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
reference="$A2A serve reference --local-webhooks --address 127.0.0.1:{port}"
broken="python3 $here/python/tests/broken_agent.py {port}"

# Runs the action with variables, and compares its exit code.
check() {
    local title=$1 expected=$2 code=0
    shift 2
    rm -rf a2a-reports summary output
    env GITHUB_STEP_SUMMARY="$place/summary" GITHUB_OUTPUT="$place/output" "$@" "$here/../action.sh" > log 2>&1 || code=$?
    [[ $code == "$expected" ]] || { cat log; echo "$title: expected exit code $expected, found $code"; exit 1; }
    echo "ok: $title"
}

# Checks that a file contains a text.
contains() {
    grep -qF -- "$2" "$1" || { cat "$1"; echo "$1: no $2"; exit 1; }
}

check "a passing agent" 0 A2A_BINARY="$A2A_CONFORMANCE" A2A_EXEC="$reference" A2A_BLACK_BOX=false A2A_VERSIONS="0.3 1.0" A2A_BINDINGS=jsonrpc
contains summary "Everything that is required is met."
contains output exit-code=0
contains output reports=a2a-reports
if grep '^::error' log; then exit 1; fi
for report in report.json report.html junit.xml summary.md badge.json; do [[ -s a2a-reports/$report ]]; done

check "a failing agent" 1 A2A_BINARY="$A2A_CONFORMANCE" A2A_EXEC="$broken"
contains log "::error title=rpc.id-echoed 1.0 JSONRPC::The response has the id of its request"
contains log "%0AA2A10-9.3-M2 §9.3 Responses are JSON-RPC 2.0 with the id of the request.%0A"
contains summary "checks are not met"
contains output exit-code=1

printf -- '- {check: "*", reason: TICKET-17, expires: 2999-12-31}\n' > waivers.yaml
check "waivers and arguments" 0 A2A_BINARY="$A2A_CONFORMANCE" A2A_EXEC="$broken" A2A_WAIVERS=waivers.yaml A2A_ARGUMENTS=$'--run\nrpc.*'
contains log waived
printf -- '- {check: card.no-secrets, reason: TICKET-18, expires: 2999-12-31}\n' > waivers.yaml
check "a waiver out of date" 5 A2A_BINARY="$A2A_CONFORMANCE" A2A_EXEC="$broken" A2A_WAIVERS=waivers.yaml A2A_ARGUMENTS=$'--run\ncard.no-secrets'
contains log "::warning title=A2A waiver::the waiver of card.no-secrets is stale: TICKET-18"

check "checks without requirements" 0 A2A_BINARY="$A2A_CONFORMANCE" A2A_EXEC="$broken" A2A_ARGUMENTS=$'--run\nerror.alive-after'
if grep "no annotations" log; then exit 1; fi
check "an agent that is not there" 3 A2A_BINARY="$A2A_CONFORMANCE" A2A_URL=http://127.0.0.1:1
contains output exit-code=3
check "a binary that is not there" 4 A2A_BINARY=/no/such/program A2A_URL=http://127.0.0.1:1
contains log "::error title=A2A conformance::cannot run the suite: no /no/such/program"
check "neither version nor binary" 4 A2A_URL=http://127.0.0.1:1
contains log "one of version and binary is required"
check "an option in place of the URL" 2 A2A_BINARY="$A2A_CONFORMANCE" A2A_URL="--exec=touch $place/injected"
[[ ! -e injected ]]
check "an action at a branch" 4 A2A_VERSION=main A2A_URL=http://127.0.0.1:1

# A release of this machine, from a directory.
case "$(uname -sm)" in
    "Linux x86_64") target=x86_64-unknown-linux-musl ;;
    "Linux aarch64") target=aarch64-unknown-linux-musl ;;
    "Darwin x86_64") target=x86_64-apple-darwin ;;
    "Darwin arm64") target=aarch64-apple-darwin ;;
esac
archive=a2a-conformance-v0-$target.tar.gz
mkdir -p releases/v0 "a2a-conformance-v0-$target"
cp "$A2A_CONFORMANCE" "a2a-conformance-v0-$target/a2a-conformance"
tar -czf "releases/v0/$archive" "a2a-conformance-v0-$target"
(cd releases/v0 && { sha256sum "$archive" || shasum -a 256 "$archive"; } > "$archive.sha256")
release=(A2A_VERSION=v0 "A2A_RELEASES=file://$place/releases" "RUNNER_TEMP=$place" "A2A_EXEC=$broken")
check "a release" 1 "${release[@]}" A2A_ARGUMENTS=$'--run\nrpc.id-echoed'
check "a release of another digest" 4 "${release[@]}" A2A_SHA256=0000
contains log "cannot trust $archive: expected SHA-256 0000, found "
check "a release that is not there" 4 "${release[@]}" A2A_VERSION=v1
contains log "cannot download file://"
