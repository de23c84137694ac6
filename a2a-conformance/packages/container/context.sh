#!/usr/bin/env bash
# Writes the context of the container from the archives of a release: context.sh FILES CONTEXT
set -euo pipefail
files=$1 context=$2
for platform in amd64:x86_64 arm64:aarch64; do
    archives=("$files"/a2a{,-conformance}-v*-"${platform#*:}"-unknown-linux-musl.tar.gz)
    if [[ ! -f ${archives[0]} ]]; then
        echo "note: no programs for ${platform%:*} in $files" >&2
        continue
    fi
    folder=$context/linux/${platform%:*}
    mkdir -p "$folder"
    for archive in "${archives[@]}"; do
        tar -xzf "$archive" -C "$folder" --strip-components 1 --wildcards '*/a2a' '*/a2a-conformance'
    done
done
cp "$(dirname "$0")/Dockerfile" /etc/ssl/certs/ca-certificates.crt "$context"
