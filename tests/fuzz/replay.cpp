// SPDX-License-Identifier: Apache-2.0
// fuzz_replay TARGET FILE|FOLDER...: runs a target over stored inputs, for compilers without libFuzzer. Any
// exception but an Error ends it, as it would end the fuzzer.
#include "fuzz/replay_targets.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> files_of(const fs::path& path) {
    if (!fs::is_directory(path)) return {path};
    std::vector<fs::path> files;
    for (const auto& item : fs::directory_iterator(path)) {
        if (item.is_regular_file()) files.push_back(item.path());
    }
    std::ranges::sort(files);
    return files;
}

bool replay(const bigbird::fuzz::ReplayTarget& target, const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    try {
        target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
        return true;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fuzz_replay: %s: %s lets an exception out: %s\n", file.c_str(), target.name,
                     error.what());
        return false;
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "";
    const auto* const target =
        std::ranges::find(bigbird::fuzz::replay_targets, name, [](const auto& t) { return t.name; });
    if (argc < 3 || target == std::end(bigbird::fuzz::replay_targets)) {
        std::fprintf(stderr, "fuzz_replay: TARGET FILE|FOLDER... are needed; targets:");
        for (const auto& known : bigbird::fuzz::replay_targets)
            std::fprintf(stderr, " %s", known.name);
        std::fprintf(stderr, "\n");
        return 2;
    }
    std::size_t inputs = 0;
    bool sound = true;
    for (int i = 2; i < argc; ++i) {
        for (const fs::path& file : files_of(argv[i])) {
            sound = replay(*target, file) && sound;
            ++inputs;
        }
    }
    std::printf("%s: %zu inputs\n", target->name, inputs);
    return sound && inputs > 0 ? 0 : 1;
}
