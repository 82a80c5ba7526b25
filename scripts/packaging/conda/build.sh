#!/usr/bin/env bash
# Builds the conda package; rattler-build or conda-build sets the variables. Untried with conda-forge's compiler and libraries.
set -euo pipefail

# shellcheck disable=SC2086  # several arguments
cmake -S . -B build -G Ninja ${CMAKE_ARGS:-} \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_PREFIX_PATH="$PREFIX" \
    -DBIGBIRD_LIBTORCH="$PREFIX" -DBIGBIRD_DEVELOPER=OFF -DBIGBIRD_CUDA=OFF
cmake --build build --parallel "${CPU_COUNT:-2}" --target bigbird-dna
cmake --install build --component runtime

share=$PREFIX/share/bigbird-dna
mkdir -p "$share/models/chromatin-grch37" "$share/example"
install -m 644 test_data/models/chromatin-grch37/* "$share/models/chromatin-grch37/"
install -m 644 test_data/models/example.bed test_data/genome/22.fa.gz test_data/chromatin/K562.CTCF.chr22.narrowPeak.gz "$share/example/"
