// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/specs/corpora_spec.hpp"

#include "bigbird/core/error.hpp"

namespace bigbird::pretraining {

bool CorporaSpec::holds_out() const {
    return !hold_out.empty() || !evaluate_corpus.empty() || !evaluate_documents.empty();
}

void CorporaSpec::validate() const {
    if (draws() && references.empty())
        throw ConfigError("--documents is needed, or --reference FASTA to draw documents from");
    if (!draws() && !hold_out.empty()) {
        throw ConfigError(
            "--hold-out is for documents drawn from --reference; with --documents leave the regions "
            "out when those are made, and give --evaluate-documents");
    }
    const int held_out =
        (hold_out.empty() ? 0 : 1) + (evaluate_corpus.empty() ? 0 : 1) + (evaluate_documents.empty() ? 0 : 1);
    if (held_out > 1) throw ConfigError("give one of --hold-out and --evaluate-documents");
}

}  // namespace bigbird::pretraining
