#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs the fuzzers of both importers side by side for some seconds, from the
# corpora that are kept, the seeds and ONNX's node cases; says what was executed,
# covered and found.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-3600}
work=build-fuzz/run

# fuzz TARGET FOLDER...: its corpus, log and findings lie in $work/TARGET.
fuzz() {
  local target=$1 own=$work/$1
  shift
  build-fuzz/bin/"$target" -fork=1 -ignore_crashes=1 -ignore_ooms=1 \
    -ignore_timeouts=1 -max_total_time="$seconds" -max_len=32768 \
    -rss_limit_mb=2048 -timeout=10 -artifact_prefix="$own/found/" \
    "$own/corpus" "$@" >"$own/log" 2>&1 || true
}

# Counts what was found. A busy machine may stop an input past its time: only
# what repeats counts.
found() {
  local target=$1 own=$work/$1 file count
  echo "$target: $(grep -E '^#[0-9]+: cov' "$own/log" | tail -1)"
  for file in "$own/found"/*; do
    [[ -e $file ]] || continue
    if build-fuzz/bin/"$target" -rss_limit_mb=2048 -timeout=10 "$file" \
        >/dev/null 2>&1; then
      echo "not repeated, and dropped: $(basename "$file")"
      rm "$file"
    fi
  done
  count=$(find "$own/found" -type f | wc -l)
  echo "findings: $count, in $own/found; the log is $own/log"
  ((count == 0))
}

mkdir -p "$work"/{import-fuzzer,mlir-fuzzer}/{corpus,found,seeds} "$work/nodes"
.venv/bin/python test/fuzz/seeds.py "$work/import-fuzzer/seeds"
python3 test/fuzz/mlir_seeds.py "$work/mlir-fuzzer/seeds"
find /usr/share -path '*/node/*' -name model.onnx -size -4k 2>/dev/null |
  while read -r file; do
    cp "$file" "$work/nodes/$(basename "$(dirname "$file")").onnx"
  done
fuzz import-fuzzer test/fuzz/corpus "$work/import-fuzzer/seeds" "$work/nodes" &
fuzz mlir-fuzzer test/fuzz/corpus-mlir "$work/mlir-fuzzer/seeds" &
wait
status=0
found import-fuzzer || status=1
found mlir-fuzzer || status=1
exit $status
