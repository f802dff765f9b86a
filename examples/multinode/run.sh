#!/usr/bin/env bash
# Two nodes on one PostgreSQL. Contacts write and are answered through both; then
# one node is killed with -9 while it has work, and the other finishes it. Says
# what arrived, fails if anything is missing or there twice, and leaves nothing.
#
#   TRUNKLINE_DATABASE_URL   an empty PostgreSQL database; without it a server is
#                            started of the binaries that are installed
#   BIN                      a folder with trunkline and webhookreceiver; without
#                            it they are built
#   MESSAGES                 how many contacts write and are answered (40)
set -Eeuo pipefail
cd "$(dirname "$0")/../.."

messages=${MESSAGES:-40}
contacts=4
work=$(mktemp -d)
declare -A process=()

finish() {
  local code=$?
  trap - EXIT INT TERM
  for name in "${!process[@]}"; do
    kill -CONT "${process[$name]}" 2>/dev/null || true
    kill "${process[$name]}" 2>/dev/null || true
  done
  wait
  [ ! -d "$work/pg/data" ] || as_owner "$pg/pg_ctl" -D "$work/pg/data" -m immediate stop >/dev/null || true
  [ "$code" = 0 ] || tail -n 5 "$work"/*.log >&2
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT
trap 'echo "multinode: line $LINENO failed" >&2' ERR
trap 'exit 1' INT TERM

fail() {
  echo "multinode: $*" >&2
  exit 1
}

# as_owner runs a command of PostgreSQL, which refuses to be root.
as_owner() {
  if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

# start_postgres starts a server that is reached through a socket in the folder.
start_postgres() {
  pg=$(dirname "$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -n 1 || command -v initdb)")
  [ -x "$pg/pg_ctl" ] || fail "PostgreSQL is not installed; set TRUNKLINE_DATABASE_URL"
  chmod 711 "$work"
  mkdir "$work/pg"
  [ "$(id -u)" != 0 ] || chown postgres "$work/pg"
  (
    cd /
    as_owner "$pg/initdb" -D "$work/pg/data" -U postgres -A trust --no-sync >/dev/null
    as_owner "$pg/pg_ctl" -D "$work/pg/data" -l "$work/pg/log" -o "-k $work/pg -c listen_addresses=''" -w start >/dev/null
  )
  export TRUNKLINE_DATABASE_URL="postgres://postgres@/postgres?host=$work/pg"
}

# until_is waits for up to 120 seconds until a command prints what is wanted.
until_is() {
  local want=$1 got= end=$((SECONDS + 120))
  shift
  until got=$("$@") && [ "$got" = "$want" ]; do
    [ "$SECONDS" -lt "$end" ] || fail "after 120 s $1 is $got, not $want"
    sleep 0.2
  done
}

# start_node starts a node on a free port; base[NAME] is its address.
declare -A base=()
start_node() {
  local name=$1
  "$BIN/trunkline" --addr 127.0.0.1:0 --data "$work/$name" --media "$work/media" --webhook-allow 127.0.0.1/32 --log warn \
    >"$work/$name.ready" 2>"$work/$name.log" &
  process[$name]=$!
  until_is 1 grep -c '^Trunkline is ready' "$work/$name.ready"
  base[$name]=$(grep -o 'http://localhost:[0-9]*' "$work/$name.ready" | head -n 1)
}

# api calls a node: api NODE PATH, and what curl takes.
api() {
  local node=$1 path=$2
  shift 2
  curl -sS --fail-with-body --noproxy '*' -H 'Content-Type: application/json' -H "Authorization: Bearer ${token:-}" "${base[$node]}$path" "$@"
}

# member prints a string of an answer: member NAME.
member() { sed -E "s/.*\"$1\":\"([^\"]+)\".*/\1/"; }

# shown counts the answers on the phones, each text once; in_order fails unless
# each phone shows its own once, in the order in which they were sent.
shown() {
  for c in $(seq "$contacts"); do
    api two "/sandbox/1/messages?from=c$c&limit=200" | grep -o '"text":"answer [0-9]*"' || true
  done | sort -u | wc -l
}

in_order() {
  local c want
  for c in $(seq "$contacts"); do
    want=$(seq "$c" "$contacts" "$messages" | sed 's/^/answer /')
    [ "$(api two "/sandbox/1/messages?from=c$c&limit=200" | grep -o 'answer [0-9]*' | tac)" = "$want" ] || fail "the phone of c$c does not show each answer once"
  done
}

# heard counts the messages of contacts that the receiver was told of.
heard() { grep -c '^message .*"text":"question' "$work/receiver.out" || true; }

if [ -z "${BIN:-}" ]; then
  echo "building"
  BIN=$work/bin
  go build -o "$BIN/" ./server/cmd/trunkline ./examples/webhookreceiver
fi
[ -n "${TRUNKLINE_DATABASE_URL:-}" ] || start_postgres
TRUNKLINE_SECRET=$(head -c 32 /dev/urandom | base64)
WEBHOOK_SECRET=whsec_$(head -c 32 /dev/urandom | base64)
export TRUNKLINE_SECRET WEBHOOK_SECRET

start_node one
start_node two
until receiver=127.0.0.1:$((20000 + RANDOM % 10000)) && ! (exec 3<>"/dev/tcp/${receiver/://}") 2>/dev/null; do :; done
"$BIN/webhookreceiver" -addr "$receiver" -db "sqlite://$work/received.db" >"$work/receiver.out" 2>"$work/receiver.log" &
process[receiver]=$!

token=$(api one /user/signup -d '{"name":"Ana","email":"ana@example.org","password":"correct horse"}' | member token)
api two /reference -d '{"name":"Shop","type":"provider-sandbox"}' >/dev/null
api one /references/registerWebHook -d "{\"reference\":1,\"webhook\":\"http://$receiver/\",\"secret\":\"$WEBHOOK_SECRET\",\"events\":[\"message\"]}" >/dev/null
echo "two nodes on one database: ${base[one]} and ${base[two]}"

node=(two one)
for i in $(seq "$messages"); do
  if [ "$i" = $((messages / 2)) ]; then
    until_is $((i - 1)) heard
    kill -STOP "${process[receiver]}" # so that both nodes have work when one of them dies
  fi
  chat=c$(((i - 1) % contacts + 1))
  api "${node[i % 2]}" /sandbox/1/messages -d "{\"from\":\"$chat\",\"type\":\"text\",\"text\":\"question $i\"}" >/dev/null
  api "${node[(i + 1) % 2]}" /chats/send -H "Idempotency-Key: answer-$i" \
    -d "{\"reference\":1,\"chatId\":\"$chat@sandbox\",\"message\":{\"type\":\"text\",\"text\":\"answer $i\"}}" >/dev/null
  if [ "$i" = $((messages * 3 / 4)) ]; then
    kill -9 "${process[one]}"
    wait "${process[one]}" 2>/dev/null || true
    unset 'process[one]'
    node=(two two) # as a balancer does that asks /probe
    killed=$SECONDS
    echo "node one was killed with -9 after $i messages; the receiver has taken $(heard)"
  fi
done
kill -CONT "${process[receiver]}"

until_is "$messages" heard
until_is "$messages" shown
in_order
[ "$(heard)" = "$messages" ] || fail "the receiver was told of $(heard) messages"
for c in $(seq "$contacts"); do
  seq "$c" "$contacts" "$messages" | sed 's/^/question /' >"$work/want"
  grep "\"c$c" "$work/receiver.out" | grep -o 'question [0-9]*' >"$work/got" || true
  cmp -s "$work/want" "$work/got" || fail "the receiver was not told of each message of c$c once, in order"
done
echo "node two has finished the work of both, $((SECONDS - killed)) s later:"
echo "$messages of $messages messages reached the receiver, and $messages of $messages answers the phones, each once and in order"
