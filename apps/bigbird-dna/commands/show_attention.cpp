// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/attention/pattern/picture.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/model/files/config.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace bigbird::cli {

struct ShowAttentionOptions {
    std::filesystem::path config;
    std::string pattern;
    OutputOptions output;
    std::int64_t length = 1024;
    int layer = 0;
};

namespace {

void check_layer(const model::BigBirdConfig& config, const ShowAttentionOptions& options) {
    if (options.layer < config.num_hidden_layers) return;
    throw ConfigError("--layer begins at 0; the model has " + std::to_string(config.num_hidden_layers) +
                      " layers");
}

/// A Longformer's window and its leading global tokens, as one pattern.
attention::PatternSpec drawn_window(const model::BigBirdConfig& config, const ShowAttentionOptions& options) {
    attention::PatternSpec window = config.longformer->window(options.layer, 0, config.pattern.block_size);
    window.global_tokens = static_cast<int>(config.longformer->global_tokens.value_or(0));
    return window;
}

int run_show_attention(const ShowAttentionOptions& options) {
    model::BigBirdConfig config;
    if (!options.config.empty()) {
        config = model::config_from_json(read_json(options.config), options.config);
        check_layer(config, options);
    }
    if (!options.pattern.empty())
        config.pattern = attention::named_pattern(options.pattern);
    else if (config.performer)
        throw InputError("attention_type performer has no blocks to draw; give --pattern", options.config);
    else if (config.longformer)
        config.pattern = drawn_window(config, options);
    const attention::PatternSpec& spec = config.pattern;
    constexpr std::int64_t longest = 4096;  // blocks; a larger picture is of no use
    const std::int64_t blocks = (options.length + spec.block_size - 1) / spec.block_size;
    if (blocks > longest) {
        throw ConfigError("--length " + std::to_string(options.length) + " is more than " +
                          std::to_string(longest * spec.block_size) + " tokens, the longest that is drawn");
    }
    const attention::BlockLayout layout =
        attention::make_layout(spec, static_cast<int>(blocks), options.layer, 0);
    const std::string ending = options.output.output.extension();
    const std::string title = (options.pattern.empty() ? "attention" : options.pattern) + ", " +
                              std::to_string(options.length) + " tokens";
    const std::string drawing = ending == ".svg"   ? attention::svg_picture(spec, layout, title)
                                : ending == ".png" ? attention::png_picture(spec, layout, title)
                                                   : attention::picture(spec, layout);
    options.output.write(drawing);
    const attention::LayoutCost cost = attention::cost_of(spec, layout);
    const std::int64_t head_dim = config.hidden_size / config.num_attention_heads;
    log_info(
        "{} blocks of {} tokens: {} block pairs, {:.1f} keys a query, {:.4f} GFLOP a head of {}: {:.1f} % of "
        "full attention",
        cost.blocks, spec.block_size, cost.pairs, cost.keys_per_query,
        cost.flops(spec.block_size, head_dim) / 1e9, head_dim, 100 * cost.share_of_full);
    return 0;
}

}  // namespace

void setup_show_attention(Program& program) {
    const auto [command, options] = program.add<ShowAttentionOptions>(
        "show-attention", rare_group, "Draw which key blocks each query block attends to",
        "--config --pattern --length --layer --output",
        {{"A drawing of BigBird's pattern", "--pattern bigbird --length 2048 --output bigbird.svg"},
         {"The second layer of a pretrained model, as text",
          "--config pretrained/model/config.json --length 1024 --layer 1"}},
        run_show_attention);
    command.footer(
        "Rows are query blocks, columns are key blocks. #: global, o: window, *: random, .: not attended,\n"
        "a digit: attended that many times. A summary goes to standard error.");
    add_value(command, "--config", "FILE", options.config, "A model's config.json; default: a base model");
    add_choice_option(command, "--pattern", options.pattern,
                      {"bigbird", "bigbird-first", "bigbird-etc", "full", "window", "random", "random+window",
                       "sliding", "dilated", "global+sliding"},
                      "Attention pattern, instead of the configuration's");
    add_stream_output_options(command, options.output,
                              "Drawing to write: SVG or PNG if the name ends in .svg or .png, else text");
    add_value(command, "--length", "N", options.length,
              "Sequence length in tokens, rounded up to complete blocks", CLI::PositiveNumber);
    add_value(command, "--layer", "N", options.layer, "Layer, from 0", CLI::NonNegativeNumber);
}

}  // namespace bigbird::cli
