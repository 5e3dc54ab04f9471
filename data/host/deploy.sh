#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Starts and stops the nodes of deploy.yaml: by their 'load' command, or
# as rhizome-node processes on this machine if they have none.
#   ./deploy.sh start [rhizome-node options] | stop | status
# RHIZOME_NODE names the program, rhizome-node otherwise. Of '--metrics PORT' or
# ADDRESS:PORT the first node has that port, the next the next one; of
# '--metrics FILE' each node has FILE.NAME.
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

# The number of tenths of a second that one waits for a process to start or end.
patience=100

# What one node gets of --metrics, by its number from 0 and its name.
metrics_of() {
  port=${metrics##*:}
  case $metrics in
  */*) port=none ;;
  esac
  case $port in
  '' | *[!0-9]*) echo "$metrics.$2" ;;
  0) echo "$metrics" ;; # any that is free
  *) echo "${metrics%"$port"}$((port + $1))" ;;
  esac
}

tab=$(printf '\t')
case $action in
start)
  mkdir -p run
  # --metrics is taken out of the options: each node gets its own.
  metrics=
  left=$#
  while [ "$left" -gt 0 ]; do
    left=$((left - 1))
    case $1 in
    --metrics)
      metrics=${2:-}
      shift
      [ "$left" -gt 0 ] && shift
      left=$((left - 1))
      continue
      ;;
    --metrics=*) metrics=${1#--metrics=} ;;
    *) set -- "$@" "$1" ;;
    esac
    shift
  done
  number=0
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
      rm -f "run/$name.json" "run/$name.log"
      if [ -n "$metrics" ]; then
        "$program" . "$name" --json --metrics "$(metrics_of "$number" "$name")" \
          "$@" >"run/$name.json" 2>"run/$name.log" &
      else
        "$program" . "$name" --json "$@" >"run/$name.json" 2>"run/$name.log" &
      fi
      echo $! >"run/$name.pid"
      echo "$name: process $!, at $place"
    fi
    number=$((number + 1))
  done || exit 1
  # Each says that it listens, or ends because it cannot.
  nodes | while IFS=$tab read -r name place load; do
    [ "$load" = - ] || continue
    waited=0
    until grep -q ' listens at ' "run/$name.log" 2>/dev/null; do
      waited=$((waited + 1))
      sleep 0.1
      if [ "$waited" -gt 3 ] && ! alive "$name"; then
        echo "$name: ended: $(tail -n 1 "run/$name.log" "run/$name.json" |
          grep -v '^==>' | grep . | tail -n 1)" >&2
        exit 1
      fi
      if [ "$waited" -ge "$patience" ]; then
        echo "$name: still starts, see run/$name.log" >&2
        break
      fi
    done
    grep ': metrics at ' "run/$name.log"
    true
  done || exit 1
  ;;
stop)
  nodes | while IFS=$tab read -r name place load; do
    if alive "$name"; then
      kill "$(cat "run/$name.pid")"
      : >"run/$name.stopping"
    fi
  done
  nodes | while IFS=$tab read -r name place load; do
    if [ -f "run/$name.stopping" ]; then
      waited=0
      while alive "$name" && [ "$waited" -lt "$patience" ]; do
        waited=$((waited + 1))
        sleep 0.1
      done
      if alive "$name"; then
        kill -9 "$(cat "run/$name.pid")"
        echo "$name: killed, since it did not end"
      else
        echo "$name: stopped"
      fi
    fi
    rm -f "run/$name.pid" "run/$name.stopping"
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
