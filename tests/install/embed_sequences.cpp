// SPDX-License-Identifier: Apache-2.0
// embed_sequences MODEL SEQUENCE...: a vector for each DNA sequence, the mean over its tokens of the last
// layer.
#include <bigbird/core/error.hpp>
#include <bigbird/model/batching.hpp>
#include <bigbird/model/device/device.hpp>
#include <bigbird/model/model_directory.hpp>

#include <cstdio>
#include <vector>

using namespace bigbird;

int main(int argc, char** argv) try {
    if (argc < 3) throw ConfigError("usage: embed_sequences MODEL SEQUENCE...");
    const at::NoGradGuard no_gradient;
    const at::Device device = model::open_device("auto");
    model::PreTrainingModel network = model::load_pretraining_model(argv[1], device);
    const tokenizer::DnaTokenizer tokenizer = model::read_tokenizer(argv[1], network->config());
    for (int i = 2; i < argc; ++i) {
        model::TokenSequence sequence;
        sequence.ids = tokenizer.encode(argv[i]);
        sequence.ids.insert(sequence.ids.begin(), tokenizer::special::cls);
        sequence.ids.push_back(tokenizer::special::sep);
        const auto tokens = static_cast<std::int64_t>(sequence.ids.size());
        const model::EncoderInput input =
            model::make_input(std::vector{std::move(sequence)}, network->config(), device);
        const at::Tensor hidden = network->encode(input).hidden;  // (1, padded length, hidden)
        const at::Tensor mean = hidden[0].slice(0, 1, tokens - 1).mean(0).cpu();
        for (std::int64_t j = 0; j < mean.size(0); ++j)
            std::printf("%s%.6g", j == 0 ? "" : "\t", mean[j].item<double>());
        std::printf("\n");
    }
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "embed_sequences: %s\n", error.what());
    return 1;
}
