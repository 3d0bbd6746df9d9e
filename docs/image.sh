#!/bin/sh
# Build the image for amd64 and arm64: docs/image.sh [--push] [NAME[:TAG]]   (default: inftop:VERSION)
# Docker Buildx does it, the other machine's part under emulation (docker run --privileged tonistiigi/binfmt --install all,
# or Docker Desktop). Without --push the image stays in Buildx's cache: it shows that both can be built.
# DRY_RUN=1 prints the command instead.
set -eu
cd "$(dirname "$0")/.."

push=
if [ "${1:-}" = --push ]; then
  push=--push
  shift
fi
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' probes/__init__.py)
name=${1:-inftop:$version}

set -- docker buildx build --platform linux/amd64,linux/arm64 --file docs/Dockerfile --tag "$name" \
  --label "org.opencontainers.image.title=inftop" --label "org.opencontainers.image.version=$version" \
  --label "org.opencontainers.image.licenses=MIT" --sbom=true --provenance=mode=max $push .
if [ -n "${DRY_RUN:-}" ]; then
  echo "$@"
else
  exec "$@"
fi
