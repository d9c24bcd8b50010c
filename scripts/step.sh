#!/usr/bin/env bash
# Runs a command as one step of a longer run: step.sh NAME COMMAND...
#
# Steps may have steps. The outermost one ends with a table of how long each took.
set -uo pipefail

readonly name=$1
shift

table=
if [[ -z ${FIREARROW_STEPS:-} ]]; then
    table=$(mktemp)
    trap 'rm -f "$table"' EXIT
    export FIREARROW_STEPS=$table
fi

readonly begin=$SECONDS
status=0
"$@" || status=$?
printf '%d\t%s\n' $((SECONDS - begin)) "$name" >>"$FIREARROW_STEPS"

if [[ -n $table ]]; then
    echo
    awk -F '\t' '{ printf "%3d:%02d  %s\n", $1 / 60, $1 % 60, $2 }' "$table"
fi
exit "$status"
