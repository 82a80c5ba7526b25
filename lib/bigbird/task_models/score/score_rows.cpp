// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/score_rows.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"

#include <algorithm>
#include <numeric>

namespace bigbird::task_models {

LabelChoice choose_labels(const rows::LabelTable& labels, const std::string& selection,
                          const std::string& tracks) {
    LabelChoice choice;
    if (selection.empty()) {
        choice.labels.resize(labels.size());
        std::iota(choice.labels.begin(), choice.labels.end(), std::size_t{0});
    } else {
        choice.labels = labels.select(selection);
    }
    for (const std::size_t label : tracks.empty() ? choice.labels : labels.select(tracks)) {
        const auto found = std::ranges::find(choice.labels, label);
        if (found == choice.labels.end())
            throw ConfigError("--track-labels chooses a label that --labels leaves out");
        choice.tracks.push_back(static_cast<std::size_t>(found - choice.labels.begin()));
    }
    return choice;
}

std::string contigs_checksum(const genome::ReferenceGenome& reference) {
    std::string text;
    for (const genome::Contig& contig : reference.contigs())
        text += contig.name + "\t" + std::to_string(contig.length) + "\n";
    return sha256_of_text(text);
}

}  // namespace bigbird::task_models
