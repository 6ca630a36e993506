#!/bin/sh
# The README's transcript, live: a goal in plain words is compiled by the bundled model, accepted, run and replayed.
# Everything happens in ./demo, with a home of its own; nothing else on the machine is touched.
set -eu
cd "$(dirname "$0")/.."
rm -rf demo && mkdir -p demo/notes && cd demo
export MCL_HOME="$PWD/.mcl"
printf 'Call the plumber about the kitchen sink.\nInvoice 4711 is due on Friday.\n' > notes/monday.txt
printf 'Invoice 4712 came in, nobody has checked it.\nBuy coffee.\n' > notes/tuesday.md

say() { printf '\n$ %s\n' "$*"; }

say 'mcl compile "find the word invoice in the folder notes"'
mcl compile "find the word invoice in the folder notes"
say mcl accept @last --yes
mcl accept @last --yes
say mcl run @last
mcl run @last
say mcl replay @last
mcl replay @last
say mcl log verify
mcl log verify
