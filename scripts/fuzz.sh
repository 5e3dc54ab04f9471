#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs every fuzzer, or those that are named, for some seconds each, as many at
# once as there are cores: from the corpora that are kept and from seeds. Says
# what was executed, covered and found. usage: fuzz.sh [SECONDS [TARGET…]]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-1200}
work=build-fuzz/run
targets=("${@:2}")
((${#targets[@]})) ||
  targets=(onnx mlir kernel plan program assembly yaml config device phase data
    endpoint node)

# fuzz TARGET: its corpus, log and findings lie in $work/TARGET.
fuzz() {
  local target=$1 own=$work/$1
  build-fuzz/bin/"$target"-fuzzer -fork=1 -ignore_crashes=1 -ignore_ooms=1 \
    -ignore_timeouts=1 -max_total_time="$seconds" -max_len=32768 \
    -rss_limit_mb=2048 -timeout=10 -artifact_prefix="$own/found/" \
    "$own/corpus" test/fuzz/corpus-"$target" "$own/seeds" \
    >"$own/log" 2>&1 || true
}

# Counts what was found. A busy machine may stop an input past its time: only
# what repeats counts.
found() {
  local target=$1 own=$work/$1 file count
  echo "$target: $(grep -E '^#[0-9]+: cov' "$own/log" | tail -1)"
  for file in "$own/found"/*; do
    [[ -e $file ]] || continue
    if build-fuzz/bin/"$target"-fuzzer -rss_limit_mb=2048 -timeout=10 "$file" \
        >/dev/null 2>&1; then
      echo "not repeated, and dropped: $(basename "$file")"
      rm "$file"
    fi
  done
  count=$(find "$own/found" -type f | wc -l)
  echo "findings: $count, in $own/found; the log is $own/log"
  ((count == 0))
}

for target in "${targets[@]}"; do
  own=$work/$target
  mkdir -p "$own"/{corpus,found,seeds}
  case $target in
  onnx)
    .venv/bin/python test/fuzz/seeds.py "$own/seeds"
    find /usr/share -path '*/node/*' -name model.onnx -size -4k 2>/dev/null |
      while read -r file; do
        cp "$file" "$own/seeds/$(basename "$(dirname "$file")").onnx"
      done
    ;;
  # Modules that the program of the usual build writes.
  phase)
    python3 test/fuzz/phase_seeds.py build/bin/rhizome "$own/seeds"
    ;;
  mlir) python3 test/fuzz/mlir_seeds.py "$own/seeds" ;;
  *) python3 test/fuzz/reader_seeds.py "$target" "$own/seeds" ;;
  esac
done
export work seconds
export -f fuzz
printf '%s\n' "${targets[@]}" |
  xargs -P "$(nproc)" -I{} bash -c 'fuzz {}'
status=0
for target in "${targets[@]}"; do
  found "$target" || status=1
done
exit $status
