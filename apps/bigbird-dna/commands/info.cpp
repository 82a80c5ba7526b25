// SPDX-License-Identifier: Apache-2.0
#include "commands/info.hpp"

#include "bigbird/model/describe.hpp"

#include <cstdio>

namespace bigbird::cli {

void setup_info(Program& program, Runner<InfoOptions> run) {
    const auto options = std::make_shared<InfoOptions>();
    CLI::App& command =
        program.add("info", "Tools", "Say what a model directory, a tokenizer or a safetensors file holds",
                    options, std::move(run));
    command.add_option("path", options->path, "Model directory, .model or .safetensors file")
        ->required()
        ->type_name("PATH");
    command.add_flag("--json", options->json, "As JSON, for programs");
}

int run_info(const InfoOptions& options) {
    const Json description = model::describe(options.path);
    const std::string text = options.json ? description.dump(2) + "\n" : model::description_text(description);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

}  // namespace bigbird::cli
