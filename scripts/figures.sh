#!/usr/bin/env bash
# Draws every figure of the README and the documentation into docs/figures.
# Arguments are passed on, such as -reps 100 or -charts png,svg.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

go run . -exp all -out "$out" -quiet "$@"
go run . -exp false-trips -trace examples/petshop-high.csv -out "$out" -quiet "$@"
mkdir -p docs/figures
find "$out" \( -name '*.png' -o -name '*.svg' -o -name '*.pdf' \) -exec mv {} docs/figures/ \;
ls docs/figures
