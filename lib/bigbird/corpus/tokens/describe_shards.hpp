// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/corpus/tokens/token_shards.hpp"

namespace bigbird::corpus {

/// What a corpus of tokens holds: counts, lengths, files, what it was made from. `verified` says whether the
/// checksums were compared.
Json describe(const TokenShards& shards, bool verified);

}  // namespace bigbird::corpus
