// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/contig_list.hpp"

#include "bigbird/core/formats/json_file.hpp"

#include <string>

namespace bigbird::examples {

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
