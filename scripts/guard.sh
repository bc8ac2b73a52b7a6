#!/usr/bin/env bash
# Has an operation become dearer? Counts instructions with callgrind and compares them with scripts/guard.toml.
#
#   scripts/guard.sh [check|update] [OPERATION…]
#
# `check` fails if an operation takes 5 % more than is committed, and asks for an update if it takes 5 % less;
# `update` writes what was counted, where it moved by more than 1 %. Counted is the build that the tests use
# (dev profile): LOCI, or `loci` in the target folder. Each operation runs N times and 2 N times on copies of one
# store: the difference, divided by N, is one operation. Callgrind's profiles stay in TARGET/guard, so
# `callgrind_annotate` says where the instructions went.
set -euo pipefail
cd "$(dirname "$0")/.."

verb="${1:-check}"
shift || true
committed="${GUARD_FILE:-scripts/guard.toml}"
target="${CARGO_TARGET_DIR:-target}"
loci="${LOCI:-$target/debug/loci}"
dest="$target/guard"
tolerance=5

# How often each operation runs: enough that chance (hash seeds, spinning locks) is below 1 %.
declare -A times=([remember]=40 [recall]=24 [nearest]=8 [embed]=1 [consolidate]=4)
operations=(remember recall nearest embed consolidate)
[ $# -eq 0 ] || operations=("$@")

say() { echo "guard: $*" >&2; }

# skip WHY: what cannot be counted here is a failure only where everything is required.
skip() {
  say "$*"
  [ "${LOCI_TEST_REQUIRE:-}" != 1 ] || exit 1
  say "nothing was counted"
  exit 0
}

# The machine's own valgrind, or Debian's package unpacked aside: nothing is installed.
fetch_valgrind() {
  valgrind="$(command -v valgrind || true)"
  [ -z "$valgrind" ] || return 0
  valgrind="$dest/valgrind/usr/bin/valgrind"
  export VALGRIND_LIB="$dest/valgrind/usr/libexec/valgrind"
  [ ! -e "$dest/valgrind/.whole" ] || return 0
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
  say "fetching valgrind with apt-get"
  rm -rf "$dest/valgrind" && mkdir -p "$dest/valgrind/fetch/lists/partial" "$dest/valgrind/fetch/cache/archives/partial"
  (
    cd "$dest/valgrind/fetch"
    # Lists of its own: a fresh machine has none, and only root may renew the machine's.
    apt=(apt-get --quiet --quiet --option "Dir::State::Lists=$PWD/lists" --option "Dir::Cache=$PWD/cache"
      --option APT::Sandbox::User=)
    "${apt[@]}" update && "${apt[@]}" download valgrind || exit 1
    for package in *.deb; do dpkg-deb --extract "$package" .. || exit 1; done
  ) >&2 || return 1
  rm -rf "$dest/valgrind/fetch"
  "$valgrind" --version >/dev/null || return 1
  touch "$dest/valgrind/.whole"
}

# run OPERATION TIMES: the instructions of the whole run, on a copy of the operation's store.
run() {
  local name="$1.$2" store="$scratch/$1.$2"
  if [ -d "$scratch/$1" ]; then cp -r "$scratch/$1" "$store"; fi
  "${still[@]}" "$valgrind" --tool=callgrind --callgrind-out-file="$dest/$name.out" --log-file="$dest/$name.log" \
    "$loci" bench guard --operation "$1" --times "$2" --keep "$store" >"$dest/$name.out" 2>&1 ||
    { cat "$dest/$name.out" "$dest/$name.log" >&2; return 1; }
  rm -rf "$store"
  awk '/Collected/ { print $NF }' "$dest/$name.log"
}

# count OPERATION: the instructions of one.
count() {
  local once twice n="${times[$1]}"
  # What an operation runs on is made without valgrind, which would take fifty times as long.
  "$loci" bench guard --operation "$1" --times 0 --keep "$scratch/$1" >&2 || return 1
  run "$1" "$n" >"$scratch/once" &
  local other=$!
  twice="$(run "$1" $((2 * n)))" || { wait "$other" || true; return 1; }
  wait "$other" || return 1
  once="$(cat "$scratch/once")"
  echo $(((twice - once) / n))
}

value() { sed -n "s/^$1 = \([0-9]*\)$/\1/p" "$committed" 2>/dev/null || true; }

# change BEFORE NOW: in percent, with its sign.
change() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%+.1f", (b / a - 1) * 100 }'; }

# beyond CHANGE LIMIT: whether a change is further from none than the limit.
beyond() { awk -v c="$1" -v l="$2" 'BEGIN { exit !(l < 0 ? c < l : c > l) }'; }

write() {
  cat <<TOML
# Instructions that one operation takes, counted by scripts/guard.sh and renewed by \`make guard-update\`.
# crates/loci-bench/src/bench/guard.rs defines the operations.
counted_with = "$here"

[instructions]
TOML
  local operation number
  for operation in remember recall nearest embed consolidate; do
    number="${counted[$operation]:-$(value "$operation")}"
    [ -z "$number" ] || echo "$operation = $number"
  done
}

case "$verb" in check | update) ;; *) sed -n '4,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac
for operation in "${operations[@]}"; do
  [ -n "${times[$operation]:-}" ] || { say "unknown operation: $operation"; exit 2; }
done
mkdir -p "$dest"
dest="$(cd "$dest" && pwd)"
# The kernels that run differ by processor, and so do their counts.
[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] && grep -q -m 1 avx2 /proc/cpuinfo ||
  { say "counts are kept for Linux on x86-64 with AVX2; nothing was counted"; exit 0; }
[ -x "$loci" ] || { say "$loci is missing: build it first"; exit 1; }
fetch_valgrind || skip "valgrind is missing: apt-get install valgrind"
here="$(rustc --version | cut -d ' ' -f 1,2), $("$valgrind" --version), dev profile"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
# One worker, no log; and addresses that stay the same where the system allows it.
export RAYON_NUM_THREADS=1 LOCI_LOG=off
still=(setarch -R)
"${still[@]}" true 2>/dev/null || still=()

declare -A counted
failed=0 cheaper=0
printf '%-12s %14s %14s %9s\n' operation committed counted change
for operation in "${operations[@]}"; do
  now="$(count "$operation")" || { say "$operation could not be counted"; exit 1; }
  before="$(value "$operation")"
  if [ -z "$before" ]; then
    printf '%-12s %14s %14s %9s\n' "$operation" none "$now" new
    [ "$verb" = update ] || failed=1
    counted[$operation]="$now"
    continue
  fi
  moved="$(change "$before" "$now")"
  verdict=""
  if beyond "$moved" "$tolerance"; then verdict="  dearer"; failed=1; fi
  if beyond "$moved" "-$tolerance"; then verdict="  cheaper"; cheaper=1; fi
  printf '%-12s %14s %14s %8s%%%s\n' "$operation" "$before" "$now" "$moved" "$verdict"
  # What moved by chance alone is left, so that a diff shows what was changed.
  if beyond "$moved" 1 || beyond "$moved" -1; then counted[$operation]="$now"; fi
done

if [ "$verb" = update ]; then
  write >"$scratch/new"
  cat "$scratch/new" >"$committed"
  say "written to $committed; say in the commit why a number moved"
  exit 0
fi
was="$(sed -n 's/^counted_with = "\(.*\)"$/\1/p' "$committed" 2>/dev/null || true)"
if [ "$failed" = 1 ]; then
  say "an operation takes more than $tolerance % more instructions than $committed says, or is not in it"
  [ "$was" = "$here" ] || say "that was counted with $was, this with $here: the tools may be the reason"
  say "callgrind_annotate $dest/OPERATION.N.out shows where they went; if it is worth it: make guard-update"
  exit 1
fi
[ "$cheaper" = 0 ] || say "an operation has become cheaper: keep it so with make guard-update"
