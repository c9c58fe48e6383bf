#!/usr/bin/env bash
# Runs a command with a PostgreSQL server of its own, on loopback: it is
# STORMGLASS_POSTGRES for the command. Without PostgreSQL the command runs all
# the same.
#
#	scripts/with-postgres.sh go test ./requestlog
set -euo pipefail

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1 || true)
if [ -z "$bin" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql) >/dev/null 2>&1 || true
  bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1 || true)
fi
if [ -z "$bin" ]; then
  echo "with-postgres: no PostgreSQL is installed (Debian package postgresql): its tests are skipped" >&2
  exec "$@"
fi

dir=$(mktemp -d)
as() { "$@"; } # PostgreSQL refuses to run as root
if [ "$(id -u)" = 0 ]; then
  chown nobody "$dir"
  as() { runuser -u nobody -- "$@"; }
fi
stop() {
  as "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$dir"
}
trap stop EXIT

here() { (cd "$dir" && as "$@"); }
here "$bin/initdb" -D "$dir/data" -U stormglass --auth=trust --no-sync -E UTF8 --locale=C >/dev/null
port=""
for try in $(seq 55432 55451); do
  if here "$bin/pg_ctl" -D "$dir/data" -w -t 30 -l "$dir/log" \
    -o "-p $try -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off" start >/dev/null 2>&1; then
    port=$try
    break
  fi
done
if [ -z "$port" ]; then
  echo "with-postgres: the server does not start:" >&2
  cat "$dir/log" >&2
  exit 1
fi
STORMGLASS_POSTGRES="host=127.0.0.1 port=$port user=stormglass dbname=postgres" "$@"
