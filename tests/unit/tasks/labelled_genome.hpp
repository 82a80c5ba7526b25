// SPDX-License-Identifier: Apache-2.0
// A small genome whose bases have labels, and a network that labels them.
#pragma once

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tasks/tiny_task.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/examples/base_labels.hpp"
#include "bigbird/finetuning/base_data.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace bigbird::testing {

/// Contig "c": every 100 bases or so 42 bases GATTACA…, which are "motif", and ten random ones elsewhere,
/// "noise". Bases 1,000 to 1,199 are N.
struct LabelledGenome {
    TempDir folder;
    std::string dna;
    std::unique_ptr<genome::ReferenceGenome> reference;
    std::unique_ptr<examples::BaseLabels> labels;

    explicit LabelledGenome(std::int64_t length = 8000) : dna(random_dna(length, 5)) {
        Rng rng(6);
        std::string rows;
        std::string motif;
        for (int i = 0; i < 6; ++i)
            motif += "GATTACA";
        const auto row = [&](std::int64_t begin, std::int64_t end, const char* label) {
            rows += "c\t" + std::to_string(begin) + "\t" + std::to_string(end) + "\t" + label + "\n";
        };
        for (std::int64_t place = 0; place + 100 <= length; place += 100) {
            if (place == 1000 || place == 1100) continue;
            const std::int64_t begin = place + rng.between(0, 30);
            dna.replace(static_cast<std::size_t>(begin), motif.size(), motif);
            row(begin, begin + std::ssize(motif), "motif");
            row(place + 80, place + 90, "noise");
        }
        dna.replace(1000, 200, 200, 'N');
        write_file(folder / "labels.bed", rows);
        write_file(folder / "genome.fa", ">c\n" + dna + "\n");
        reference = genome::open_reference(folder / "genome.fa");
        labels = std::make_unique<examples::BaseLabels>(
            examples::BaseLabels::read(*reference, folder / "labels.bed"));
    }
    tasks::LabelWindows windows(std::int64_t begin, std::int64_t end) const {
        const genome::Interval where{"c", begin, end};
        return {*reference, *labels, genome::IntervalSet({&where, 1}), 1};
    }
};

inline model::BigBirdConfig tiny_labeller_config() {
    model::BigBirdConfig config = tiny_config(3);
    config.classifier_head = "tokens";
    return config;
}

inline std::shared_ptr<tasks::TaskNetwork> tiny_labeller(std::uint64_t seed) {
    return tasks::bigbird_tokens(tiny_network(tiny_labeller_config(), seed), small_tokenizer(), {});
}

inline rows::LabelTable tiny_labels() {
    return rows::LabelTable({{".", "none", -1}, {".", "motif", -1}, {".", "noise", -1}});
}

}  // namespace bigbird::testing
