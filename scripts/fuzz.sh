#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs the importer's fuzzer for some seconds, from the corpus that is kept,
# the seeds and ONNX's node cases; says what was executed, covered and found.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-3600}
work=build-fuzz/run
mkdir -p "$work"/{corpus,found,seeds,nodes}
.venv/bin/python test/fuzz/seeds.py "$work/seeds"
find /usr/share -path '*/node/*' -name model.onnx -size -4k 2>/dev/null |
  while read -r file; do
    cp "$file" "$work/nodes/$(basename "$(dirname "$file")").onnx"
  done
build-fuzz/bin/import-fuzzer -fork=1 -ignore_crashes=1 -ignore_ooms=1 \
  -ignore_timeouts=1 -max_total_time="$seconds" -max_len=16384 \
  -rss_limit_mb=2048 -timeout=10 -artifact_prefix="$work/found/" \
  "$work/corpus" test/fuzz/corpus "$work/seeds" "$work/nodes" \
  >"$work/log" 2>&1 || true
grep -E '^#[0-9]+: cov' "$work/log" | tail -1
# A busy machine may stop an input past its time: only what repeats counts.
for file in "$work/found"/*; do
  [[ -e $file ]] || continue
  if build-fuzz/bin/import-fuzzer -rss_limit_mb=2048 -timeout=10 "$file" \
      >/dev/null 2>&1; then
    echo "not repeated, and dropped: $(basename "$file")"
    rm "$file"
  fi
done
found=$(find "$work/found" -type f | wc -l)
echo "findings: $found, in $work/found; the log is $work/log"
((found == 0))
