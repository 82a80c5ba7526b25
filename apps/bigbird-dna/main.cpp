// SPDX-License-Identifier: Apache-2.0
// bigbird-dna: parses every command; runs those that need no tensors, and passes the others to
// bigbird-dna-tensors.
#include "commands/commands.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/system/fork_server.hpp"
#include "bigbird/core/system/program_file.hpp"
#include "bigbird/networks/splicing/splice_files.hpp"
#include "bigbird/scoring/splicing/predict_sites.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace {

using namespace bigbird;

/// MKL needs the current folder while it is loaded. If the folder was deleted, MKL ends the program with a
/// misleading error.
void require_current_folder() {
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::current_path(error);
    if (folder.empty())
        throw ConfigError("the current folder: " + error.message() + "; change to one that exists");
}

/// With 64 KiB of stack, the network's libraries crash with SIGSEGV. Threads get stacks of the limit's size.
void require_stack() {
    constexpr rlim_t usual = rlim_t{8} << 20, least = rlim_t{1} << 20;
    rlimit limit{};
    if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least) return;
    limit.rlim_cur = std::min(limit.rlim_max, usual);
    if (limit.rlim_cur < least || ::setrlimit(RLIMIT_STACK, &limit) != 0) {
        throw ConfigError(fmt::format("1024 KiB of stack are needed, and {} are allowed; see ulimit -s",
                                      limit.rlim_cur >> 10));
    }
}

/// With less address space, the loader ends the program with its own exit code.
void require_address_space() {
    constexpr rlim_t least = rlim_t{400} << 20;
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= least) return;
    throw DeviceError(
        fmt::format("{} MiB of memory are needed to begin with, and {} are allowed; see ulimit -v",
                    least >> 20, limit.rlim_cur >> 20));
}

/// How often OpenMP's threads look for work before they sleep, unless the user sets it. libgomp's own 300,000
/// takes processor time from other jobs on the same cores (docs/development/measurements.md).
void set_waiting() {
    constexpr const char* looks = "2000";
    if (std::getenv("OMP_WAIT_POLICY") == nullptr) ::setenv("GOMP_SPINCOUNT", looks, 0);
}

/// The runner of commands that need LibTorch: replaces this process by that program, with the same arguments.
/// Throws ConfigError where it is missing.
[[noreturn]] void exec_tensor_program(char** argv) {
    const std::filesystem::path program = program_file(cli::tensor_program);
    require_current_folder();
    require_stack();
    require_address_space();
    set_waiting();
    hold_signals();
    ForkServer::end();
    ::execv(program.c_str(), argv);
    throw ConfigError(program.string() + " cannot be started: " + std::strerror(errno) +
                      "; it belongs beside bigbird-dna, for the commands that need LibTorch");
}

/// Runs the commands that need LibTorch, but splice networks, which do not, here.
struct RunThere {
    char** argv;
    template <typename Options>
    int operator()(const Options& options) const {
        if constexpr (std::is_same_v<Options, tasks::VariantSpec>)
            if (options.splicing) return cli::run_splicing(options);
        if constexpr (std::is_same_v<Options, tasks::PredictSpec>)
            if (networks::is_splice_model(options.models.front())) return splicing::predict_sites(options);
        exec_tensor_program(argv);
    }
};

}  // namespace

int main(int argc, char** argv) {
    using namespace bigbird::cli;
    return run_program(argc, argv,
                       [argv](Program& program) { add_commands<true>(program, RunThere{argv}, RunHere{}); });
}
