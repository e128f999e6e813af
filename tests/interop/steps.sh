# Sourced by the run scripts beside this folder: what they all do. A script that is skipped exits with 77.

# need_node MAJOR: ends the script where Node.js is missing or older.
need_node() {
    if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
        echo "skipped: node and npm are needed"
        exit 77
    fi
    if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt "$1" ]; then
        echo "skipped: Node.js $1 or newer is needed, this is $(node --version)"
        exit 77
    fi
}

# install_packages SOURCE_DIR BUILD_DIR: what the lock file in SOURCE_DIR names, into BUILD_DIR, never into the source; once for
# each state of the lock file.
install_packages() {
    mkdir -p "$2"
    if ! cmp -s "$1/package-lock.json" "$2/installed.json"; then
        cp "$1/package.json" "$1/package-lock.json" "$2"
        (cd "$2" && npm ci --ignore-scripts --no-audit --no-fund)
        cp "$2/package-lock.json" "$2/installed.json"
    fi
}

# start_server COMMAND…: with {} for a new data folder; sets endpoint, and ends the server with the script. The exit code of the
# server counts too: it is how a sanitizer speaks.
start_server() {
    data_dir=$(mktemp -d)
    chmod 700 "$data_dir"
    mkfifo "$data_dir/said"
    command=$1
    shift
    [ "${1:-}" != "{}" ] || { shift; set -- "$data_dir" "$@"; }
    "$command" "$@" >"$data_dir/said" &
    server_pid=$!
    trap end_server EXIT INT TERM
    endpoint=
    while read -r word rest; do
        case $word in
        endpoint) endpoint=$rest ;;
        ready) break ;;
        esac
    done <"$data_dir/said"
    if [ -z "$endpoint" ]; then
        echo "the server did not start"
        exit 1
    fi
}

end_server() {
    code=$?
    trap - EXIT INT TERM
    kill "$server_pid" 2>/dev/null || true
    wait "$server_pid" || { echo "the server ended with code $?"; [ "$code" -ne 0 ] || code=1; }
    rm -rf "$data_dir"
    exit "$code"
}
