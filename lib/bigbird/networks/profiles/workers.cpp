// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/profiles/workers.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace bigbird::networks {

namespace {

template <typename Passes, typename Heads>
PartHeads heads_of_parts(Passes& passes, const Heads& heads_of) {
    std::vector<PartHeads> heads;
    for (auto& pass : passes)
        heads.push_back(heads_of(pass));
    return joined(heads);
}

}  // namespace

WholeWorker::WholeWorker(const std::vector<PackedPart>& parts, bool keeps, int threads) : crew(threads) {
    for (const PackedPart& part : parts)
        passes.emplace_back(part, keeps);
}

PartHeads WholeWorker::heads(const std::uint8_t* codes, bool profile) {
    return heads_of_parts(
        passes,
        [&](WindowPass& pass) {
            pass.compute(codes, crew);
            return pass.heads(profile, crew);
        });
}

std::vector<PartHeads> WholeWorker::heads(const std::uint8_t* codes,
                                          std::span<const bins::Substitution> each) {
    edited.resize(passes.size());
    std::vector<std::vector<PartHeads>> found(1 + each.size());
    for (std::size_t part = 0; part < passes.size(); ++part) {
        WindowPass& whole = passes[part];
        std::deque<EditedPass>& changed = edited[part];
        while (changed.size() < each.size())
            changed.emplace_back(whole);
        whole.stem(codes, crew);
        for (std::size_t i = 0; i < each.size(); ++i) {
            changed[i].begin(codes);
            changed[i].stem(each[i]);
        }
        for (std::size_t layer = 0; layer < whole.layers(); ++layer) {
            whole.layer(layer, crew);
            for (std::size_t i = 0; i < each.size(); ++i)
                changed[i].layer(layer, crew);
        }
        found[0].push_back(whole.heads(true, crew));
        for (std::size_t i = 0; i < each.size(); ++i)
            found[i + 1].push_back(changed[i].heads(true, crew));
    }
    std::vector<PartHeads> heads;
    for (const std::vector<PartHeads>& of_parts : found)
        heads.push_back(joined(of_parts));
    return heads;
}

EditingWorker::EditingWorker(const WholeWorker& whole, int threads) : crew(threads) {
    for (const WindowPass& pass : whole.passes)
        passes.emplace_back(pass);
}

PartHeads EditingWorker::heads(const bins::Substitution& edit) {
    return heads_of_parts(
        passes, [&](EditedPass& pass) { return pass.heads_of(edit, false, crew); });
}

ScoredWindows::ScoredWindows(Parts of)
    : parts(std::move(of)),
      workers([this](int threads) { return std::make_unique<WholeWorker>(*parts, false, threads); }) {}

KeptWindow::KeptWindow(Parts of, int threads)
    : parts_(std::move(of)),
      whole_(*parts_, true, threads),
      workers_([this](int of_worker) { return std::make_unique<EditingWorker>(whole_, of_worker); }) {}

PartHeads KeptWindow::begin(const std::uint8_t* codes) {
    codes_ = codes;
    ++windows_;
    return whole_.heads(codes, false);
}

void KeptWindow::run(std::int64_t count, const std::function<void(EditingWorker&, std::int64_t)>& compute) {
    workers_.run(
        count, threads(),
        [&](EditingWorker& worker, std::int64_t i) {
            if (worker.window != windows_) {
                for (EditedPass& pass : worker.passes)
                    pass.begin(codes_);
                worker.window = windows_;
            }
            compute(worker, i);
        });
}

HeadsWriter::HeadsWriter(const ProfileShape& shape, std::int64_t rows, bool profiles)
    : heads_{profiles ? at::empty({rows, shape.output, shape.columns()}, at::kFloat) : at::Tensor(),
             at::empty({rows, std::ssize(shape.groups)}, at::kFloat)},
      counts_(heads_.counts.data_ptr<float>()) {
    if (profiles) profile_ = heads_.profile.data_ptr<float>();
}

void HeadsWriter::put(std::int64_t row, const PartHeads& heads) {
    std::ranges::copy(heads.counts, counts_ + row * std::ssize(heads.counts));
    if (profile_ != nullptr) std::ranges::copy(heads.profile, profile_ + row * std::ssize(heads.profile));
}

}  // namespace bigbird::networks
