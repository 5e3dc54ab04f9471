#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The demonstration of the README: a network that we trained becomes RTL, which
# is simulated and compared bit for bit with the interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."

rhizome=build/bin/rhizome
model=examples/digits/digits_qdq_int8.onnx
images=examples/digits/test_images.npy
labels=examples/digits/test_labels.npy
package=build/demo/digits.rhz
device=xcku060-role
goal=throughput=100000/s
frames=32
rtl_images=450

say() { printf '\n== %s\n' "$*"; }
run() {
  printf '$ %s\n' "$*"
  "$@"
}
# The number after "key" in one of the JSON results in build/demo.
field() { python3 -c '
import functools, json, sys
value = functools.reduce(lambda v, k: v[k], sys.argv[2].split("."), json.load(open(sys.argv[1])))
print(sys.argv[3] % (value * float(sys.argv[4])) if len(sys.argv) > 4 else value)
' "$@"; }

# Shows a command, stores its JSON output as build/demo/NAME.json, and fails with
# that output.
ask() {
  local answer=build/demo/$1.json
  shift
  printf '$ %s\n' "$*"
  "$@" --json >"$answer" || {
    cat "$answer"
    exit 1
  }
}
trap 'echo "demo: FAILED" >&2' EXIT

mkdir -p build/demo
say "Compile: a CNN with a residual connection, int8, trained on 8×8 digits"
run $rhizome compile $model --device $device --goal $goal -o $package

say "Simulate $frames test images through the RTL (first the simulator is built)"
ask simulate $rhizome simulate $package --level rtl --input $images -n $frames
echo "$(field build/demo/simulate.json frames) frames," \
  "$(field build/demo/simulate.json mismatches) mismatches"
say "Again, with random stalls on input and output"
run $rhizome simulate $package --level rtl --input $images -n $frames \
  --stalls-in 30 --stalls-out 40

say "Accuracy on the test images, computed by the CPU path"
ask functional $rhizome evaluate $package --data $images --labels $labels
echo "$(field build/demo/functional.json correct) of" \
  "$(field build/demo/functional.json frames) correct"
say "The same images through the simulated RTL"
ask rtl $rhizome evaluate $package --data $images --labels $labels \
  --level rtl -n $rtl_images
echo "$(field build/demo/rtl.json correct) of" \
  "$(field build/demo/rtl.json frames) correct"

simulated=build/demo/simulate.json
clock=$(field $simulated predicted.clock_mhz)
measured=$(field $simulated measured.interval_cycles)
say "Summary"
cat <<END
  model        $model
  device       $device at $clock MHz, goal $goal
  mismatches   $(field $simulated mismatches) in $(field $simulated frames) frames of RTL against the interpreter
  accuracy     $(field build/demo/functional.json accuracy '%.2f' 100) % of $(field build/demo/functional.json frames) test images (CPU path)
               $(field build/demo/rtl.json accuracy '%.2f' 100) % of $(field build/demo/rtl.json frames) through the simulated RTL
  rate         predicted $(field $simulated predicted.interval_cycles) cycles a frame = $(field $simulated predicted.throughput_per_s '%.0f' 1) frames/s
               measured  $measured cycles a frame = $(python3 -c "print(round($clock * 1e6 / $measured))") frames/s
  latency      predicted $(field $simulated predicted.latency_cycles), measured $(field $simulated measured.latency_cycles) cycles
  package      $package  (RTL in $package/nodes/node0/rtl)
END
cat <<END

The tour in docs/start/tour.md goes on from here, in this folder:
  export PATH="\$PWD/build/bin:\$PATH"
END
trap - EXIT
