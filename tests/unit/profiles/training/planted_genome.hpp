// SPDX-License-Identifier: Apache-2.0
// A random genome with peaks about a motif, and an enzyme that cuts it preferably at another one.
#pragma once

#include "bigbird/core/rng.hpp"
#include "bigbird/profiles/training/profile_run.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bigbird::testing {

class PlantedGenome {
public:
    static constexpr std::string_view motif = "CGGGTAACG", preferred = "GCACTGTAC";
    static constexpr profiles::WindowLengths lengths{200, 60, 2};

    explicit PlantedGenome(std::uint64_t seed) {
        Rng rng = Rng(seed).split("planted");
        std::string dna = random_dna(400 * spacing, seed);
        for (std::int64_t i = 0; i < 400; ++i) {
            const profiles::Region region{0, i * spacing + spacing / 2};
            const bool peak = i % 2 == 0;
            put(dna, region.centre + rng.between(-20, 20), preferred);
            if (peak) put(dna, region.centre - 4, motif);
            const auto split =
                static_cast<std::size_t>(i % 10 == 8 || i % 10 == 9   ? examples::Split::test
                                         : i % 10 == 6 || i % 10 == 7 ? examples::Split::validation
                                                                      : examples::Split::train);
            (peak ? regions_.peaks : regions_.background)[split].push_back(region);
        }
        reference_ = genome::in_memory_genome({{"c", dna}});
        sites_ = std::make_unique<profiles::CutCounts>(reference_->contigs());
        for (std::int64_t i = 0; i < 400; ++i)
            cut(dna, i * spacing + spacing / 2, i % 2 == 0 ? 120 : 30, rng);
        sites_->finish();
    }

    static std::string random_dna(std::int64_t size, std::uint64_t seed) {
        Rng rng = Rng(seed).split("dna");
        std::string dna;
        for (std::int64_t i = 0; i < size; ++i)
            dna += "ACGT"[rng.between(0, 3)];
        return dna;
    }
    profiles::WindowSource source() const { return {*reference_, *sites_, lengths.input, lengths.output}; }
    const profiles::SplitRegions& regions() const { return regions_; }
    profiles::ProfileRun run(const std::filesystem::path& folder, const std::string& part,
                             std::int64_t steps = 150) const {
        profiles::ProfileRun run;
        run.part = part;
        networks::ProfileShape shape{.filters = 16,
                                     .layers = 2,
                                     .stem = 11,
                                     .head = 15,
                                     .input = lengths.input,
                                     .output = lengths.output};
        shape.counts = shape.trunk_positions(shape.layers);
        run.shape = shape;
        run.regions = regions_;
        run.background_per_epoch = 40;
        run.jitter = 5;
        run.loop.learning_rate = {.peak = 5e-3, .total_steps = steps};
        run.loop.optimizer = {.weight_decay = 0, .clip_norm = 0};
        run.task.batch_size = 16;
        run.task.averaging = 0.9;
        run.folder = folder;
        return run;
    }

private:
    static constexpr std::int64_t spacing = 220;

    static void put(std::string& dna, std::int64_t at, std::string_view word) {
        dna.replace(static_cast<std::size_t>(at), word.size(), word);
    }
    /// Half of the read ends anywhere, the others at the middle of the preferred sequence.
    void cut(const std::string& dna, std::int64_t centre, std::int64_t count, Rng& rng) {
        const auto found = dna.find(preferred, static_cast<std::size_t>(centre - 30));
        for (std::int64_t i = 0; i < count; ++i) {
            const bool anywhere = found == std::string::npos || rng.between(0, 1) == 0;
            sites_->add(0, anywhere ? centre + rng.between(-30, 29)
                                    : static_cast<std::int64_t>(found) +
                                          static_cast<std::int64_t>(preferred.size()) / 2);
        }
    }

    std::unique_ptr<genome::ReferenceGenome> reference_;
    std::unique_ptr<profiles::CutCounts> sites_;
    profiles::SplitRegions regions_;
};

}  // namespace bigbird::testing
