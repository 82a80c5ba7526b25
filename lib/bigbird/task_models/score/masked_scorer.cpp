// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/masked_scorer.hpp"

#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/task_models/network/bigbird_network.hpp"

#include <algorithm>
#include <numeric>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t tokens_together = 16;

using Ids = std::vector<std::int32_t>;

/// Tokens that two encodings have in common at both ends.
struct Common {
    std::size_t before = 0, behind = 0;
};

Common common_of(const Ids& a, const Ids& b) {
    const std::size_t shorter = std::min(a.size(), b.size());
    Common common;
    while (common.before < shorter && a[common.before] == b[common.before])
        ++common.before;
    while (common.behind < shorter - common.before &&
           a[a.size() - 1 - common.behind] == b[b.size() - 1 - common.behind])
        ++common.behind;
    return common;
}

/// Makes the query: [CLS], context, masked tokens, context, [SEP], with as much context as fits.
MaskedScorer::Query query_of(const Ids& ids, const Common& common, std::size_t left, std::size_t right,
                             const tokenizer::SpecialIds& special) {
    const auto begin = static_cast<std::ptrdiff_t>(common.before - left);
    const auto end = static_cast<std::ptrdiff_t>(ids.size() - common.behind + right);
    MaskedScorer::Query query;
    query.input.ids.push_back(special.cls);
    query.input.ids.insert(query.input.ids.end(), ids.begin() + begin, ids.begin() + end);
    query.input.ids.push_back(special.sep);
    query.first_masked = static_cast<std::int64_t>(left) + 1;
    const std::size_t count = ids.size() - common.before - common.behind;
    const auto first = query.input.ids.begin() + query.first_masked;
    query.originals.assign(first, first + static_cast<std::ptrdiff_t>(count));
    std::fill_n(first, count, special.mask);
    return query;
}

}  // namespace

MaskedScorer::MaskedScorer(model::PreTrainingModel network, tokenizer::DnaTokenizer tokenizer,
                           Strands strands, const Job& job)
    : network_(std::move(network)),
      tokenizer_(std::move(tokenizer)),
      strands_(strands),
      job_(job),
      max_tokens_(max_tokens(network_->config())) {
    network_->set_attention_backend(job.computing.attention);
    network_->eval();
}

std::vector<MaskedScorer::Query> MaskedScorer::queries_of(std::string_view ref, std::string_view alt) const {
    const auto trimmed = [](std::string_view dna) {  // long runs of N at the ends carry no information
        const std::size_t first = dna.find_first_not_of('N');
        return first == std::string_view::npos ? std::string_view()
                                               : dna.substr(first, dna.find_last_not_of('N') - first + 1);
    };
    const Ids ref_ids = tokenizer_.encode(trimmed(ref)), alt_ids = tokenizer_.encode(trimmed(alt));
    if (ref_ids.empty() || alt_ids.empty() || ref_ids == alt_ids) return {};
    const Common common = common_of(ref_ids, alt_ids);
    const std::size_t middle = std::max(ref_ids.size(), alt_ids.size()) - common.before - common.behind;
    const auto most = static_cast<std::size_t>(max_tokens_ - 2);
    if (middle > most) return {};
    const std::size_t room = most - middle;
    std::size_t left = std::min(common.before, room / 2);
    const std::size_t right = std::min(common.behind, room - left);
    left = std::min(common.before, room - right);
    const tokenizer::SpecialIds special = tokenizer_.special_ids();
    return {query_of(ref_ids, common, left, right, special), query_of(alt_ids, common, left, right, special)};
}

at::Tensor MaskedScorer::log_p_of(const at::Tensor& hidden, std::vector<std::int64_t> positions,
                                  std::vector<std::int64_t> originals) {
    const auto masked = std::ssize(positions);
    // Rounding of products depends on the number of rows. Groups have one size (the last is filled up), so
    // that a token's result does not depend on the number of masked tokens.
    const std::int64_t size = job_.device.is_cpu() ? tokens_together : masked;
    const auto filled = static_cast<std::size_t>((masked + size - 1) / size * size);
    positions.resize(filled, positions.back());
    originals.resize(filled, originals.back());
    const at::Tensor places = model::copy_to_device(at::tensor(positions, at::kLong), job_.device),
                     labels = model::copy_to_device(at::tensor(originals, at::kLong), job_.device);
    std::vector<at::Tensor> log_p;
    for (std::int64_t i = 0; i < masked; i += size) {
        const at::Tensor logits = network_->predict(hidden, places.narrow(0, i, size)).prediction_logits;
        log_p.push_back(logits.to(at::kFloat)
                            .log_softmax(1)
                            .gather(1, labels.narrow(0, i, size).unsqueeze(1)));  // (size, 1)
    }
    return at::cat(log_p).narrow(0, 0, masked).to(at::kCPU, at::kDouble).contiguous();
}

std::vector<double> MaskedScorer::log_likelihoods(std::span<const Query> queries) {
    const at::NoGradGuard no_gradients;
    std::vector<model::TokenSequence> inputs;
    for (const Query& query : queries)
        inputs.push_back(query.input);
    std::vector<double> sums(queries.size(), 0);
    const model::BigBirdConfig& config = network_->config();
    for (const auto& group : model::group_by_blocks(inputs, config.pattern.block_size, job_.batch_tokens,
                                                    model::sizes_for_scores(job_.device))) {
        stop_if_asked();
        const model::EncoderInput input = gather_input(inputs, group, config, job_.device);
        const std::int64_t length = input.input_ids.size(1);
        std::vector<std::int64_t> positions, originals;
        for (std::size_t row = 0; row < group.size(); ++row) {
            const Query& query = queries[group[row]];
            for (std::size_t i = 0; i < query.originals.size(); ++i) {
                positions.push_back(static_cast<std::int64_t>(row) * length + query.first_masked +
                                    static_cast<std::int64_t>(i));
                originals.push_back(query.originals[i]);
            }
        }
        if (positions.empty()) continue;
        const training::Autocast autocast(job_.computing.type, job_.device);
        const at::Tensor log_p = log_p_of(network_->encode(input).hidden, positions, originals);
        const double* next = log_p.const_data_ptr<double>();
        for (const std::size_t index : group) {
            const auto count = static_cast<std::ptrdiff_t>(queries[index].originals.size());
            sums[index] = std::accumulate(next, next + count, 0.0);
            next += count;
        }
    }
    return sums;
}

std::vector<std::optional<MaskedScore>> MaskedScorer::score(std::span<const AllelePair> pairs, int threads) {
    const bool forward = strands_ != Strands::only, reverse = strands_ != Strands::none;
    std::vector<std::vector<Query>> of_pairs(pairs.size());
    parallel_for(static_cast<std::int64_t>(pairs.size()), threads, [&](std::int64_t index) {
        const AllelePair& pair = pairs[static_cast<std::size_t>(index)];
        std::vector<Query>& all = of_pairs[static_cast<std::size_t>(index)];
        const auto add = [&](const std::string& ref, const std::string& alt) {
            for (Query& query : queries_of(ref, alt))
                all.push_back(std::move(query));
        };
        if (forward) add(pair.ref, pair.alt);
        if (reverse) add(genome::reverse_complement(pair.ref), genome::reverse_complement(pair.alt));
    });
    std::vector<Query> queries;
    for (std::vector<Query>& some : of_pairs)
        std::move(some.begin(), some.end(), std::back_inserter(queries));
    const std::vector<double> sums = log_likelihoods(queries);
    std::vector<std::optional<MaskedScore>> scores(pairs.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (of_pairs[i].empty()) continue;
        MaskedScore score;
        const auto strands = static_cast<double>(of_pairs[i].size() / 2);
        for (std::size_t q = 0; q < of_pairs[i].size(); q += 2, next += 2) {
            score.ref += sums[next] / strands;
            score.alt += sums[next + 1] / strands;
        }
        scores[i] = score;
    }
    return scores;
}

}  // namespace bigbird::task_models
