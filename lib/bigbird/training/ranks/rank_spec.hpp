// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/system/program_file.hpp"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <algorithm>
#include <filesystem>
#include <string>

namespace bigbird::training {

/// One process's rank among the processes that train a run together.
struct RankSpec {
    int rank = 0, size = 1;
    int local_rank = 0, local_size = 1;  ///< on this machine
    int processor_sharers = 1;           ///< processes that may use the same processors, this one included
    std::filesystem::path meeting_file;  ///< where processes of one machine find each other; else:
    std::string host;                    ///< rank 0's host
    int port = 0;
    bool agent_listens = false;  ///< torchrun's agent listens at host:port, not rank 0
    std::string attempt;         ///< distinguishes restarts of the same job

    bool is_first() const { return rank == 0; }
    /// This process's share of `threads` threads for all that share its processors; at least one.
    int share_of(int threads) const { return std::max(1, threads / processor_sharers); }
};

/// The variable that names meeting_file, set by the launcher of `--processes`.
inline constexpr const char* meeting_variable = "BIGBIRD_MEETING_FILE";

/// What `--processes`, torchrun or srun wrote into the environment; the default where none did. Throws
/// ConfigError naming the variable that is missing or makes no sense.
RankSpec ranks_from_environment();

/// How many tasks Slurm's list gives to a node: "4(x2),3" -> 4 for nodes 0 and 1, 3 for node 2; 0 for others.
int tasks_of_node(const std::string& list, int node);

/// "node[03-05,9],other" -> "node03": the first host of a list as Slurm writes it.
std::string first_host(const std::string& list);

/// The value of --device for this rank (model::open_device): if a machine has several ranks, "auto" and
/// "cuda" give each its own GPU.
std::string device_of(const RankSpec& rank, const std::string& device);

// NCCL is used through a separate library beside the program. It is opened only if GPUs are used, so that the
// program starts on machines without a GPU.

/// Throws DeviceError if `library` is missing (built only where nccl.h and the CUDA headers are) or cannot
/// be opened. The first library that was opened is used from then on.
c10::intrusive_ptr<c10d::Backend> open_nccl(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, const at::Device& device,
    const std::filesystem::path& library = program_file("bigbird-nccl.so"));

// Checks whether several processes could train together here, without starting any.

/// Why Gloo (for CPUs) cannot be used; empty if it can. Uses the interface that GLOO_SOCKET_IFNAME names, as
/// training does.
std::string gloo_obstacle();

struct NcclFacts {
    std::string obstacle;           ///< why NCCL, between GPUs, cannot be used; empty if it can
    std::string version;            ///< "2.28.9"; empty if there is no library
    std::filesystem::path library;  ///< libnccl.so.2
};
/// Facts of this program's plugin. GPUs are not checked.
NcclFacts nccl_facts(const std::filesystem::path& plugin = program_file("bigbird-nccl.so"));

}  // namespace bigbird::training
