#!/usr/bin/env bash
# Brings what package.json names into target/browser, at the versions and digests of the lock file. Nothing is done twice.
set -euo pipefail
cd "$(dirname "$0")"
to=../../target/browser
if cmp -s package-lock.json "$to/done.json"; then exit; fi
mkdir -p "$to"
rm -f "$to/done.json"
cp package.json package-lock.json "$to/"
npm ci --prefix "$to" --ignore-scripts --no-audit --no-fund --silent
cp package-lock.json "$to/done.json"
