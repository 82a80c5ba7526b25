// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/contig_names.hpp"

#include "bigbird/core/log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
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

/// Lets a string_view look up without a copy.
struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using Map = std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>>;

constexpr std::size_t ambiguous = static_cast<std::size_t>(-1);

}  // namespace

struct ContigNames::State {
    Map exact, aliases;
    std::vector<std::string> names;
    mutable std::array<std::atomic<bool>, 2> said{};

    void say_once(std::string_view asked, std::string_view found) const {
        const bool mitochondrion = shared_name(asked) == "MT";
        if (!said[mitochondrion ? 1 : 0].exchange(true)) {
            log_info("contig '{}' is called '{}' in the reference{}", asked, found,
                     mitochondrion ? "" : "; others that differ only by 'chr' are matched likewise");
        }
    }
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
    state_->say_once(name, state_->names[alias->second]);
    return alias->second;
}

bool numbered_differently(std::span<const Contig> contigs, const std::set<std::string>& names) {
    const auto spelt_by = [](std::string_view name, std::string_view letters) {
        const std::string_view number = shared_name(name);
        return number != "X" && number.find_first_not_of(letters) == std::string_view::npos;
    };
    const auto any_contig = [&](std::string_view letters) {
        return std::ranges::any_of(
            contigs, [&](const Contig& c) { return spelt_by(c.name, letters); });
    };
    const auto any_name = [&](std::string_view letters) {
        return std::ranges::any_of(names, [&](const std::string& name) { return spelt_by(name, letters); });
    };
    constexpr std::string_view roman = "IVX", arabic = "0123456789";
    return any_contig(roman) && !any_contig(arabic) && any_name(arabic) && !any_name(roman);
}

}  // namespace bigbird::genome
