// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/mapped_guard.hpp"

#include "bigbird/core/error.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

namespace bigbird {

namespace {

struct Mapping {
    std::atomic<const std::byte*> begin{nullptr};
    std::size_t size = 0;
    char* path = nullptr;
};
static_assert(std::atomic<const std::byte*>::is_always_lock_free);

std::array<Mapping, 1024> mappings;  // NOLINT: a handler has nothing but globals
std::mutex changing;

extern "C" void on_bus_error(int, siginfo_t* info, void*) {
    const auto* const address = static_cast<const std::byte*>(info->si_addr);
    for (const Mapping& mapping : mappings) {
        const std::byte* const begin = mapping.begin.load();
        if (begin == nullptr || address < begin || address >= begin + mapping.size) continue;
        char start[] = "bigbird-dna: error: ",
             what[] = ": was cut off, or its disk gave out, while it was read\n";
        const std::array<iovec, 3> text{iovec{start, sizeof start - 1},
                                        iovec{mapping.path, std::strlen(mapping.path)},
                                        iovec{what, sizeof what - 1}};
        [[maybe_unused]] const auto written = ::writev(STDERR_FILENO, text.data(), text.size());
        ::_exit(static_cast<int>(ExitCode::bad_input));
    }
    std::signal(SIGBUS, SIG_DFL);  // the instruction is tried again
}

void install() {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

void guard_mapping(std::span<const std::byte> bytes, const std::filesystem::path& path) {
    static std::once_flag once;
    std::call_once(once, install);
    const std::scoped_lock lock(changing);
    for (Mapping& mapping : mappings) {
        if (mapping.begin.load() != nullptr) continue;
        mapping.path = ::strdup(path.c_str());
        mapping.size = bytes.size();
        if (mapping.path != nullptr) mapping.begin.store(bytes.data());
        return;
    }
}

void unguard_mapping(std::span<const std::byte> bytes) noexcept {
    const std::scoped_lock lock(changing);
    for (Mapping& mapping : mappings) {
        if (mapping.begin.load() != bytes.data()) continue;
        mapping.begin.store(nullptr);
        std::free(std::exchange(mapping.path, nullptr));
        return;
    }
}

}  // namespace bigbird
