#!/usr/bin/env bash
# Draws every figure of the README and the documentation.
#
#   scripts/figures.sh [DIRECTORY]   default: docs/figures
set -euo pipefail
cd "$(dirname "$0")/.."
figures=${1:-docs/figures}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# A run replaces the figures of an earlier run of the same experiment.
go run . -exp all -out "$out/all" -quiet
go run . -exp false-trips -set mode=breaker -out "$out/breaker" -quiet
go run . -exp false-trips -trace examples/petshop-high.csv -out "$out/trace" -quiet
mkdir -p "$figures"
rm -f "$figures"/*.png
mv "$out"/*/*.png "$figures"
ls "$figures"
