// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace bigbird::training
