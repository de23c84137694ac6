#!/usr/bin/env bash
# Runs static programs in a root directory (chroot) that has nothing else but the certificates of authorities:
# test_empty_root.sh DIRECTORY. Needs root.
set -euo pipefail
programs=$1
place=$(mktemp -d)
trap 'kill $(jobs -p) 2> /dev/null || true; rm -rf "$place"' EXIT
root=$place/root
mkdir -p "$root/etc/ssl/certs" "$root/tmp"
cp "$programs/a2a" "$programs/a2a-conformance" "$root"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs"
cd "$place"

# Starts an agent in the empty root, and sets `url`.
serve() {
    : > log
    chroot "$root" /a2a serve reference --address 127.0.0.1:0 "$@" > log 2>&1 &
    until url=$(grep -oE 'https?://127\.0\.0\.1:[0-9]+' log | head -1) && [[ $url ]]; do
        kill -0 $! || { cat log; exit 1; }
        sleep 0.1
    done
}

certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 "$@" 2> openssl.log || { cat openssl.log; exit 1; }
}

for program in a2a a2a-conformance; do
    chroot "$root" "/$program" --version
done
serve --local-webhooks
chroot "$root" /a2a-conformance agent "$url" --protocol-version 1.0 --binding jsonrpc --report json -o /tmp > suite.log || { cat suite.log; exit 1; }
[[ -s $root/tmp/report.json ]]
echo "ok: the suite, in the clear"

certificate -subj /CN=authority -keyout ca-key.pem -out "$root/etc/ssl/certs/ca-certificates.crt"
certificate -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -CA "$root/etc/ssl/certs/ca-certificates.crt" -CAkey ca-key.pem \
    -addext basicConstraints=critical,CA:FALSE -keyout "$root/key.pem" -out "$root/cert.pem"
serve --tls-cert /cert.pem --tls-key /key.pem
chroot "$root" /a2a send "$url" hello > answer
grep -q hello answer
echo "ok: TLS with the authorities in the root directory"

rm "$root/etc/ssl/certs/ca-certificates.crt"
if chroot "$root" /a2a send "$url" hello 2> error; then exit 1; fi
grep SSL_CERT_FILE error
echo "ok: without authorities the error says what to do"
