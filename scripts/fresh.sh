#!/usr/bin/env bash
# What a newcomer meets: clones the last commit into a folder of its own and runs
# the README's lines there as they stand, with an empty home and without anything
# that Go has downloaded or built before. Says how long the build took, and after
# the start the first message, its answer and its webhook; more than 60 seconds
# for those are a failure. Needs port 3000, git, curl and the module proxy that
# GOPROXY names; leaves nothing.
set -Eeuo pipefail
cd "$(dirname "$0")/.."

limit=60
work=$(mktemp -d)
server=

finish() {
  local code=$?
  trap - EXIT INT TERM
  if [ -n "$server" ]; then
    kill -TERM -- "-$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  [ "$code" = 0 ] || tail -n 20 "$work"/*.log >&2 2>/dev/null || true
  chmod -R u+w "$work" # modules are kept read-only
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT
trap 'exit 1' INT TERM

fail() {
  echo "fresh: $*" >&2
  exit 1
}

# newcomer runs a command with an empty home; what leads to the module proxy is
# all that comes along.
comes=(PATH="$PATH" HOME="$work/home" no_proxy=localhost NO_PROXY=localhost TOKEN=)
for name in GOPROXY GOSUMDB GONOSUMDB GOPRIVATE GOINSECURE GOTOOLCHAIN; do
  comes+=("$name=$(go env "$name")")
done
for name in HTTP_PROXY HTTPS_PROXY http_proxy https_proxy SSL_CERT_FILE SSL_CERT_DIR; do
  [ -z "${!name:-}" ] || comes+=("$name=${!name}")
done
newcomer() { (cd "$work/trunkline" && exec env -i "${comes[@]}" "$@"); }

# block prints the lines of the README's block of a name.
block() {
  awk -v marker="<!-- run:$1 -->" '
    $0 == marker { here = 1; next }
    here && /^```/ { if (inside) exit; inside = 1; next }
    inside' "$work/trunkline/README.md"
}

now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }

! (exec 3<>/dev/tcp/127.0.0.1/3000) 2>/dev/null || fail "port 3000 is taken"
mkdir "$work/home"
git clone --quiet "file://$PWD" "$work/trunkline"
echo "fresh: revision $(git -C "$work/trunkline" rev-parse --short HEAD), $(go env GOVERSION), $(nproc) processors"

begin=$(now)
newcomer go build -o /dev/null ./server/cmd/trunkline 2>"$work/build.log"
echo "fresh: downloaded and built in $(since "$begin") s"

start=$(block start)
[ -n "$start" ] || fail "the README has no block that starts"
begin=$(now)
set -m # a group of processes of its own
newcomer bash -euc "$start" >"$work/server.out" 2>"$work/server.log" &
server=$!
set +m
until grep -q '^Trunkline is ready' "$work/server.out"; do
  kill -0 "$server" 2>/dev/null || fail "the server ended"
  [ "${begin%.*}" -gt $(($(date +%s) - limit)) ] || fail "the server is not ready after $limit s"
  sleep 0.05
done
echo "fresh: ready after $(since "$begin") s"

# The lines as they stand, each followed by the time; then the last two again,
# until they show what they promise.
block first-message >"$work/lines"
look=$(grep '/echo' "$work/lines")
phone=$(tail -n 1 "$work/lines")
{
  cat <<END
said() { awk -v a=$begin -v b="\$(date +%s.%N)" -v what="\$1" 'BEGIN { printf "fresh: %s after %.1f s\n", what, b - a }' >&3; }
again() { for _ in {1..600}; do eval "\$1" | grep -q "\$2" && return; sleep 0.1; done; return 1; }
END
  sed -E '/\/messages -d /s/$/; said "message"/; /\/chats\/send /s/$/; said "answer"/' "$work/lines"
  printf '%s\n' 'again "$1" "Are you open today?"; said "webhook"' 'again "$2" "Until nine."; said "answer on the phone"'
} >"$work/talk.sh"
newcomer bash -eu "$work/talk.sh" "$look" "$phone" 3>&1 >"$work/talk.log" 2>&1 || fail "a line of the README failed"
took=$(since "$begin")
awk "BEGIN { exit !($took <= $limit) }" || fail "$took s, not $limit"
echo "fresh: all of it $took s after the start"
