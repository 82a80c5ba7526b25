// SPDX-License-Identifier: Apache-2.0
#include "unit/tasks/tiny_task.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/model/model_directory.hpp"

namespace bigbird::testing {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t bin = 200;
const std::string motif = "GATTACAGATTACAGATTACA";

rows::LabelTable numbered_labels(std::int64_t count) {
    std::vector<rows::Label> labels;
    for (std::int64_t i = 0; i < count; ++i)
        labels.push_back({i % 2 == 0 ? "even" : "odd", "label" + std::to_string(i), -1});
    return rows::LabelTable(std::move(labels));
}

/// Whole contigs for chromatin, windows one by one for promoters.
void write_sequences(const fs::path& path, const std::string& contig, examples::Task task) {
    const std::size_t length = task == examples::Task::promoter ? bin : contig.size();
    std::vector<std::string> names{"c"};
    if (task == examples::Task::promoter) {
        names.clear();
        for (std::size_t row = 0; row < contig.size() / length; ++row)
            names.push_back(std::to_string(row));
    }
    examples::TwoBitWriter store(path, names, false);
    for (std::size_t i = 0; i < names.size(); ++i)
        store.add(names[i], std::string_view(contig).substr(i * length, length));
    store.finish();
}

}  // namespace

std::string random_dna(std::int64_t length, std::uint64_t seed) {
    Rng rng(seed);
    std::string dna(static_cast<std::size_t>(length), 'A');
    for (char& base : dna)
        base = "ACGT"[rng.between(0, 3)];
    return dna;
}

model::BigBirdConfig tiny_config(std::int64_t labels) {
    model::BigBirdConfig config;
    config.vocab_size = 512;
    config.hidden_size = 32;
    config.num_hidden_layers = 1;
    config.num_attention_heads = 2;
    config.intermediate_size = 64;
    config.max_position_embeddings = 512;
    config.pattern.block_size = 16;
    config.num_labels = labels;
    return config;
}

model::BigBirdConfig head_of_bins() {
    model::BigBirdConfig config = tiny_config(2);
    config.classifier_head = "bins";
    return config;
}

model::SequenceClassifier tiny_network(const model::BigBirdConfig& config, std::uint64_t seed) {
    model::BigBirdConfig wide = config;
    wide.initializer_range = 0.3;
    model::SequenceClassifier network(config);
    model::initialise(*network, wide, seed);
    network->eval();
    return network;
}

std::shared_ptr<tasks::TaskNetwork> tiny_windows(const model::BigBirdConfig& config, std::uint64_t seed,
                                                 tasks::Pooling pooling, const rows::WindowBounds& window) {
    return tasks::bigbird_windows(tiny_network(config, seed), small_tokenizer(), pooling, window, {});
}

void write_tiny_pretrained(const fs::path& directory, std::uint64_t seed) {
    fs::create_directories(directory);
    const model::BigBirdConfig config = tiny_config(0);
    model::PreTrainingModel network(config);
    model::initialise(*network, config, seed);
    const tokenizer::DnaTokenizer tokenizer = small_tokenizer();
    model::write_model(network, &tokenizer, directory);
}

void write_tiny_task_model(const fs::path& directory, const tasks::TaskInfo& info, std::int64_t labels,
                           std::uint64_t seed) {
    fs::create_directories(directory);
    model::BigBirdConfig config = tiny_config(labels);
    config.extra["task_model"] = tasks::to_json(info);
    const tokenizer::DnaTokenizer tokenizer = small_tokenizer();
    model::write_model(tiny_network(config, seed), &tokenizer, directory);
    write_file(directory / "labels.tsv", numbered_labels(labels).to_text());
}

examples::ExampleSet write_motif_examples(const fs::path& directory, std::int64_t rows, std::uint64_t seed,
                                          examples::Task task) {
    fs::create_directories(directory);
    std::string contig = random_dna(rows * bin, seed);
    Rng rng = Rng(seed).split("labels");
    std::vector<rows::Label> names{{"TF", "motif", -1}, {"TF", "random", -1}};
    names.resize(task == examples::Task::promoter ? 1 : 2);
    examples::ExampleWriter writer(directory, task, {-bin / 2, bin / 2}, names.size());
    for (std::int64_t row = 0; row < rows; ++row) {
        const auto drawn = static_cast<std::uint8_t>(rng.between(0, 3));
        const auto labels = static_cast<std::uint8_t>(drawn & ((1U << names.size()) - 1));
        if ((labels & 1U) != 0) {
            const auto place = static_cast<std::size_t>(row * bin + rng.between(0, bin - std::ssize(motif)));
            contig.replace(place, motif.size(), motif);
        }
        const auto split = row % 4 < 2    ? examples::Split::train
                           : row % 4 == 2 ? examples::Split::validation
                                          : examples::Split::test;
        const auto strand = task == examples::Task::promoter ? genome::Strand::forward : genome::Strand::none;
        writer.add({{"c", row * bin, (row + 1) * bin}, ".", strand, split}, {&labels, 1});
    }
    write_sequences(directory / "sequences.2bit", contig, task);
    writer.finish(rows::LabelTable(std::move(names)),
                  Json{{"contigs", Json::array({Json{{"name", "c"}, {"length", rows * bin}}})}});
    return examples::ExampleSet::load(directory);
}

}  // namespace bigbird::testing
