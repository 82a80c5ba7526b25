// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/contig_names.hpp"

#include "bigbird/core/log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <unordered_map>

namespace bigbird::genome {

namespace {

/// The common part of all spellings of a contig: no "chr" before it, MT for the mitochondrion.
std::string_view shared_name(std::string_view name) {
    for (const std::string_view prefix : {"chr", "Chr", "CHR"}) {
        if (name.starts_with(prefix) && name.size() > prefix.size()) {
            name.remove_prefix(prefix.size());
            break;
        }
    }
    return name == "M" ? "MT" : name;
}

constexpr std::size_t ambiguous = static_cast<std::size_t>(-1);

}  // namespace

struct ContigNames::State {
    /// Lets a string_view look up without a copy.
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    using Map = std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>>;
    Map exact, aliases;
    std::vector<std::string> names;
    mutable std::array<std::atomic<bool>, 2> said{};
};

ContigNames::ContigNames(std::span<const Contig> contigs, bool says) {
    const auto state = std::make_shared<State>();
    for (auto& each : state->said)
        each = !says;
    for (std::size_t i = 0; i < contigs.size(); ++i) {
        state->names.push_back(contigs[i].name);
        state->exact.emplace(contigs[i].name, i);
        const auto [alias, fresh] = state->aliases.emplace(shared_name(contigs[i].name), i);
        if (!fresh) alias->second = ambiguous;
    }
    state_ = state;
}

std::optional<std::size_t> ContigNames::find(std::string_view name) const {
    if (const auto exact = state_->exact.find(name); exact != state_->exact.end()) return exact->second;
    const auto alias = state_->aliases.find(shared_name(name));
    if (alias == state_->aliases.end() || alias->second == ambiguous) return std::nullopt;
    const bool mitochondrion = alias->first == "MT";
    if (!state_->said[mitochondrion ? 1 : 0].exchange(true)) {
        log_info("contig '{}' is called '{}' in the reference{}", name, state_->names[alias->second],
                 mitochondrion ? "" : "; others that differ only by 'chr' are matched likewise");
    }
    return alias->second;
}

bool numbered_differently(std::span<const Contig> contigs, const std::set<std::string>& names) {
    const auto any = [](const auto& all, std::string_view letters, const auto& name_of) {
        return std::ranges::any_of(
            all,
            [&](std::string_view name) {
                const std::string_view number = shared_name(name);
                return number != "X" && number.find_first_not_of(letters) == std::string_view::npos;
            },
            name_of);
    };
    constexpr std::string_view roman = "IVX", arabic = "0123456789";
    return any(contigs, roman, &Contig::name) && !any(contigs, arabic, &Contig::name) &&
           any(names, arabic, std::identity()) && !any(names, roman, std::identity());
}

}  // namespace bigbird::genome
