#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Starts and stops the nodes of deploy.yaml: by their 'load' command, or
# as rhizome-node processes on this machine if they have none.
#   ./deploy.sh start [rhizome-node options] | stop | status
# RHIZOME_NODE names the program, rhizome-node otherwise.
set -u
cd "$(dirname "$0")" || exit 1
program=${RHIZOME_NODE:-rhizome-node}
action=${1:-}
[ $# -gt 0 ] && shift

# Lines "name<TAB>place<TAB>load" of the manifest's nodes.
nodes() {
  awk '
    function value(line) {
      sub(/^[^:]*:[ ]*/, "", line)
      gsub(/^"|"$/, "", line)
      return line
    }
    function flush() {
      if (name != "")
        print name "\t" (place ? place : "-") "\t" (load ? load : "-")
    }
    /^nodes:/ { inside = 1; next }
    !inside { next }
    /^[ ]*- name:/ { flush(); name = value($0); place = ""; load = ""; next }
    /^[ ]*place:/ { place = value($0) }
    /^[ ]*load:/ { load = value($0) }
    END { flush() }' deploy.yaml
}

alive() {
  [ -f "run/$1.pid" ] || return 1
  pid=$(cat "run/$1.pid")
  kill -0 "$pid" 2>/dev/null || return 1
  # Another process may have the number by now.
  [ ! -r "/proc/$pid/cmdline" ] ||
    tr '\0' ' ' <"/proc/$pid/cmdline" | grep -qF " $1 "
}

tab=$(printf '\t')
case $action in
start)
  mkdir -p run
  if nodes | grep -q "$tab-\$" && ! command -v "$program" >/dev/null; then
    echo "there is no program '$program': name it in RHIZOME_NODE" >&2
    exit 1
  fi
  nodes | while IFS=$tab read -r name place load; do
    if [ "$load" != - ]; then
      echo "$name: $load"
      sh -c "$load" || exit 1
    elif alive "$name"; then
      echo "$name: runs already"
    else
      # shellcheck disable=SC2086
      "$program" . "$name" --json "$@" >"run/$name.json" 2>"run/$name.log" &
      echo $! >"run/$name.pid"
      echo "$name: process $!, at $place"
    fi
  done || exit 1
  # A node that cannot serve its address ends at once.
  sleep 0.3
  nodes | while IFS=$tab read -r name place load; do
    if [ "$load" = - ] && ! alive "$name"; then
      echo "$name: ended: $(tail -n 1 "run/$name.log" "run/$name.json" |
        grep -v '^==>' | grep . | tail -n 1)" >&2
      exit 1
    fi
  done || exit 1
  ;;
stop)
  nodes | while IFS=$tab read -r name place load; do
    if alive "$name"; then
      kill "$(cat "run/$name.pid")"
      echo "$name: stopped"
    fi
    rm -f "run/$name.pid"
  done
  ;;
status)
  nodes | while IFS=$tab read -r name place load; do
    if [ "$load" != - ]; then state="a board"
    elif alive "$name"; then state="runs"
    else state="does not run"
    fi
    echo "$name: $place, $state"
  done
  ;;
*)
  echo "usage: $0 start|stop|status" >&2
  exit 2
  ;;
esac
