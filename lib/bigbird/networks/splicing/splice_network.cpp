// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/splicing/splice_network.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/networks/splicing/member_pass.hpp"
#include "bigbird/networks/splicing/splice_files.hpp"
#include "bigbird/networks/splicing/splice_folder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace bigbird::networks {

namespace fs = std::filesystem;

struct SpliceNetwork::State {
    SpliceModel model;
    std::vector<MemberPass> passes;
    std::int64_t channels = 3;
};

namespace {

constexpr std::int64_t outputs_of_part = 65'536, tissues_in_all = 4;

/// The mean over members, in their order. Pangolin's members each have a tissue.
class MemberMean {
public:
    MemberMean(std::int64_t positions, std::int64_t channels)
        : channels_(channels), sums_(static_cast<std::size_t>(positions * channels)) {}

    void add(const SpliceMember& member, std::span<const float> probabilities) {
        const auto channels = static_cast<std::size_t>(channels_),
                   outputs = static_cast<std::size_t>(member.outputs());
        for (std::size_t p = 0; p * channels < sums_.size(); ++p)
            if (member.tissue >= 0)
                sums_[p * channels + static_cast<std::size_t>(member.tissue)] +=
                    probabilities[p * outputs + 1];
            else
                for (std::size_t c = 0; c < channels; ++c)
                    sums_[p * channels + c] += probabilities[p * outputs + c];
    }

    std::vector<float> divided(std::span<const SpliceMember> members) && {
        std::array<float, tissues_in_all> counts{};
        for (const SpliceMember& member : members)
            for (std::size_t c = 0; c < static_cast<std::size_t>(channels_); ++c)
                if (member.tissue < 0 || member.tissue == static_cast<std::int64_t>(c)) ++counts[c];
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            sums_[i] /= counts[i % static_cast<std::size_t>(channels_)];
            if (!std::isfinite(sums_[i]))
                throw InputError("the splicing network's weights lead to no finite numbers");
        }
        return std::move(sums_);
    }

private:
    std::int64_t channels_;
    std::vector<float> sums_;
};

/// Without the bases that both alleles begin or end with.
SpliceEdit trimmed(SpliceEdit edit, std::span<const std::uint8_t> codes) {
    const auto removed =
        codes.subspan(static_cast<std::size_t>(edit.at), static_cast<std::size_t>(edit.removed));
    auto& inserted = edit.inserted;
    std::size_t same = 0;
    while (same < removed.size() && same < inserted.size() && removed[same] == inserted[same])
        ++same;
    std::size_t same_end = 0;
    while (same + same_end < removed.size() && same + same_end < inserted.size() &&
           removed[removed.size() - 1 - same_end] == inserted[inserted.size() - 1 - same_end])
        ++same_end;
    inserted.erase(inserted.end() - static_cast<std::ptrdiff_t>(same_end), inserted.end());
    inserted.erase(inserted.begin(), inserted.begin() + static_cast<std::ptrdiff_t>(same));
    edit.at += static_cast<std::int64_t>(same);
    edit.removed -= static_cast<std::int64_t>(same + same_end);
    return edit;
}

void require_within(const SpliceEdit& edit, std::int64_t length, std::int64_t context) {
    const std::int64_t after = length - edit.removed + std::ssize(edit.inserted);
    if (edit.at < 0 || edit.removed < 0 || edit.removed > length - edit.at || edit.begin < 0 ||
        edit.end < edit.begin || edit.end > after - context || (edit.end > 0 && length <= context))
        throw ConfigError("an edit or its outputs are beyond the stretch");
}

/// Memory of the calling thread, reused from member to member and from stretch to stretch.
MemberPass::Kept& own_memory() {
    thread_local MemberPass::Kept own;
    return own;
}

}  // namespace

SpliceNetwork SpliceNetwork::open(std::span<const fs::path> paths) {
    auto state = std::make_shared<State>();
    state->model = read_splice_model(paths);
    for (const SpliceMember& member : state->model.members)
        state->passes.emplace_back(member);
    state->channels = state->model.members.front().tissue >= 0 ? tissues_in_all : 3;
    SpliceNetwork network;
    network.state_ = std::move(state);
    return network;
}

std::int64_t SpliceNetwork::context() const {
    return state_->passes.front().context();
}
std::int64_t SpliceNetwork::channels() const {
    return state_->channels;
}
const std::string& SpliceNetwork::family() const {
    return state_->model.family;
}
const std::string& SpliceNetwork::sha256() const {
    return state_->model.sha256;
}
void SpliceNetwork::write(const fs::path& directory) const {
    write_splice_folder(state_->model, directory);
}

std::vector<float> SpliceNetwork::probabilities(std::span<const std::uint8_t> codes, int threads) const {
    const std::int64_t outputs = std::max<std::int64_t>(std::ssize(codes) - context(), 0);
    std::vector<float> all;
    for (std::int64_t first = 0; first < outputs; first += outputs_of_part) {
        const std::int64_t count = std::min(outputs_of_part, outputs - first);
        const auto part =
            codes.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count + context()));
        MemberMean mean(count, channels());
        MemberPass::Kept& own = own_memory();
        for (std::size_t m = 0; m < state_->passes.size(); ++m) {
            state_->passes[m].probabilities(part, threads, own);
            mean.add(state_->model.members[m], own.probabilities);
        }
        const std::vector<float> found = std::move(mean).divided(state_->model.members);
        all.insert(all.end(), found.begin(), found.end());
    }
    return all;
}

std::vector<std::vector<float>> SpliceNetwork::edited(std::span<const std::uint8_t> codes,
                                                      std::span<const SpliceEdit> edits, int threads) const {
    std::vector<SpliceEdit> changes;
    std::vector<std::size_t> change_of;  // by edit; no_change if it changes nothing
    std::vector<MemberMean> means;
    constexpr auto no_change = static_cast<std::size_t>(-1);
    for (const SpliceEdit& edit : edits) {
        require_within(edit, std::ssize(codes), context());
        SpliceEdit minimal = trimmed(edit, codes);
        const bool changes_any = edit.begin < edit.end && (minimal.removed > 0 || !minimal.inserted.empty());
        change_of.push_back(changes_any ? changes.size() : no_change);
        if (changes_any) changes.push_back(std::move(minimal));
        means.emplace_back(edit.end - edit.begin, channels());
    }
    MemberPass::Kept& kept = own_memory();
    for (std::size_t m = 0; m < state_->passes.size(); ++m) {
        const MemberPass& pass = state_->passes[m];
        const auto changed = pass.edited(codes, changes, threads, kept);
        for (std::size_t i = 0; i < edits.size(); ++i) {
            if (edits[i].begin == edits[i].end) continue;
            const auto of_stretch = [&] {
                return std::span(kept.probabilities)
                    .subspan(static_cast<std::size_t>(edits[i].begin * pass.outputs()),
                             static_cast<std::size_t>((edits[i].end - edits[i].begin) * pass.outputs()));
            };
            means[i].add(state_->model.members[m], change_of[i] == no_change
                                                       ? of_stretch()
                                                       : std::span<const float>(changed[change_of[i]]));
        }
    }
    std::vector<std::vector<float>> results;
    for (MemberMean& mean : means)
        results.push_back(std::move(mean).divided(state_->model.members));
    return results;
}

}  // namespace bigbird::networks
