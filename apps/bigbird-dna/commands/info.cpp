// SPDX-License-Identifier: Apache-2.0
#include "commands/info.hpp"

#include "bigbird/core/parallel.hpp"
#include "bigbird/corpus/describe_shards.hpp"
#include "bigbird/model/check_weights.hpp"
#include "bigbird/model/describe.hpp"

#include <cstdio>

namespace bigbird::cli {

namespace {

Json describe_corpus(const InfoOptions& options) {
    const corpus::TokenShards shards(options.path);
    if (options.verify) {
        shards.verify(resolve_threads(0));
    }
    return corpus::describe(shards, options.verify);
}

}  // namespace

void setup_info(Program& program, Runner<InfoOptions> run) {
    const auto options = std::make_shared<InfoOptions>();
    CLI::App& command = program.add(
        "info", "Tools", "Say what a model directory, token shards, a tokenizer or a safetensors file holds",
        options, std::move(run));
    command
        .add_option("path", options->path,
                    "Model directory, folder of token shards, .model or .safetensors file")
        ->required()
        ->type_name("PATH");
    command.add_flag("--json", options->json, "As JSON, for programs");
    command.add_flag("--check,--verify", options->verify,
                     "Read everything: weights must be finite, token shards must have their checksums");
}

int run_info(const InfoOptions& options) {
    const bool is_corpus = corpus::is_token_corpus(options.path);
    Json description = is_corpus ? describe_corpus(options) : model::describe(options.path);
    if (options.verify && !is_corpus) {
        description["check"] = model::check_weights(options.path);
    }
    const std::string text = options.json ? description.dump(2) + "\n" : model::description_text(description);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

}  // namespace bigbird::cli
