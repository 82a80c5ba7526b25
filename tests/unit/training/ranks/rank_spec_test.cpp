// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/ranks/rank_spec.hpp"

#include "support/environment.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/device/device.hpp"

#include <cstdlib>
#include <map>

using namespace bigbird;
using namespace bigbird::training;
using bigbird::testing::message_of;

namespace {

constexpr const char* variables[] = {"RANK",
                                     "WORLD_SIZE",
                                     "LOCAL_RANK",
                                     "LOCAL_WORLD_SIZE",
                                     "MASTER_ADDR",
                                     "MASTER_PORT",
                                     "TORCHELASTIC_USE_AGENT_STORE",
                                     "TORCHELASTIC_RESTART_COUNT",
                                     "BIGBIRD_MEETING_FILE",
                                     "SLURM_STEP_NUM_TASKS",
                                     "SLURM_PROCID",
                                     "SLURM_LOCALID",
                                     "SLURM_STEP_TASKS_PER_NODE",
                                     "SLURM_STEP_NODELIST",
                                     "SLURM_JOB_ID",
                                     "SLURM_NODEID",
                                     "SLURM_CPU_BIND_LIST",
                                     "SLURM_NTASKS"};

/// An environment with these of the variables above and no others, while it lives.
class RankEnvironment {
public:
    explicit RankEnvironment(const std::map<std::string, std::string>& values) {
        for (const char* name : variables)
            ::unsetenv(name);
        for (const auto& [name, value] : values)
            ::setenv(name.c_str(), value.c_str(), 1);
    }
    ~RankEnvironment() {
        for (const char* name : variables)
            ::unsetenv(name);
    }
    RankEnvironment(const RankEnvironment&) = delete;
    RankEnvironment& operator=(const RankEnvironment&) = delete;
};

}  // namespace

DOCTEST_TEST_CASE("rank_spec: alone where nobody launched anything, a batch script of Slurm included") {
    const RankEnvironment none({});
    DOCTEST_CHECK(ranks_from_environment().size == 1);
    const RankEnvironment batch({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "7"}});
    DOCTEST_CHECK(ranks_from_environment().size == 1);
}

DOCTEST_TEST_CASE("rank_spec: torchrun's variables") {
    const RankEnvironment environment({{"RANK", "9"},
                                       {"WORLD_SIZE", "16"},
                                       {"LOCAL_RANK", "1"},
                                       {"LOCAL_WORLD_SIZE", "8"},
                                       {"MASTER_ADDR", "node1"},
                                       {"MASTER_PORT", "29400"},
                                       {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                       {"TORCHELASTIC_RESTART_COUNT", "2"}});
    const RankSpec spec = ranks_from_environment();
    DOCTEST_CHECK(spec.rank == 9);
    DOCTEST_CHECK(spec.size == 16);
    DOCTEST_CHECK(spec.local_rank == 1);
    DOCTEST_CHECK(spec.local_size == 8);
    DOCTEST_CHECK(spec.host == "node1");
    DOCTEST_CHECK(spec.port == 29400);
    DOCTEST_CHECK(spec.agent_listens);
    DOCTEST_CHECK(spec.attempt == "2");
}

DOCTEST_TEST_CASE("rank_spec: srun's variables") {
    const RankEnvironment environment({{"SLURM_STEP_NUM_TASKS", "6"},
                                       {"SLURM_PROCID", "5"},
                                       {"SLURM_LOCALID", "1"},
                                       {"SLURM_STEP_TASKS_PER_NODE", "2(x3)"},
                                       {"SLURM_STEP_NODELIST", "gpu[07-09]"},
                                       {"SLURM_JOB_ID", "123456"}});
    const RankSpec spec = ranks_from_environment();
    DOCTEST_CHECK(spec.rank == 5);
    DOCTEST_CHECK(spec.size == 6);
    DOCTEST_CHECK(spec.local_rank == 1);
    DOCTEST_CHECK(spec.local_size == 2);
    DOCTEST_CHECK(spec.host == "gpu07");
    DOCTEST_CHECK(spec.port == 23456);
    DOCTEST_CHECK(spec.processor_sharers == 2);
}

DOCTEST_TEST_CASE("rank_spec: tasks that srun has bound to processors of their own share them with nobody") {
    std::map<std::string, std::string> task{{"SLURM_STEP_NUM_TASKS", "7"},
                                            {"SLURM_PROCID", "6"},
                                            {"SLURM_LOCALID", "2"},
                                            {"SLURM_NODEID", "1"},
                                            {"SLURM_STEP_TASKS_PER_NODE", "4,3"},
                                            {"SLURM_STEP_NODELIST", "gpu[07-08]"},
                                            {"SLURM_CPU_BIND_LIST", "0x3,0xC,0x30"}};
    {
        const RankEnvironment environment(task);
        const RankSpec spec = ranks_from_environment();
        DOCTEST_CHECK(spec.local_size == 3);
        DOCTEST_CHECK(spec.processor_sharers == 1);
        DOCTEST_CHECK(spec.share_of(2) == 2);
    }
    task["SLURM_CPU_BIND_LIST"] = "0xF0,0xF,0xF0";
    const RankEnvironment environment(task);
    DOCTEST_CHECK(ranks_from_environment().processor_sharers == 2);
    DOCTEST_CHECK(ranks_from_environment().share_of(5) == 2);
    DOCTEST_CHECK(tasks_of_node("4(x2),3", 1) == 4);
    DOCTEST_CHECK(tasks_of_node("4(x2),3", 2) == 3);
    DOCTEST_CHECK(tasks_of_node("4(x2),3", 3) == 0);
}

DOCTEST_TEST_CASE("rank_spec: the first host of a list as Slurm writes it") {
    DOCTEST_CHECK(first_host("node1") == "node1");
    DOCTEST_CHECK(first_host("node1,node2") == "node1");
    DOCTEST_CHECK(first_host("node[03-05,9],other") == "node03");
    DOCTEST_CHECK(first_host("a,node[03-05]") == "a");
    DOCTEST_CHECK(first_host("rack2-[11]") == "rack2-11");
}

DOCTEST_TEST_CASE("rank_spec: an environment that is set wrongly is explained") {
    const auto error = [](const std::map<std::string, std::string>& values) {
        const RankEnvironment environment(values);
        return message_of<ConfigError>([] { ranks_from_environment(); });
    };
    DOCTEST_CHECK(
        error({{"RANK", "0"}}) ==
        "the environment looks like that of torchrun, but WORLD_SIZE is not set; start with torchrun "
        "or --processes, or unset its variables");
    DOCTEST_CHECK(error({{"RANK", "4"}, {"WORLD_SIZE", "4"}}) ==
                  "the environment's RANK is '4'; it must be a whole number from 0 to 3");
    DOCTEST_CHECK(error({{"RANK", "0"}, {"WORLD_SIZE", "four"}}) ==
                  "the environment's WORLD_SIZE is 'four'; it must be a whole number from 1 to 1048576");
    DOCTEST_CHECK(error({{"RANK", "0"}, {"WORLD_SIZE", "2"}}) ==
                  "the environment names WORLD_SIZE 2 but no MASTER_ADDR, the machine of rank 0");
}

DOCTEST_TEST_CASE("communication: Gloo is there, but not over an interface that does not exist") {
    DOCTEST_CHECK(training::gloo_obstacle().empty());
    const testing::Environment interface("GLOO_SOCKET_IFNAME", "no-such-interface");
    DOCTEST_CHECK_FALSE(training::gloo_obstacle().empty());
}

DOCTEST_TEST_CASE("communication: NCCL needs the plugin and all that it needs") {
    DOCTEST_CHECK(training::nccl_facts("/nonexistent/bigbird-nccl.so")
                      .obstacle.starts_with("/nonexistent/bigbird-nccl.so is not there: "));
    const auto plugin = program_file("bigbird-nccl.so");
    if (std::filesystem::exists(plugin)) {
        const training::NcclFacts facts = training::nccl_facts();
        DOCTEST_CHECK(facts.obstacle.empty() != facts.version.empty());
    }
}

DOCTEST_TEST_CASE("nccl_plugin: a program without the library beside it says what is missing") {
    const std::string message = testing::message_of<DeviceError>(
        [] { training::open_nccl({}, 0, 1, at::Device(at::kCUDA, 0), "/nonexistent/bigbird-nccl.so"); });
    DOCTEST_CHECK(message.find("several GPUs need bigbird-nccl.so beside the program") == 0);
}

DOCTEST_TEST_CASE("rank_device: with several ranks each takes a GPU of its machine") {
    RankSpec third;
    third.size = 8;
    third.local_rank = 2;
    third.local_size = 4;
    DOCTEST_CHECK(device_of(third, "cuda") == "cuda:2");
    DOCTEST_CHECK(device_of(third, "cuda:0") == "cuda:0");
    DOCTEST_CHECK(device_of(third, "cpu") == "cpu");
    DOCTEST_CHECK(device_of(third, "auto") == (model::has_gpu() ? "cuda:2" : "auto"));
}

DOCTEST_TEST_CASE("rank_device: one process alone takes what it is told") {
    for (const char* device : {"auto", "cuda", "cuda:1", "cpu"})
        DOCTEST_CHECK(device_of({}, device) == device);
}
