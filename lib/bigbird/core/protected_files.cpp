// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/protected_files.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/words.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <mutex>
#include <optional>
#include <vector>

namespace bigbird {
namespace fs = std::filesystem;

namespace {

std::optional<struct ::stat> status_of(const fs::path& path) {
    struct ::stat status {};
    return ::stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

bool is_open_as(int descriptor, const struct ::stat& file) {
    struct ::stat open {};
    return ::fstat(descriptor, &open) == 0 && open.st_dev == file.st_dev && open.st_ino == file.st_ino;
}

/// Whether a folder contains only a tokenizer, whose files do not name the program.
bool is_tokenizer_or_empty(const fs::path& folder) {
    constexpr std::array names{"tokenizer.json", "tokenizer.model", "tokenizer_config.json"};
    return std::ranges::all_of(entries_of(folder), [&](const fs::path& entry) {
        return std::ranges::find(names, entry.filename().string()) != names.end();
    });
}

/// Whether the first 64 KiB of a file name the program or the network.
bool names_bigbird(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string text(std::size_t{1} << 16, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    text = lower_case(std::move(text));
    return text.find("bigbird") != std::string::npos || text.find("big_bird") != std::string::npos;
}

/// Whether a folder is empty or one that bigbird-dna wrote: its description names the program or the network,
/// it is a checkpoint, or it contains the program's manual page or only a tokenizer.
bool is_ours(const fs::path& folder) {
    constexpr std::array descriptions{"manifest.json", "config.json", "bigbird-dna.1"};
    std::error_code error;
    return is_folder(folder / "training_state") ||
           std::ranges::any_of(descriptions,
                               [&](const char* name) {
                                   return fs::is_regular_file(folder / name, error) &&
                                          names_bigbird(folder / name);
                               }) ||
           is_tokenizer_or_empty(folder);
}

struct Input {
    fs::path path;
    std::string named_by;
    fs::path written;
};

std::vector<Input> inputs;
std::mutex inputs_mutex;

/// The files that the program reads from folders of models, checkpoints, examples and tokens, and all .bin.
constexpr std::array members{
    // clang-format off
    "background.h5", "bins.bed", "bins.npy", "calibration.json", "config.json", "config.resolved.json",
    "labels.npy", "labels.tsv", "manifest.json", "metrics.jsonl", "model.safetensors",
    "model.safetensors.index.json", "modeling_bigbird_dna.py", "motifs.meme", "optimizer.safetensors",
    "records.tsv", "sequences.2bit", "sequences.bed", "sha256.txt", "state.json", "targets.npy",
    "tokenizer.json", "tokenizer.model", "tokenizer_config.json", "weights.safetensors"
    // clang-format on
};

bool is_in(const fs::path& path, const fs::path& folder) {
    std::error_code error;
    const fs::path inside =
        fs::weakly_canonical(path, error).lexically_relative(fs::weakly_canonical(folder, error));
    return !inside.empty() && *inside.begin() != "..";
}

/// Whether `target` is one of `members` in a folder, or in one below it that is not written.
bool is_member_of(const fs::path& target, const Input& folder) {
    const fs::path name = target.filename();
    return (name.extension() == ".bin" || std::ranges::count(members, name) > 0) &&
           is_in(target, folder.path) && (folder.written.empty() || !is_in(target, folder.written));
}

}  // namespace

void protect_input(const fs::path& path, const std::string& named_by, const fs::path& written) {
    const auto status = status_of(path);
    if (!status || !(S_ISREG(status->st_mode) || S_ISDIR(status->st_mode))) return;
    const std::scoped_lock lock(inputs_mutex);
    inputs.push_back({path, named_by, written});
}

void refuse_protected(const fs::path& target) {
    const auto status = status_of(target);
    if (!status) return;
    if (!S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode)) {
        throw ConfigError(target.string() +
                          ": is a device or a pipe, which this output cannot be written to");
    }
    std::error_code error;
    if (fs::is_symlink(target, error) &&
        (is_open_as(STDOUT_FILENO, *status) || is_open_as(STDERR_FILENO, *status))) {
        throw ConfigError(target.string() +
                          ": leads to standard output or standard error; give another output");
    }
    const std::scoped_lock lock(inputs_mutex);
    for (const Input& input : inputs) {
        const char* const what = fs::equivalent(target, input.path, error) ? ": is "
                                 : is_member_of(target, input)             ? ": is a file of the folder "
                                 : is_in(input.path, target)               ? ": holds what is "
                                                                           : nullptr;
        if (what == nullptr) continue;
        throw ConfigError(target.string() + what + "named by " + input.named_by +
                          " and would be replaced by an output; give another output");
    }
}

void refuse_foreign_folder(const fs::path& target) {
    const fs::path name = target.filename();
    if (name == "." || name == ".." || name.empty())
        throw ConfigError(target.string() + ": is a folder that cannot be replaced; name a new one in it");
    if (is_folder(target) && !is_ours(target)) {
        throw ConfigError(target.string() +
                          ": is a folder with files that bigbird-dna did not write, which --force does not "
                          "remove; give another --output");
    }
}

bool is_folder(const fs::path& path) {
    std::error_code error;
    return fs::is_directory(fs::symlink_status(path, error));
}

bool is_standard_output(const fs::path& path) {
    const auto status = status_of(path);
    return status && is_open_as(STDOUT_FILENO, *status);
}

}  // namespace bigbird
