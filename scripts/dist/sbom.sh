#!/usr/bin/env bash
# Writes what each product is made of as CycloneDX files, by cargo-cyclonedx, which is installed below target.
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/dist/settings.sh

readonly tool_version=0.5.9
readonly tools=$target/dist-tools
if [[ $("$tools/bin/cargo-cyclonedx" cyclonedx --version 2>/dev/null) != *" $tool_version" ]]; then
    say "installing cargo-cyclonedx $tool_version"
    env -u CARGO_ENCODED_RUSTFLAGS -u CFLAGS CARGO_TARGET_DIR="$tools/build" \
        cargo install --quiet --locked --root "$tools" --version "$tool_version" cargo-cyclonedx
    rm -rf "$tools/build"
fi

# It writes beside each manifest.
readonly file=firearrow-sbom
trap 'rm -f {crates,bench}/*/$file.json' EXIT
"$tools/bin/cargo-cyclonedx" cyclonedx --quiet --format json --spec-version 1.5 --target all --override-filename "$file"
for product in cli adbc odbc python; do
    # Crates of the checkout are named by their paths.
    sed "s|path+file://$PWD/|path+file:///firearrow/|g" "crates/$product/$file.json" >"$output/firearrow-$product-$version.cdx.json"
    say "firearrow-$product-$version.cdx.json"
done
