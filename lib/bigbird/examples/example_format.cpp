// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/example_format.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/interrupt.hpp"

#include <cerrno>
#include <cstring>
#include <string>

namespace bigbird::examples {

namespace fs = std::filesystem;

Json file_checksums(const fs::path& folder) {
    Json checksums = Json::object();
    for (const char* name : {rows_name, records_name, labels_name, matrix_name, numbers_name, store_name,
                             stretches_name, bins_matrix_name})
        if (fs::exists(folder / name)) checksums[name] = sha256_of_file(folder / name, stop_if_asked);
    return checksums;
}

void require_files_of(const Json& manifest, const fs::path& folder,
                      std::initializer_list<const char*> names) {
    if (!manifest.contains("files")) return;
    const Json& files = manifest["files"];
    for (const char* name : names) {
        if (!files.is_object() || !files.contains(name) || !files[name].is_string()) {
            throw InputError(std::string("lacks the checksum of ") + name + "; make the examples again",
                             folder / manifest_name);
        }
        if (files[name] != sha256_of_file(folder / name, stop_if_asked)) {
            throw InputError(
                "was changed after the examples were made: its checksum is not manifest.json's; "
                "make the examples again",
                folder / name);
        }
    }
}

void require_written(const std::ofstream& out, const fs::path& path) {
    if (!out) throw WriteError(path.filename().string() + ": writing failed: " + std::strerror(errno));
}

Json contigs_json(std::span<const genome::Contig> contigs) {
    Json json = Json::array();
    for (const genome::Contig& contig : contigs)
        json.push_back({{"name", contig.name}, {"length", contig.length}});
    return json;
}

std::vector<genome::Contig> contigs_from(const Json& json) {
    std::vector<genome::Contig> contigs;
    for (const Json& contig : json)
        contigs.push_back({contig.at("name").get<std::string>(), whole_number(contig, "length")});
    return contigs;
}

}  // namespace bigbird::examples
