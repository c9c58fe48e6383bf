#!/usr/bin/env bash
# Sweeps the request rate and gathers one summary: how many false trips per
# hour does each breaker make, and how late is it, at 5 to 500 calls/s?
#
#   scripts/sweep.sh [RATES] [further flags]
#   scripts/sweep.sh 10,50,200 -reps 100
set -euo pipefail
cd "$(dirname "$0")/.."
rates=5,20,50,200,500
if [[ ${1:-} == [0-9]* ]]; then
  rates=$1
  shift
fi

go run . -exp false-trips -hours 1 -rate "$rates" -set mode=observe -charts none -out out/sweep "$@"
echo
echo "summary: out/sweep/false-trips_summary.csv"
