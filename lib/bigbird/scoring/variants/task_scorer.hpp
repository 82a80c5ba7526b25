// SPDX-License-Identifier: Apache-2.0
// The scorers of task models, for variant_scorers.cpp.
#pragma once

#include "bigbird/scoring/variants/variant_scorers.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bigbird::tasks {

/// The common part of the scorers of task models.
class TaskScorer : public VariantScorer {
public:
    TaskScorer(std::span<const ModelFolder> models, std::string_view chosen);

protected:
    /// Effects from the scores of both alleles, (labels, bins).
    AlleleEffects effects_of(std::span<const double> ref, std::span<const double> alt,
                             BinScorer scorer = BinScorer::centre) const;
    LinkFunction link() const { return link_; }
    /// The chosen labels' indices among the model's.
    std::span<const std::size_t> chosen() const { return chosen_; }

private:
    std::size_t all_labels_;
    LinkFunction link_;
    std::vector<std::size_t> chosen_;
};

/// How alleles are computed: each window in batches, or of a substitution only what it changes.
enum class AllelePasses : std::uint8_t { complete, edited };
/// A scorer by models that give profiles (tasks/profile_network.hpp). `passes`: by default edited on a CPU,
/// complete elsewhere. Throws as profile_networks().
std::unique_ptr<VariantScorer> profile_variants(std::vector<ModelFolder> models, std::string_view labels,
                                                Strands strands, std::int64_t batch_tokens,
                                                std::optional<AllelePasses> passes = std::nullopt);

}  // namespace bigbird::tasks
