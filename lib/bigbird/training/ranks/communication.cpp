// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/ranks/communication.hpp"

#include <dlfcn.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <cstdlib>
#include <exception>

namespace bigbird::training {

namespace {

std::string version_text(int version) {  // 22809 is 2.28.9
    return std::to_string(version / 10'000) + "." + std::to_string(version % 10'000 / 100) + "." +
           std::to_string(version % 100);
}

std::string nccl_version(void* symbol) {
    int version = 0;
    const bool told = symbol != nullptr && reinterpret_cast<int (*)(int*)>(symbol)(&version) == 0;
    return told ? version_text(version) : "";
}

}  // namespace

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
