// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/splicing/splice_files.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/networks/files/file_kind.hpp"
#include "bigbird/networks/splicing/keras_member.hpp"
#include "bigbird/networks/splicing/splice_folder.hpp"
#include "bigbird/networks/splicing/torch_member.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::networks {

namespace fs = std::filesystem;

namespace {

bool is_member_name(const fs::path& path) {
    const std::string name = path.filename().string(), ending = path.extension().string();
    return ending == ".h5" || ending == ".pt" || ending == ".pth" ||
           (name.starts_with("final.") && ending == ".v2");
}

/// Files of a folder, by name. Pangolin's folder also holds networks for other purposes, with an odd number.
std::vector<fs::path> member_files(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const fs::path& entry : entries_of(folder))
        if (is_member_name(entry)) files.push_back(entry);
    if (files.empty())
        throw InputError("holds no splicing networks: neither .h5, .pt and .pth files nor final.J.I.3.v2",
                         folder);
    const auto is_odd = [](const fs::path& file) {
        const std::string name = file.filename().string();
        return name.starts_with("final.") && name.size() > 8 && (name[8] - '0') % 2 == 1;
    };
    std::erase_if(files, is_odd);
    std::ranges::sort(files);
    return files;
}

struct NamedMember {
    SpliceMember member;
    std::string family;
};

NamedMember read_member(const fs::path& path) {
    if (kind_of_file(path) == FileKind::hdf5) return {read_keras_member(path), "SpliceAI"};
    SpliceMember member = read_torch_member(path);
    std::string family = member.tissue >= 0 ? "Pangolin" : "OpenSpliceAI";
    return {std::move(member), std::move(family)};
}

}  // namespace

SpliceModel read_splice_model(std::span<const fs::path> paths) {
    std::vector<fs::path> files;
    for (const fs::path& path : paths) {
        std::error_code ignored;
        if (!fs::is_directory(path, ignored)) {
            files.push_back(path);
        } else if (is_splice_folder(path)) {
            if (paths.size() > 1)
                throw ConfigError(path.string() + ": a model folder holds all members; give no other models");
            SpliceModel model = read_splice_folder(path);
            validate(model);
            return model;
        } else {
            const std::vector<fs::path> found = member_files(path);
            files.insert(files.end(), found.begin(), found.end());
        }
    }
    SpliceModel model;
    std::string sums;
    for (const fs::path& file : files) {
        NamedMember found = read_member(file);
        if (!model.family.empty() && found.family != model.family)
            throw ConfigError(file.string() + ": is a network of " + found.family +
                              ", those before it are of " + model.family);
        model.family = std::move(found.family);
        model.members.push_back(std::move(found.member));
        sums += sha256_of_file(file) + "\n";
    }
    model.sha256 = files.size() == 1 ? sums.substr(0, sums.size() - 1) : sha256_of_text(sums);
    validate(model);
    return model;
}

bool is_splice_model(const fs::path& path) {
    try {
        std::error_code ignored;
        if (!fs::is_directory(path, ignored)) {
            if (is_member_name(path)) read_member(path);
            return is_member_name(path);
        }
        return fs::exists(path / "config.json", ignored) ? is_splice_folder(path)
                                                         : !member_files(path).empty();
    } catch (const Error&) {
        return false;
    }
}

}  // namespace bigbird::networks
