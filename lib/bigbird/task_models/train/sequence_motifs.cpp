// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/train/sequence_motifs.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/bins/motifs.hpp"
#include "bigbird/task_models/network/sequence_network.hpp"
#include "bigbird/task_models/train/example_data.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t most_rows = 8192, most_bases = std::int64_t{1} << 21, longest_part = 1000;

/// The middle bases of training rows; shorter rows are padded with N at the end.
bins::LabelledSequence sample_of(const examples::ExampleSet& examples, std::uint64_t seed) {
    std::vector<std::int64_t> rows = examples.rows(examples::Split::train);
    bins::LabelledSequence sample;
    sample.length = std::min(examples.bounds().size(), longest_part);
    const std::int64_t most = std::min(most_rows, most_bases / sample.length);
    if (std::ssize(rows) > most) {
        const std::vector<std::int64_t> order = epoch_order(std::ssize(rows), seed, 0);
        std::vector<std::int64_t> drawn;
        for (std::int64_t i = 0; i < most; ++i)
            drawn.push_back(rows[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
        std::ranges::sort(drawn);
        rows = std::move(drawn);
    }
    sample.background = std::ssize(rows);
    sample.with.resize(examples.label_table().size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string dna = examples.centred(rows[i], std::min(examples.length(rows[i]), sample.length));
        for (const std::int32_t code : baselines::base_codes(dna))
            sample.codes.push_back(static_cast<std::uint8_t>(code));
        sample.codes.resize((i + 1) * static_cast<std::size_t>(sample.length), baselines::code_of_n);
        const std::vector<std::uint8_t> labels = examples.labels(rows[i]);
        for (std::size_t label = 0; label < labels.size(); ++label)
            if (labels[label] == 1) sample.with[label].push_back(static_cast<std::int32_t>(i));
    }
    return sample;
}

}  // namespace

motifs::MotifSet plant_motifs(TaskNetwork& network, const examples::ExampleSet& examples, std::int64_t most,
                              std::uint64_t seed, int threads) {
    constexpr double norm = 0.9;
    const auto* const records = dynamic_cast<const SequenceNetwork*>(&network);
    if (records == nullptr || records->members().empty() ||
        examples.target() == examples::TargetKind::numbers)
        return {};
    const std::int64_t width = records->shape().member.width;
    const bins::LabelledSequence sample = sample_of(examples, seed);
    if (sample.length < std::max(width, bins::least_motif_width)) return {};
    const bins::MotifSearch search{.width = std::max(width, bins::least_motif_width),
                                   .most = std::min(most, records->shape().member.filters)};
    const std::vector<bins::Motif> motifs = bins::find_motifs(sample, search, threads);
    const at::NoGradGuard no_gradients;
    for (sequences::Network member : records->members()) {
        at::Tensor filters = member->first_filters(), planted = filters.cpu().clone();
        bins::plant_motifs(planted, motifs, norm);
        filters.copy_(planted);
    }
    std::vector<std::string> labels;
    for (std::size_t label = 0; label < examples.label_table().size(); ++label)
        labels.push_back(examples.label_table()[label].name);
    return bins::as_shares(motifs, labels);
}

}  // namespace bigbird::task_models
