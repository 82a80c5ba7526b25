// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/file_kind.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/networks/files/tar_members.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::networks {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view hdf5_magic = "\x89HDF\r\n\x1a\n", zip_magic = "PK\x03\x04",
                           gzip_magic = "\x1f\x8b";
constexpr std::string_view tar_magic = "ustar";
constexpr std::size_t tar_magic_at = 257, head_size = 512;
/// How torch.save() began files up to PyTorch 1.5: a pickle of a large number.
constexpr std::string_view old_torch_magic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr std::string_view what_is_read =
    "bigbird-dna reads .h5 files of ChromBPNet and BPNet, and .torch files of bpnet-lite and Cherimoya";

std::string head_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::string head(head_size, '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    return head;
}

/// Names of .h5 files in a folder.
std::vector<std::string> models_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const fs::path& entry : entries_of(folder))
        if (entry.extension() == ".h5") names.push_back(entry.filename().string());
    std::ranges::sort(names);
    return names;
}

[[noreturn]] void refuse_saved_model(const fs::path& what, const fs::path& beside) {
    const std::vector<std::string> models = models_in(beside);
    throw InputError("is a SavedModel of TensorFlow, which is not read; take the .h5 file of the same model" +
                         (models.empty() ? std::string() : ", beside it: " + listed(models)),
                     what);
}

/// The member to take: ChromBPNet without bias, of the first fold, else any .h5 file.
std::string best_member(const std::vector<std::string>& models) {
    const auto found = std::ranges::find_if(
        models, [](const std::string& name) { return name.find("nobias") != std::string::npos; });
    return found == models.end() ? models.front() : *found;
}

[[noreturn]] void refuse_archive(const fs::path& path) {
    const TarMembers members = list_tar_members(path);
    std::vector<std::string> models;
    for (const std::string& name : members.names)
        if (name.ends_with(".h5")) models.push_back(name);
    std::ranges::sort(models);
    const bool of_tensorflow = std::ranges::any_of(members.names, [](const std::string& name) {
        return name.ends_with("saved_model.pb") || name.ends_with(".tar");
    });
    if (members.names.empty())
        throw InputError("is compressed, or damaged: unpack it first; " + std::string(what_is_read), path);
    if (models.empty())
        throw InputError(
            std::string("is an archive without .h5 files") +
                (of_tensorflow ? ", perhaps with a SavedModel of TensorFlow, which is not read" : "") +
                " (it holds " + listed(members.names) + "); " + std::string(what_is_read),
            path);
    throw InputError("is an archive of models (" + listed(models) +
                         (members.all ? "" : ", and perhaps more") + "); unpack one of them: tar -xf '" +
                         path.string() + "' '" + best_member(models) + "'",
                     path);
}

}  // namespace

FileKind kind_of_file(const fs::path& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        if (fs::exists(path / "saved_model.pb", ignored))
            refuse_saved_model(path, fs::absolute(path, ignored).parent_path());
        throw InputError("is a folder; " + std::string(what_is_read), path);
    }
    require_readable(path);
    const std::string head = head_of(path);
    if (head.starts_with(hdf5_magic)) return FileKind::hdf5;
    if (head.starts_with(zip_magic)) return FileKind::zip;
    if (path.filename() == "saved_model.pb")
        refuse_saved_model(path, fs::absolute(path, ignored).parent_path().parent_path());
    if (head.starts_with(gzip_magic) ||
        (head.size() > tar_magic_at && std::string_view(head).substr(tar_magic_at).starts_with(tar_magic)))
        refuse_archive(path);
    if (head.starts_with(old_torch_magic))
        throw InputError(
            "was saved by a PyTorch older than 1.6; save it anew: torch.save(torch.load(...), ...)", path);
    if (path.extension() == ".safetensors")
        throw InputError("holds only a model's weights: give the folder with its config.json", path);
    throw InputError(
        "is neither a model folder nor a .h5, .torch, .safetensors, .model or tokenizer.json file", path);
}

}  // namespace bigbird::networks
