# shellcheck shell=bash
# Source this file first: what the tests of all kinds of files share. FIREARROW_URL is a database that does not exist yet.

source scripts/dist/glibc.sh
readonly file=$1
name=$(basename "$file")
folder=$(mktemp -d)
readonly name folder
trap 'rm -rf "$folder"' EXIT

# Ends the test: what it found goes to the list at the end.
passed() { echo "passed  $name: $*" | tee -a "$FIREARROW_DIST_RESULT"; }
skip() { echo "SKIP    $name: $*" | tee -a "$FIREARROW_DIST_RESULT"; }
fail() { echo "$name: $*" >&2; exit 1; }

# Fails if the text of the second argument is not in the first.
contains() { [[ $1 == *"$2"* ]] || fail "\"$2\" is missing in: $1"; }

# The newest version of glibc that a file needs must be no newer than ours.
check_glibc() {
    local newest
    newest=$(readelf --wide --version-info "$@" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1)
    [[ $(printf '%s\n' "$newest" "GLIBC_$glibc" | sort -V | tail -n 1) == "GLIBC_$glibc" ]] || fail "it needs $newest"
}

# No file tells where it was built.
check_paths() {
    local paths
    paths=$(grep --recursive --text --only-matching --fixed-strings --max-count 3 -e "$PWD/" -e "${CARGO_HOME:-$HOME/.cargo}/" \
        -e "$(rustc --print sysroot)/" -e "$(realpath -m "${CARGO_TARGET_DIR:-target}")/" "$1" || true)
    [[ -z $paths ]] || fail "paths of this machine: $paths"
}

# Prints the machine of a program: x86_64, aarch64, or as ELF calls it.
machine_of() {
    local machine
    machine=$(readelf --file-header "$1" | awk '/Machine:/ { print $NF }')
    case $machine in
        X86-64) echo x86_64 ;;
        AArch64) echo aarch64 ;;
        *) echo "$machine" ;;
    esac
}

# Prints the emulator that programs of a machine need here. Ends the test as skipped if there is none.
emulator_for() { command -v "qemu-$1-static" || { skip "needs qemu-$1-static (package qemu-user-static)" >&2; return 1; }; }

# Runs a command in a folder that is the root of its file system.
in_root() {
    if ((EUID == 0)); then chroot "$@"; else unshare --map-root-user chroot "$@"; fi
}

# Tries the command, given as words that start it: versions, completions, a database on the server.
check_command() {
    local text
    text=$("$@" --version --verbose)
    contains "$text" "target: "
    contains "$text" "commit: "
    contains "$("$@" completions bash)" "_firearrow"
    "$@" create "$url" --quiet >/dev/null
    text=$("$@" sql "$url" "CREATE TABLE T (N INTEGER, S VARCHAR(20)); INSERT INTO T VALUES (42, 'bäh');" 2>&1) || fail "$text"
    contains "$("$@" query "$url" 'SELECT N, S FROM T' --format json)" "42"
    contains "$("$@" query "$url" 'SELECT N, S FROM T' --format csv)" "42,bäh"
    contains "$("$@" info "$url")" "encryption"
    # An error must get through as well: panics and unwinding differ between systems.
    if text=$("$@" query "$url" 'SELECT * FROM MISSING' 2>&1); then fail "a table that is missing was read"; fi
    contains "$text" "MISSING"
}

# After check_command: the benchmarks, by the command, which needs /proc to find them, or by firearrow-bench itself.
check_benchmarks() {
    local text
    text=$("$@" bench fetch "$url" --sql 'SELECT N FROM T' --repeat 1 --no-reference 2>&1) || fail "$text"
    contains "$text" "rows"
}

# An empty root knows no names.
readonly url=${FIREARROW_URL/localhost/127.0.0.1}
