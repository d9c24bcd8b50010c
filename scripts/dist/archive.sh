# shellcheck shell=bash
# Source this file after settings.sh: folders with what archives contain, and archives of them.

# Makes an empty folder for an archive and prints its path: stage NAME
stage() {
    rm -rf "${work:?}/$1"
    mkdir -p "$work/$1"
    echo "$work/$1"
}

# What every archive contains: add_papers FOLDER INSTALL-TEXT
add_papers() {
    install -m 644 LICENSE-APACHE LICENSE-MIT NOTICE "$1"
    sed "s/@VERSION@/$version/g; s/@NAME@/${1##*/}/g; s/@GLIBC@/$glibc/g" "packaging/$2" >"$1/INSTALL.md"
}

# Writes the completions of a command: add_completions FOLDER COMMAND...
# COMMAND may start with an emulator. If it cannot run here, the command for this machine writes the completions; it is built if
# necessary.
add_completions() {
    local folder=$1 command=("${@:2}")
    if ! "${command[@]}" --version >/dev/null 2>&1; then
        # That of the archive for this machine, if it was built from the same commit.
        command=("$work/firearrow-$version-$(uname -m)-linux-gnu/bin/firearrow")
        if ! grep --quiet --fixed-strings --line-regexp "commit: $FIREARROW_COMMIT" <("${command[@]}" --version --verbose 2>/dev/null); then
            say "the command does not run here: building another one, for the completions"
            env -u CARGO_ENCODED_RUSTFLAGS -u CFLAGS cargo build --quiet --locked --profile demo --package firearrow-cli
            command=("$target/demo/firearrow")
        fi
    fi
    mkdir -p "$folder"/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d,powershell}
    "${command[@]}" completions bash >"$folder/bash-completion/completions/firearrow"
    "${command[@]}" completions zsh >"$folder/zsh/site-functions/_firearrow"
    "${command[@]}" completions fish >"$folder/fish/vendor_completions.d/firearrow.fish"
    "${command[@]}" completions powershell >"$folder/powershell/firearrow.ps1"
}

# Prints the emulator for a processor; nothing if this machine runs its programs natively.
runner() {
    [[ $1 == "$(uname -m)" ]] || command -v "qemu-$1-static" || echo "qemu-$1"
}

# Packs the folder $work/NAME as $output/NAME.tar.gz, which is there when it is whole.
tar_up() {
    touch_all "$work/$1"
    tar --create --directory "$work" --sort name --owner 0 --group 0 --numeric-owner --format gnu \
        --mtime "@$SOURCE_DATE_EPOCH" "$1" | gzip --no-name --best >"$work/$1.tar.gz"
    mv "$work/$1.tar.gz" "$output"
    say "$1.tar.gz"
}

# Packs the folder $work/NAME as $output/NAME.zip
zip_up() {
    touch_all "$work/$1"
    rm -f "$work/$1.zip"
    (cd "$work" && find "$1" -type f | sort | zip --quiet -X -9 "$1.zip" -@)
    mv "$work/$1.zip" "$output"
    say "$1.zip"
}
