#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the tests of the layers that read what others wrote with AddressSanitizer
# and UBSan (the preset sanitize), or those that are named, and runs them.
# usage: sanitize.sh [PROGRAM…]
set -euo pipefail
cd "$(dirname "$0")/.."
programs=("$@")
((${#programs[@]})) ||
  programs=(RuntimeTests SupportTests PackageTests TargetTests)
cmake --preset sanitize >/dev/null
cmake --build --preset sanitize --target "${programs[@]}"
for program in "${programs[@]}"; do
  build-sanitize/bin/"$program" --gtest_brief=1
done
