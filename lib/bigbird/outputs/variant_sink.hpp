// SPDX-License-Identifier: Apache-2.0
// The outputs of a run that are VCF or BCF, whose records the caller writes.
#pragma once

#include "bigbird/genome/regions/variant_writer.hpp"
#include "bigbird/outputs/outputs.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace bigbird::outputs {

/// The outputs that are VCF or BCF.
std::vector<std::filesystem::path> variant_paths(const OutputSpec& outputs);

/// prepare_outputs(), and the files and indices of the outputs that are VCF or BCF.
void prepare_outputs_with_variants(const OutputSpec& outputs);

/// Takes records by its own write(); the rows of others are ignored.
class VariantSink : public Sink {
public:
    VariantSink(const std::filesystem::path& path, Overwrite overwrite,
                std::shared_ptr<genome::VariantHeader> header, int threads)
        : writer_(path, overwrite, std::move(header), threads) {}
    void write(const genome::Variant& variant) {
        writer_.write(variant);
        ++records_;
    }
    void write(std::span<const rows::Field>, std::span<const float>) override {}
    std::int64_t records() const override { return records_; }
    void finish(std::vector<PendingOutput*>& pending) override { writer_.finish(pending); }

private:
    genome::VariantWriter writer_;
    std::int64_t records_ = 0;
};

/// Opens a VariantSink and adds it to `outputs`, which ends and renames it with the others.
VariantSink& adopt_variants(Outputs& outputs, const std::filesystem::path& path, Overwrite overwrite,
                            const std::shared_ptr<genome::VariantHeader>& header, int threads);

}  // namespace bigbird::outputs
