#!/usr/bin/env bash
# Installs, on Debian or Ubuntu, those of the named parts that are missing:
#
#   make, compiler   to build; the race detector needs the C compiler
#   postgres         server binaries; the tests start servers of their own
#   browser          Chromium, for tests of pages
#   node             the packages of internal/tools, a Node of their own among
#                    them, for tests against what is written for it
#   panel            the packages that the panel is built with and of
#   clients          the packages that build the TypeScript client, and generators
#                    of clients that tests run
#   python, php      Python 3 and PHP, for what the documentation shows in them
#   shell            curl, jq and openssl, for a program that the documentation
#                    shows in bash
#   netcat           nc, with which an example is talked to by hand
#   ffmpeg           for tests that make and convert voice notes, and of previews
#   poppler          pdftoppm, for tests of previews
#   mail             aiosmtpd, a mail server that tests start
#   pooler           PgBouncer, which tests start
#   promtool         of Prometheus, for tests of the alerts in deploy
set -euo pipefail
cd "$(dirname "$0")/.."

updated=

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

packages() {
  if ! command -v apt-get >/dev/null; then
    echo "prepare: please install what Debian calls $*" >&2
    exit 1
  fi
  [ -n "$updated" ] || as_root apt-get update -qq
  updated=1
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@"
}

has() { command -v "$1" >/dev/null; }

has_postgres() {
  [ -n "${PGBIN:-}" ] || has postgres || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null
}

# node_packages installs what internal/tools/package-lock.json names. The Node
# that runs npm may be an old one; that of the tests is among the packages.
node_packages() {
  local lock=package-lock.json have=node_modules/.package-lock.json
  cd internal/tools
  if [ ! "$have" -nt "$lock" ]; then
    has npm || packages nodejs npm
    npm ci --silent --no-fund --no-audit
  fi
  node_modules/.bin/node --version
  cd ../..
}

# locked_packages installs what the package-lock.json of a folder names.
locked_packages() {
  cd "$1"
  if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
    has npm || packages nodejs npm
    npm ci --silent --no-fund --no-audit --ignore-scripts
  fi
  cd "$OLDPWD"
}

# promtool_alone installs this one program of the package prometheus, without the
# server and what its pages need.
promtool_alone() {
  local dir
  dir=$(mktemp -d)
  if ! command -v apt-get >/dev/null; then
    echo "prepare: please install promtool, which belongs to Prometheus" >&2
    exit 1
  fi
  [ -n "$updated" ] || as_root apt-get update -qq
  updated=1
  [ "$(id -u)" != 0 ] || chown _apt "$dir" # apt downloads as this user
  (cd "$dir" && apt-get download -qq prometheus)
  dpkg-deb --fsys-tarfile "$dir"/prometheus_*.deb | tar -xO ./usr/bin/promtool >"$dir/promtool"
  as_root install -m 755 "$dir/promtool" /usr/local/bin/promtool
  rm -rf "$dir"
}

for part in "$@"; do
  case "$part" in
    make) has make || packages make ;;
    compiler) has gcc || packages gcc libc6-dev ;;
    postgres) has_postgres || packages postgresql ;;
    browser) has chromium || packages chromium ;;
    node) node_packages ;;
    panel) locked_packages server/panel ;;
    clients) locked_packages clients/typescript ;;
    python) has python3 || packages python3 ;;
    php) has php || packages php-cli ;;
    shell) { has curl && has jq && has openssl; } || packages curl ca-certificates jq openssl ;;
    netcat) has nc || packages netcat-openbsd ;;
    ffmpeg) has ffmpeg || packages ffmpeg ;;
    poppler) has pdftoppm || packages poppler-utils ;;
    promtool) has promtool || promtool_alone ;;
    pooler) has pgbouncer || [ -x /usr/sbin/pgbouncer ] || packages pgbouncer ;;
    mail) has aiosmtpd || packages python3-aiosmtpd ;;
    *)
      echo "prepare: unknown part $part" >&2
      exit 2
      ;;
  esac
done
