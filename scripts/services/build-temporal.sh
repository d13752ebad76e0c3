#!/bin/sh
# Builds the Temporal server and its schema tool with Go into the user's cache, unless they are there. In
# shell, because .ci/run starts it in the background before there is a Node; `npm run services -- install
# temporal` runs it as well. Prints one line, or else the end of Go's output.
#
# One build at a time: a second one waits for the first and finds its programs. They appear together, by a
# rename, so a build that fails or is ended leaves nothing that looks built. SIGTERM, SIGINT and SIGHUP end it
# with its compilers. What hangs ends after 40 minutes.
set -eu

version=$(cat "$(dirname "$0")/temporal-version")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/millrace-services
folder=$cache/temporal-$version
package=go.temporal.io/server/cmd
PATH=$PATH:/usr/local/go/bin # where Go's archive is unpacked
temporary=

# Ends what runs in the background, silently: the last line of CI is not ours. `timeout` passes the signal on
# to its process group, which is Go, compilers and linker.
stop() {
  exec 2> /dev/null
  if [ -n "${!-}" ]; then
    kill "$!" || true
    wait "$!" || true
  fi
  exit 1
}
trap '[ -z "$temporary" ] || rm -rf "$temporary"' EXIT
trap stop HUP INT TERM

if ! command -v go > /dev/null; then
  echo "Temporal $version is built with Go 1.26 or later, which is not on the path" >&2
  exit 1
fi

# What takes long runs in the background: a shell handles a signal when its foreground command has ended,
# but at once while it waits. Linux has `flock` and `timeout`. Elsewhere two builds both do the work, and a
# build has no limit.
mkdir -p "$cache"
if command -v flock > /dev/null; then
  exec 9> "$folder.lock"
  flock 9 &
  wait "$!"
  rm -rf "$folder".?????? # of builds that were killed
fi

if [ -x "$folder/server" ] && [ -x "$folder/sql" ]; then
  echo "Temporal $version is built"
  exit
fi

start=$(date +%s)
temporary=$(mktemp -d "$folder.XXXXXX")
limit=
if command -v timeout > /dev/null; then limit="timeout --kill-after=10 2400"; fi
# shellcheck disable=SC2086 # the limit is several words, or none
CGO_ENABLED=0 GOBIN=$temporary $limit \
  go install "$package/server@v$version" "$package/tools/sql@v$version" > "$temporary/log.txt" 2>&1 9>&- &
if ! wait "$!"; then
  echo "Temporal $version can't be built; the end of Go's output:" >&2
  tail -n 20 "$temporary/log.txt" >&2
  exit 1
fi
rm -rf "$folder" # a part of the programs, by an older version of this script
mv "$temporary" "$folder"
temporary=
echo "Temporal $version is built, in $(($(date +%s) - start)) s"
