// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"

#include <spdlog/spdlog.h>
#include <stdlib.h>

#include <fstream>
#include <stdexcept>
#include <system_error>

namespace bigbird::fuzz {
namespace fs = std::filesystem;

std::vector<std::string_view> split_files(std::string_view input) {
    std::vector<std::string_view> files;
    for (;;) {
        const std::size_t end = input.find(separator);
        files.push_back(input.substr(0, end));
        if (end == std::string_view::npos) return files;
        input.remove_prefix(end + separator.size());
    }
}

Scratch::Scratch() {
    const fs::path memory = "/dev/shm";
    const fs::path parent = fs::is_directory(memory) ? memory : fs::temp_directory_path();
    std::string name = (parent / "bigbird-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder can be made");
    folder_ = name;
}

Scratch::~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

fs::path Scratch::write(const std::string& name, std::string_view content) const {
    const fs::path path = folder_ / name;
    if (name.find('/') != std::string::npos) fs::create_directories(path.parent_path());
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
    return path;
}

void Scratch::write_files(std::string_view input, std::initializer_list<const char*> names) const {
    const std::vector<std::string_view> files = split_files(input);
    std::size_t i = 0;
    for (const char* name : names) {
        if (i < files.size())
            write(name, files[i]);
        else
            fs::remove(folder_ / name);
        ++i;
    }
}

const Scratch& scratch() {
    spdlog::set_level(spdlog::level::off);
    static const Scratch folder;
    return folder;
}

}  // namespace bigbird::fuzz
