// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/ranks/rank_spec.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/model/device/device.hpp"

#include <dlfcn.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <cstdlib>
#include <exception>
#include <sstream>
#include <vector>

namespace bigbird::training {

namespace {

constexpr int highest_port = 65'535;
constexpr int first_slurm_port = 20'000, slurm_ports = 20'000;

std::string text_of(const char* variable) {
    const char* value = std::getenv(variable);
    return value == nullptr ? "" : value;
}

bool is_set(const char* variable) {
    return !text_of(variable).empty();
}

/// Throws ConfigError if the variable is missing or no integer in [low, high].
int number_of(const char* variable, int low, int high, const std::string& launcher) {
    const std::string text = text_of(variable);
    if (text.empty()) {
        throw ConfigError("the environment looks like that of " + launcher + ", but " + variable +
                          " is not set; start with " + launcher + " or --processes, or unset its variables");
    }
    const std::optional<int> value = parse_number<int>(text);
    if (!value || *value < low || *value > high) {
        throw ConfigError("the environment's " + std::string(variable) + " is '" + text +
                          "'; it must be a whole number from " + std::to_string(low) + " to " +
                          std::to_string(high));
    }
    return *value;
}

constexpr int most_ranks = 1 << 20;

RankSpec from_torchrun() {
    const std::string launcher = "torchrun";
    RankSpec spec;
    spec.size = number_of("WORLD_SIZE", 1, most_ranks, launcher);
    spec.rank = number_of("RANK", 0, spec.size - 1, launcher);
    spec.local_rank = is_set("LOCAL_RANK") ? number_of("LOCAL_RANK", 0, spec.size - 1, launcher) : spec.rank;
    spec.local_size =
        is_set("LOCAL_WORLD_SIZE") ? number_of("LOCAL_WORLD_SIZE", 1, spec.size, launcher) : spec.size;
    spec.processor_sharers = spec.local_size;
    spec.meeting_file = text_of(meeting_variable);
    if (spec.size > 1 && spec.meeting_file.empty()) {
        spec.host = text_of("MASTER_ADDR");
        if (spec.host.empty()) {
            throw ConfigError("the environment names WORLD_SIZE " + std::to_string(spec.size) +
                              " but no MASTER_ADDR, the machine of rank 0");
        }
        spec.port = number_of("MASTER_PORT", 1, highest_port, launcher);
        spec.agent_listens = text_of("TORCHELASTIC_USE_AGENT_STORE") == "True";
    }
    spec.attempt = text_of("TORCHELASTIC_RESTART_COUNT");
    return spec;
}

// Slurm may have bound each task to its own processors: SLURM_CPU_BIND_LIST has a mask per local task.
int bound_alike(int local_rank, int local_size) {
    std::vector<std::string> masks;
    std::istringstream list(text_of("SLURM_CPU_BIND_LIST"));
    for (std::string mask; std::getline(list, mask, ',');)
        masks.push_back(mask);
    if (masks.size() < static_cast<std::size_t>(local_size)) return local_size;
    return static_cast<int>(
        std::count(masks.begin(), masks.begin() + local_size, masks[static_cast<std::size_t>(local_rank)]));
}

RankSpec from_slurm() {
    const std::string launcher = "srun";
    RankSpec spec;
    spec.size = number_of("SLURM_STEP_NUM_TASKS", 1, most_ranks, launcher);
    spec.rank = number_of("SLURM_PROCID", 0, spec.size - 1, launcher);
    spec.local_rank = number_of("SLURM_LOCALID", 0, spec.size - 1, launcher);
    const int node = std::atoi(text_of("SLURM_NODEID").c_str());
    spec.local_size =
        std::max(spec.local_rank + 1, tasks_of_node(text_of("SLURM_STEP_TASKS_PER_NODE"), node));
    spec.processor_sharers = bound_alike(spec.local_rank, spec.local_size);
    if (spec.size > 1) {
        spec.host = text_of("MASTER_ADDR");
        if (spec.host.empty()) spec.host = first_host(text_of("SLURM_STEP_NODELIST"));
        if (spec.host.empty()) {
            throw ConfigError(
                "srun started " + std::to_string(spec.size) +
                " processes, but neither SLURM_STEP_NODELIST nor MASTER_ADDR says where rank 0 is");
        }
        spec.port = is_set("MASTER_PORT")
                        ? number_of("MASTER_PORT", 1, highest_port, launcher)
                        : first_slurm_port + std::atoi(text_of("SLURM_JOB_ID").c_str()) % slurm_ports;
    }
    spec.attempt = text_of("SLURM_STEP_ID") + "." + text_of("SLURM_RESTART_COUNT");
    return spec;
}

using Make = void (*)(const c10::intrusive_ptr<c10d::Store>&, int, int, int,
                      c10::intrusive_ptr<c10d::Backend>&);

Make open_plugin(const std::filesystem::path& file) {
    void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw DeviceError(
            std::string("several GPUs need bigbird-nccl.so beside the program: ") + ::dlerror() +
            "; build it on a machine with the CUDA toolkit and NCCL's headers, or use --device cpu");
    }
    void* symbol = ::dlsym(library, "bigbird_make_nccl");
    if (symbol == nullptr) throw DeviceError(file.string() + " belongs to another version; build it again");
    return reinterpret_cast<Make>(symbol);
}

std::string nccl_version(void* symbol) {
    int version = 0;  // 22809 is 2.28.9
    if (symbol == nullptr || reinterpret_cast<int (*)(int*)>(symbol)(&version) != 0) return "";
    return std::to_string(version / 10'000) + "." + std::to_string(version % 10'000 / 100) + "." +
           std::to_string(version % 100);
}

}  // namespace

int tasks_of_node(const std::string& list, int node) {
    std::istringstream parts(list);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::size_t times = part.find("(x");
        node -= times == std::string::npos ? 1 : std::atoi(part.c_str() + times + 2);
        if (node < 0) return std::atoi(part.c_str());
    }
    return 0;
}

std::string first_host(const std::string& list) {
    const std::size_t bracket = list.find('['), comma = list.find(',');
    if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
    const std::size_t end = list.find_first_of(",-]", bracket);
    return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
}

RankSpec ranks_from_environment() {
    if (is_set("RANK") || is_set("WORLD_SIZE")) return from_torchrun();
    if (is_set("SLURM_STEP_NUM_TASKS") && is_set("SLURM_PROCID")) return from_slurm();
    return {};
}

std::string device_of(const RankSpec& rank, const std::string& device) {
    if (rank.size == 1 || (device != "auto" && device != "cuda") || (device == "auto" && !model::has_gpu()))
        return device;
    return "cuda:" + std::to_string(rank.local_rank);
}

c10::intrusive_ptr<c10d::Backend> open_nccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                            const at::Device& device, const std::filesystem::path& library) {
    static const Make make = open_plugin(library);
    c10::intrusive_ptr<c10d::Backend> backend;
    make(store, rank, size, device.index(), backend);
    return backend;
}

std::string gloo_obstacle() {
    try {
        const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
        if (interface != nullptr && *interface != '\0')
            c10d::ProcessGroupGloo::createDeviceForInterface(interface);
        else
            c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
    } catch (const std::exception& error) {
        const std::string text = error.what();
        return text.substr(0, text.find('\n'));
    }
    return {};
}

NcclFacts nccl_facts(const std::filesystem::path& plugin) {
    NcclFacts facts;
    if (!std::filesystem::exists(plugin)) {
        facts.obstacle = plugin.string() +
                         " is not there: it is built where the CUDA toolkit's headers and nccl.h are found";
        return facts;
    }
    void* const opened = ::dlopen(plugin.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (opened == nullptr) {
        facts.obstacle =
            plugin.string() + " cannot be opened: " + ::dlerror() +
            "; scripts/setup --with-cuda of a clone, or pip's torch with CUDA, brings what it needs";
        return facts;
    }
    void* const symbol = ::dlsym(opened, "ncclGetVersion");
    facts.version = nccl_version(symbol);
    Dl_info info{};
    if (symbol != nullptr && ::dladdr(symbol, &info) != 0) facts.library = info.dli_fname;
    if (facts.version.empty()) facts.obstacle = plugin.string() + ": libnccl.so.2 does not tell its version";
    return facts;
}

}  // namespace bigbird::training
