// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/needed_libraries.hpp"

#include "bigbird/core/system/child_process.hpp"

#include <link.h>
#include <unistd.h>

#include <array>
#include <sstream>

namespace bigbird {

namespace {

constexpr std::chrono::seconds patience{20};
constexpr int not_started = 127;

/// Called for the program first; writes the loader's path, which the program names in its header.
int find_loader(dl_phdr_info* info, std::size_t, void* out) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = info->dlpi_phdr[i];
        if (header.p_type == PT_INTERP) {
            // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses as integers
            *static_cast<std::string*>(out) = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
        }
    }
    return 1;
}

std::string loader() {
    std::string path;
    ::dl_iterate_phdr(find_loader, &path);
    return path;
}

/// The loader's list, made as ldd makes it: its option --list ends at the first library that it does not
/// find.
ChildResult trace(const std::string& program, const std::filesystem::path& file) {
    std::string mode = "LD_TRACE_LOADED_OBJECTS=1";
    std::vector<char*> environment{mode.data()};
    for (char** variable = ::environ; *variable != nullptr; ++variable) {
        environment.push_back(*variable);
    }
    environment.push_back(nullptr);
    std::string name = program, argument = file.string();
    std::array<char*, 3> arguments{name.data(), argument.data(), nullptr};
    return run_child(
        [&] {
            ::execve(program.c_str(), arguments.data(), environment.data());
            return not_started;
        },
        patience);
}

}  // namespace

std::vector<NeededLibrary> needed_libraries(const std::filesystem::path& file) {
    const std::string program = loader();
    if (program.empty()) {  // linked statically
        return {};
    }
    return parse_needed_libraries(trace(program, file).out);
}

std::vector<NeededLibrary> parse_needed_libraries(const std::string& list) {
    std::vector<NeededLibrary> libraries;
    std::istringstream lines(list);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t arrow = line.find(" => ");
        if (arrow == std::string::npos) {  // the loader itself, the kernel's own
            continue;
        }
        const std::string name =
            line.substr(line.find_first_not_of(" \t"), arrow - line.find_first_not_of(" \t"));
        const std::string found = line.substr(arrow + 4);
        libraries.push_back(
            {name, found.starts_with('/') ? found.substr(0, found.rfind(" (0x")) : std::string()});
    }
    return libraries;
}

std::vector<std::string> missing_of(const std::vector<NeededLibrary>& libraries) {
    std::vector<std::string> names;
    for (const NeededLibrary& library : libraries) {
        if (library.path.empty()) {
            names.push_back(library.name);
        }
    }
    return names;
}

}  // namespace bigbird
