#!/usr/bin/env bash
source ./lib.sh

log "deploying"
retry scp app.tar host:/srv
