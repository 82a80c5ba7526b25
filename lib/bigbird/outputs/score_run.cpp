// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/score_run.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>

namespace bigbird::outputs {

namespace {

std::vector<std::pair<std::string, std::string>> pairs_of(const Json& json) {
    return json.get<std::vector<std::pair<std::string, std::string>>>();
}

TableSchema schema_of(const Json& json) {
    TableSchema schema;
    for (const Json& column : json.at("head"))
        schema.head.push_back({column.at(0), static_cast<FieldKind>(column.at(1).get<int>())});
    for (const Json& column : json.at("columns"))
        schema.columns.push_back({column.at(0), column.at(1), column.at(2), column.at(3), column.at(4)});
    schema.provenance = pairs_of(json.at("provenance"));
    schema.precision = json.at("precision") == "float16" ? Precision::float16 : Precision::float32;
    return schema;
}

}  // namespace

Json to_json(const ScoreRun& run) {
    Json json{{"provenance", run.schema.provenance},
              {"inputs", run.inputs},
              {"precision", word_of(precision_choices, run.schema.precision)}};
    Json& head = json["head"] = Json::array();
    for (const HeadColumn& column : run.schema.head)
        head.push_back({column.name, static_cast<int>(column.kind)});
    Json& columns = json["columns"] = Json::array();
    for (const Column& column : run.schema.columns)
        columns.push_back({column.name, column.index, column.group, column.label, column.id});
    if (run.min_score) json["min_score"] = *run.min_score;
    if (!run.contigs.empty()) {
        Json& contigs = json["contigs"] = Json::array();
        for (const genome::Contig& contig : run.contigs)
            contigs.push_back({contig.name, contig.length});
        json["overlap"] = run.overlap == Overlap::max ? "max" : "mean";
    }
    return json;
}

ScoreRun score_run_from_json(const Json& json, const std::filesystem::path& where) {
    try {
        ScoreRun run{.schema = schema_of(json), .inputs = pairs_of(json.at("inputs"))};
        if (std::ranges::any_of(run.schema.head,
                                [](const HeadColumn& c) { return c.kind > FieldKind::real; }))
            throw InputError("is damaged: it names a column of an unknown kind", where);
        if (json.contains("min_score")) run.min_score = json.at("min_score").get<double>();
        if (json.contains("contigs")) {
            for (const Json& contig : json.at("contigs"))
                run.contigs.push_back({contig.at(0), contig.at(1)});
            run.overlap = json.at("overlap") == "max" ? Overlap::max : Overlap::mean;
        }
        return run;
    } catch (const nlohmann::json::exception& error) {
        throw InputError(std::string("is damaged: ") + error.what(), where);
    }
}

}  // namespace bigbird::outputs
