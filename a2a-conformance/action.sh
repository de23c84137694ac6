#!/usr/bin/env bash
# Runs the suite in a job of GitHub Actions. The inputs of action.yml come as variables A2A_….
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

fail() {
    echo "::error title=A2A conformance::$1"
    exit 4
}

# Prints the path of the suite: the binary that was named, or that of a release after a check of its digest.
suite() {
    if [[ ${A2A_BINARY:-} ]]; then
        command -v "$A2A_BINARY" || fail "cannot run the suite: no $A2A_BINARY"
        return
    fi
    # Without the input: the tag by which the action was named.
    [[ ${A2A_VERSION:-} == v* ]] || fail "cannot run the suite: one of version and binary is required, or a tag of this action"
    local directory problem options=(--version "$A2A_VERSION" --only a2a-conformance)
    directory=$(mktemp -d "${RUNNER_TEMP:-/tmp}/a2a-XXXXXX")
    [[ ${A2A_SHA256:-} ]] && options+=(--sha256 "$A2A_SHA256")
    problem=$("$here/packages/install.sh" --to "$directory" "${options[@]}" 2>&1) || fail "${problem##*error: }"
    echo "$directory/a2a-conformance"
}

# Prints an annotation for each failed check at MUST and each waiver that is out of date. A check that has the cause of
# another one is not counted again.
annotations() {
    jq -r '
        def escaped: gsub("%"; "%25") | gsub("\r"; "%0D") | gsub("\n"; "%0A");
        ((.requirements // []) | map({key: .id, value: .}) | from_entries) as $rules
        | ((.waivers // [])[] | select(.state | IN("expired", "stale"))
            | "::warning title=A2A waiver::\("the waiver of \(.check) is \(.state): \(.reason)" | escaped)"),
        (.checks[]
        | select(.level == "must" and .sameCauseAs == null)
        | select(.verdict | IN("fail", "untestable", "setup-failed", "flaky", "harness-error"))
        | ([.id, .protocolVersion, .binding] | map(values) | join(" ") | escaped | gsub(":"; "%3A") | gsub(","; "%2C")) as $title
        | ([.title, .reason]
            + [.requirements[] | $rules[.] // {id: ., section: "?", says: ""} | "\(.id) §\(.section) \(.says)"]
            + [(.mismatches // [])[] | "\(.place): expected \(.expected), found \(.found)"]
            + ["a2a-conformance explain \(.id)"]
            | map(values) | join("\n")) as $text
        | "::error title=\($title)::\($text | escaped)")' "$1"
}

program=$(suite) || { echo "$program"; exit 4; }
output=${A2A_OUTPUT:-a2a-reports}
options=(agent --report "json,html,junit,md,badge" -o "$output")
[[ ${A2A_EXEC:-} ]] && options+=(--exec "$A2A_EXEC")
[[ ${A2A_BLACK_BOX:-true} == true ]] && options+=(--black-box)
[[ ${A2A_WAIVERS:-} ]] && options+=(--waivers "$A2A_WAIVERS")
set -f
for version in ${A2A_VERSIONS:-}; do options+=(--protocol-version "$version"); done
for binding in ${A2A_BINDINGS:-}; do options+=(--binding "$binding"); done
while IFS= read -r word; do
    [[ $word ]] && options+=("$word")
done <<< "${A2A_ARGUMENTS:-}"

[[ ${A2A_URL:-} ]] && options+=(-- "$A2A_URL")

# A report of an earlier run must not stand for this one.
mkdir -p "$output"
rm -f "$output"/{report.json,report.html,junit.xml,summary.md,badge.json}
# The output quotes the agent, which must not give commands to the job.
token=a2a-$RANDOM$RANDOM$RANDOM
echo "::stop-commands::$token"
code=0
"$program" "${options[@]}" || code=$?
echo "::$token::"

if [[ -f $output/report.json ]]; then
    # The exit code is that of the suite.
    annotations "$output/report.json" || echo "::warning title=A2A conformance::no annotations: jq could not read $output/report.json"
fi
if [[ -f $output/summary.md && ${GITHUB_STEP_SUMMARY:-} ]]; then
    # GitHub takes at most 1 MiB.
    head -c 1000000 "$output/summary.md" >> "$GITHUB_STEP_SUMMARY"
fi
if [[ ${GITHUB_OUTPUT:-} ]]; then
    printf '%s\n' "exit-code=$code" "reports=$output" >> "$GITHUB_OUTPUT"
fi
exit "$code"
