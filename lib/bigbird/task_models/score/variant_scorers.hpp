// SPDX-License-Identifier: Apache-2.0
// What a model says of both alleles of a variant: predict_variants() and build_background() ask it.
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/outputs/table_schema.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/rows/variant_rows.hpp"
#include "bigbird/task_models/score/variant_files.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// Scores the sequences of rows, however it does that.
class VariantScorer {
public:
    virtual ~VariantScorer() = default;
    virtual std::int64_t window() const = 0;
    /// Where windows lie on a contig; none where they lie about the variants.
    virtual rows::VariantRows::BeginOf begin_of() const { return {}; }
    /// Whether it compares bins on both sides of an indel, for which rows are `aligned`.
    virtual bool aligned() const { return false; }
    /// The window about a TSS; none where windows lie about the variants.
    virtual std::optional<rows::WindowBounds> about_tss() const { return std::nullopt; }
    /// What each effect of a row is of.
    virtual std::vector<std::string> labels() const = 0;
    /// Which quantities columns are of; call it before columns().
    void choose(std::vector<Quantity> quantities) { quantities_ = std::move(quantities); }
    /// Of tables …
    virtual std::vector<outputs::Column> columns() const = 0;
    /// … and their values.
    virtual std::vector<float> values_of(const AlleleEffects& effects) const = 0;
    virtual rows::Provenance provenance() const = 0;
    /// Effects by row; none for rows without scores. May lower statuses to truncated.
    virtual std::vector<AlleleEffects> score(std::span<rows::VariantRow> rows, int threads) = 0;
    virtual std::optional<std::string> other_build(const genome::ReferenceGenome&) const {
        return std::nullopt;
    }

protected:
    std::vector<Quantity> quantities_;
};

/// The scorer of the models of `spec`. Throws ConfigError where models, options and --tss do not go together,
/// InputError, DeviceError.
std::unique_ptr<VariantScorer> load_variant_scorer(const VariantSpec& spec);

/// What decides effects besides the reference: task, checksums of the models, window, strands.
rows::Provenance run_of(const VariantScorer& scorer, const VariantSpec& spec);

}  // namespace bigbird::task_models
