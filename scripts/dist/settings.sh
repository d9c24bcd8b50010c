# shellcheck shell=bash
# Source this file in the checkout's folder: settings and helper functions that all parts of `make dist` share.

# Nothing in a file may depend on who built it, where and when.
export LC_ALL=C TZ=UTC
umask 022

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
readonly target output=$target/dist work=$target/dist-work profile=${DIST_PROFILE:-packaged}
source scripts/dist/glibc.sh
version=$(awk -F '"' '/^version = / { print $2; exit }' Cargo.toml)
readonly version
# Where cargo puts what it builds with the profile.
folder_of_profile=$profile
[[ $profile != dev ]] || folder_of_profile=debug
readonly folder_of_profile

if [[ -z ${FIREARROW_COMMIT:-} ]]; then
    if commit=$(git rev-parse --verify --quiet HEAD); then
        [[ -z $(git status --porcelain --untracked-files=no) ]] || commit+=-dirty
        SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
        FIREARROW_COMMIT_TIME=$(date --date "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
    fi
    FIREARROW_COMMIT=${commit:-unknown}
fi
export FIREARROW_COMMIT FIREARROW_COMMIT_TIME=${FIREARROW_COMMIT_TIME:-unknown}
# Without a checkout the files are as old as zip allows.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-315532800}

# Paths of this machine that compilers would put into messages of panics: those of the checkout, of the registry and of the toolchain.
rust=$(rustc --print sysroot)/lib/rustlib/src/rust
maps=("$PWD=." "$rust=/rustc/$(rustc -vV | awk '/^commit-hash/ { print $2 }')")
registry=${CARGO_HOME:-$HOME/.cargo}/registry/src
# On a new machine the first build would make the folder, and the second one have other flags.
[[ -d $registry ]] || cargo fetch --quiet --locked
for registry in "$registry"/*; do maps+=("$registry=/cargo"); done
rust_flags=("${maps[@]/#/--remap-path-prefix=}") c_flags=("${maps[@]/#/-ffile-prefix-map=}")
# Flags with blanks in them can only be separated so.
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && echo "${rust_flags[*]}")
CFLAGS=$(printf '%q ' "${c_flags[@]}")
# Those of C as the shell would separate them.
export CARGO_ENCODED_RUSTFLAGS CFLAGS CC_SHELL_ESCAPED_FLAGS=1
unset rust maps registry rust_flags c_flags commit RUSTFLAGS

say() { echo "dist: $*"; }

# Prints the path of a tool of the environment.
tool() { echo "$PWD/.venv-dist/bin/$1"; }

# Builds for a target: build TARGET ARGUMENTS-OF-CARGO...
build() {
    PATH=$PWD/.venv-dist/bin:$PATH "$(tool cargo-zigbuild)" build --locked --profile "$profile" --target "$@"
}

# Builds what the archives and the Debian package contain. All of it at once: then they share what they depend on.
build_all() { build "$1" --package firearrow-cli --package firearrow-adbc-library --package firearrow-odbc-library --lib --bins; }

# Prints the folder with what was built for a target.
built() { echo "$target/$1/$folder_of_profile"; }

# Gives everything in a folder the time of the commit. A checkout's group may have been handed down to it.
touch_all() {
    find "$1" -type d -exec chmod g-s {} +
    find "$1" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
}
