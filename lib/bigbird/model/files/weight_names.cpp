// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/weight_names.hpp"

#include <array>
#include <utility>

namespace bigbird::model {

namespace {

/// Prefixes of names, ours and theirs; the first match is used.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> beginnings{
    {{"bert.pooler.", "longformer.pooler.dense."},
     {"bert.", "longformer."},
     {"cls.predictions.transform.dense.", "lm_head.dense."},
     {"cls.predictions.transform.LayerNorm.", "lm_head.layer_norm."},
     {"cls.predictions.decoder.", "lm_head.decoder."},
     {"cls.predictions.bias", "lm_head.bias"},
     {"pooler.", "pooler.dense."}}};  // in a bare model

std::string replaced(std::string_view name, std::string_view from, std::string_view to) {
    return std::string(to).append(name.substr(from.size()));
}

}  // namespace

std::string longformer_name(std::string_view ours) {
    for (const auto& [here, there] : beginnings)
        if (ours.starts_with(here)) return replaced(ours, here, there);
    return std::string(ours);
}

std::string name_of_longformer(std::string_view theirs) {
    for (const auto& [here, there] : beginnings)
        if (theirs.starts_with(there)) return replaced(theirs, there, here);
    return std::string(theirs);
}

bool is_longformer_name(std::string_view name) {
    return name.ends_with("attention.self.query_global.weight");
}

}  // namespace bigbird::model
