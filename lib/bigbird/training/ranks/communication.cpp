// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/ranks/communication.hpp"

#include "bigbird/core/system/needed_libraries.hpp"

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

std::string nccl_version(const std::filesystem::path& library) {
    void* const nccl = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
    void* const symbol = nccl == nullptr ? nullptr : ::dlsym(nccl, "ncclGetVersion");
    int version = 0;
    if (symbol == nullptr || reinterpret_cast<int (*)(int*)>(symbol)(&version) != 0) {
        return {};
    }
    return version_text(version);
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

}  // namespace

std::string gloo_obstacle() {
    try {
        const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
        if (interface != nullptr && *interface != '\0') {
            c10d::ProcessGroupGloo::createDeviceForInterface(interface);
        } else {
            c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
        }
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
    const std::vector<NeededLibrary> libraries = needed_libraries(plugin);
    for (const NeededLibrary& library : libraries) {
        if (library.name.starts_with("libnccl.so") && !library.path.empty()) {
            facts.library = library.path;
            facts.version = nccl_version(library.path);
        }
    }
    const std::vector<std::string> missing = missing_of(libraries);
    if (!missing.empty()) {
        facts.obstacle =
            plugin.string() + " needs " + listed(missing) +
            ", not found: scripts/setup --with-cuda of a clone, or pip's torch with CUDA, brings it";
    } else if (facts.version.empty()) {
        facts.obstacle = plugin.string() + ": libnccl.so.2 cannot be opened";
    }
    return facts;
}

}  // namespace bigbird::training
