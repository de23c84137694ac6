#!/usr/bin/env bash
# Writes the context of the container from the archives of a release: context.sh FILES CONTEXT
set -euo pipefail
files=$1 context=$2
for platform in amd64:x86_64 arm64:aarch64; do
    folder=$context/linux/${platform%:*}
    for program in a2a a2a-conformance; do
        archive=$(echo "$files/$program"-v*-"${platform#*:}"-unknown-linux-musl.tar.gz)
        if [[ ! -f $archive ]]; then
            echo "note: no $program for ${platform%:*} in $files" >&2
            continue
        fi
        mkdir -p "$folder"
        tar -xzf "$archive" -C "$folder" --strip-components 1 --wildcards "*/$program"
    done
done
cp "$(dirname "$0")/Dockerfile" /etc/ssl/certs/ca-certificates.crt "$context"
