#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the missing Debian packages of packages.txt, and a Python
# environment .venv with test/requirements.txt. Does nothing if all are installed.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
while read -r package; do
  status=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  [[ $status == ii* ]] || missing+=("$package")
done < <(grep -Ev '^[[:space:]]*(#|$)' packages.txt)

if ((${#missing[@]})); then
  echo "setup: installing ${missing[*]}"
  as_root=()
  if (($(id -u) != 0)); then
    command -v sudo >/dev/null || {
      echo "setup: neither root nor sudo; as root run:" \
        "apt-get install ${missing[*]}" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}" </dev/null
fi

# The tests compare with ONNX Runtime; without it they report it and are skipped.
stamp=.venv/requirements.txt
if ! cmp -s test/requirements.txt "$stamp"; then
  echo "setup: Python packages into .venv"
  rm -rf .venv
  # Debian's Python: packages.txt installs its venv module.
  if /usr/bin/python3 -m venv .venv &&
    .venv/bin/pip install --quiet --disable-pip-version-check \
      -r test/requirements.txt </dev/null; then
    cp test/requirements.txt "$stamp"
  else
    echo "setup: WARNING: no Python packages (see above);" \
      "tests that need ONNX Runtime will be skipped" >&2
  fi
fi
