#!/usr/bin/env bash
# Installs the Debian packages that PeerConnect is built and run with; with --tests also those its tests need.
# What is there is left alone, so it may be run again at any time.
set -euo pipefail

say() { printf 'setup: %s\n' "$*" >&2; }

packages=(
    libavahi-client-dev libavahi-common-dev libavahi-core-dev libavahi-core7 libssl-dev libsqlite3-dev pkg-config
    avahi-daemon dbus
)
case "${1:-}" in
    "") ;;
    --tests) packages+=(iproute2 nftables avahi-utils util-linux procps tmux openssl python3-zeroconf) ;;
    *) say "usage: Config/setup.sh [--tests]"; exit 2 ;;
esac

if ! command -v swift >/dev/null; then
    say "Swift is missing: install Swift 6.2 or newer from https://www.swift.org/install/linux/ and put it on the PATH."
    exit 1
fi
version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
if [ "$(printf '6.2\n%s\n' "${version:-0}" | sort -V | head -n 1)" != 6.2 ]; then
    say "Swift ${version:-of an unknown version} is too old: 6.2 or newer is needed."
    exit 1
fi

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
    say "this is no Debian: install what corresponds to ${missing[*]}"
    exit 1
fi
root=()
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        say "run it as root, or install sudo: these packages are missing: ${missing[*]}"
        exit 1
    fi
    root=(sudo)
fi
say "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${root[@]}" apt-get update -qq
"${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
