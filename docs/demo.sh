#!/bin/sh
# The README's transcript, live: a goal in plain words is understood and run in one step, then
# step by step: compiled by the bundled model, accepted, run and replayed.
# Everything happens in one folder (default: ./demo), with a home of its own; nothing else on the machine is touched.
set -eu
place=${1:-"$(dirname "$0")/../demo"}
rm -rf "$place" && mkdir -p "$place/notes" && cd "$place"
export MCL_HOME="$PWD/.mcl"
export COLUMNS="${COLUMNS:-100}"
mcl init --unattended > /dev/null 2>&1 # nobody types here: without this accepting wants a person at a terminal
printf 'Call the plumber about the kitchen sink.\nInvoice 4711 is due on Friday.\n' > notes/monday.txt
printf 'Invoice 4712 came in, nobody has checked it.\nBuy coffee.\n' > notes/tuesday.md

show() {
  printf '$ %s\n' "$1"
  eval "$1"
  printf '\n'
}

show 'mcl do "which files in notes mention invoice" --yes'
show 'mcl compile "which files in notes mention invoice"'
show 'mcl accept @last --yes'
show 'mcl run @last'
show 'mcl replay @last'
show 'mcl log verify'
