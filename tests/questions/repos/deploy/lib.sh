#!/usr/bin/env bash

RETRIES=3

# Say something with the time.
log() {
  echo "$(date) $*"
}

retry() {
  local n=0
  until "$@"; do
    n=$((n + 1))
    if [ "$n" -ge "$RETRIES" ]; then
      log "giving up"
      return 1
    fi
  done
}
