#!/usr/bin/env bash
# Whether the server in this container is ready. The image has no HTTP client; the shell can send one request.
#
# A server that speaks HTTPS (server.tls_cert) answers a request in clear text by 400, and counts as running.
set -euo pipefail

port="${LOCI_LISTEN##*:}"
exec 3<>"/dev/tcp/127.0.0.1/${port:-7077}"
printf 'GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
read -r -t 3 _ status _ <&3
[ "$status" = 200 ] || [ "$status" = 400 ]
