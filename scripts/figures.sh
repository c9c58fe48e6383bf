#!/usr/bin/env bash
# Draws every figure of the README and the documentation.
#
#   scripts/figures.sh [DIRECTORY]   default: docs/figures
set -euo pipefail
cd "$(dirname "$0")/.."
figures=${1:-docs/figures}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

go run . -exp all -out "$out" -quiet
go run . -exp false-trips -set mode=breaker -out "$out" -quiet
go run . -exp false-trips -trace examples/petshop-high.csv -out "$out" -quiet
mkdir -p "$figures"
mv "$out"/*.png "$figures"
ls "$figures"
