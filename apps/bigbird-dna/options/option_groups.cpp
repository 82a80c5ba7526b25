// SPDX-License-Identifier: Apache-2.0
#include "options/option_groups.hpp"

namespace bigbird::cli {

void add_output_options(CLI::App& command, OutputOptions& options, const std::string& what) {
    command.add_option("--output", options.output, what)->required()->type_name("PATH")->group("Output");
    command.add_flag("--force", options.force, "Replace an output that exists")->group("Output");
}

CLI::Option* add_reference_option(CLI::App& command, std::vector<std::filesystem::path>& references,
                                  bool required) {
    return command
        .add_option("--reference", references,
                    "Reference genome: FASTA, plain, bgzip or gzip; several make one genome")
        ->required(required)
        ->type_name("FASTA");
}

void add_threads_option(CLI::App& command, int& threads) {
    command
        .add_option("--threads", threads, "Threads; 0: all that this process may use. Never changes a result")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N")
        ->group("Resources");
}

void add_seed_option(CLI::App& command, std::uint64_t& seed) {
    command.add_option("--seed", seed, "Seed of all that is random; same inputs and seed, same bytes")
        ->type_name("N");
}

void add_hold_out_options(CLI::App& command, HoldOutOptions& options, const std::string& by) {
    const auto add = [&](const char* name, std::vector<std::string>& values, const std::string& what) {
        command
            .add_option(name, values, what + ": contigs, regions (22:21000001-22000000) or BED files; " + by)
            ->type_name("REGION")
            ->group("Hold-out");
    };
    add("--validation", options.validation, "Held out to follow training");
    add("--test", options.test, "Held out for evaluation");
}

void add_device_option(CLI::App& command, std::string& device) {
    command.add_option("--device", device, "auto (a GPU where there is one), cpu, cuda or cuda:N")
        ->type_name("DEVICE")
        ->group("Resources");
}

}  // namespace bigbird::cli
