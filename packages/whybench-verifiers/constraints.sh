#!/usr/bin/env bash
# Pin every package of this distribution's own environment but WhyBench, with hashes and without any
# address: packages/whybench-verifiers/constraints.sh
set -euo pipefail
cd "$(dirname "$0")"
left_out=$(mktemp)
trap 'rm -f "$left_out" constraints.txt.new' EXIT
echo whybench >"$left_out"
{
  echo "# Exact versions for CI. Made by constraints.sh; do not edit."
  uv pip compile pyproject.toml --group test ../../pyproject.toml --universal --python-version 3.11 \
    --generate-hashes --no-header --no-annotate --excludes "$left_out" --quiet
} >constraints.txt.new
mv constraints.txt.new constraints.txt
