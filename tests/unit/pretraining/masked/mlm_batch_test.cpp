// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/masked/mlm_batch.hpp"

#include "unit/pretraining/small_corpus.hpp"

#include <ATen/ATen.h>

#include <numeric>

using namespace bigbird;
using namespace bigbird::pretraining;
using namespace bigbird::testing;

namespace {

/// Twelve examples, every third cut short, so that block counts differ.
std::vector<corpus::Example> some_examples(bool nsp = true) {
    const corpus::ExampleSource source = small_source(nsp);
    std::vector<corpus::Example> examples;
    for (std::int64_t i = 0; i < 12; ++i) {
        examples.push_back(source.get(i));
        corpus::Example& example = examples.back();
        if (i % 3 == 0) {
            example.ids.resize(70);
            example.types.resize(70);
            while (!example.masked_positions.empty() && example.masked_positions.back() >= 70) {
                example.masked_positions.pop_back();
                example.masked_labels.pop_back();
            }
        }
    }
    return examples;
}

}  // namespace

DOCTEST_TEST_CASE(
    "mlm_batch: every example is in one micro-batch with its ids, labels and label of the pair") {
    const std::vector<corpus::Example> examples = some_examples();
    const GlobalBatch batch = make_global_batch(examples, small_corpus_config(), 256, at::kCPU);
    std::vector<int> seen(examples.size());
    std::int64_t tokens = 0;
    for (const MlmBatch& part : batch.parts) {
        const std::int64_t length = part.input.input_ids.size(1);
        DOCTEST_CHECK(part.input.input_ids.numel() <= 256);
        std::int64_t at = 0;
        for (std::size_t row = 0; row < part.examples.size(); ++row) {
            const corpus::Example& example = examples[part.examples[row]];
            ++seen[part.examples[row]];
            const auto r = static_cast<std::int64_t>(row);
            const auto size = static_cast<std::int64_t>(example.ids.size());
            DOCTEST_CHECK(part.input.attention_mask[r].sum().item<std::int64_t>() == size);
            DOCTEST_CHECK(
                at::equal(part.input.input_ids[r].narrow(0, 0, size), at::tensor(example.ids).to(at::kLong)));
            DOCTEST_CHECK(part.next_sentence[r].item<std::int64_t>() == example.next_sentence);
            for (std::size_t i = 0; i < example.masked_positions.size(); ++i, ++at) {
                DOCTEST_CHECK(part.positions[at].item<std::int64_t>() ==
                              r * length + example.masked_positions[i]);
                DOCTEST_CHECK(part.labels[at].item<std::int64_t>() == example.masked_labels[i]);
            }
            tokens += size;
        }
        DOCTEST_CHECK(part.positions.size(0) == at);
    }
    DOCTEST_CHECK(seen == std::vector<int>(examples.size(), 1));
    DOCTEST_CHECK(batch.parts.size() == 2 + 4);  // 4 of 80 tokens, three at once; 8 of 128, two at once
    DOCTEST_CHECK(batch.tokens == tokens);
    DOCTEST_CHECK(batch.sequences == 12);
    DOCTEST_CHECK(batch.padded_tokens == 4 * 80 + 8 * 128);
    DOCTEST_CHECK(batch.operations > 0);
}

DOCTEST_TEST_CASE("mlm_batch: an example's sample number does not depend on how the batch is cut") {
    const std::vector<corpus::Example> examples = some_examples();
    const auto numbers = [&](std::int64_t max_tokens) {
        std::vector<std::int64_t> sample(examples.size());
        for (const MlmBatch& part :
             make_global_batch(examples, small_corpus_config(), max_tokens, at::kCPU, 7).parts)
            for (std::size_t row = 0; row < part.examples.size(); ++row)
                sample[part.examples[row]] = part.samples[row];
        return sample;
    };
    std::vector<std::int64_t> from_7(examples.size());
    std::iota(from_7.begin(), from_7.end(), 7);
    DOCTEST_CHECK(numbers(256) == from_7);
    DOCTEST_CHECK(numbers(1) == numbers(100'000));
    DOCTEST_CHECK(numbers(300) == numbers(100'000));
}

DOCTEST_TEST_CASE("mlm_batch: without NSP there are no pair labels") {
    const GlobalBatch batch = make_global_batch(some_examples(false), small_corpus_config(), 512, at::kCPU);
    DOCTEST_CHECK_FALSE(batch.parts.front().next_sentence.defined());
}

DOCTEST_TEST_CASE("mlm_batch: positions are filled up to whole steps by the last one") {
    for (const std::int64_t count : {0, 1, 63, 64, 65, 200}) {
        const at::Tensor positions = at::arange(count, at::kLong), filled = with_whole_steps(positions);
        DOCTEST_CHECK(filled.size(0) % 64 == 0);
        DOCTEST_CHECK(filled.size(0) < count + 64);
        DOCTEST_CHECK(at::equal(filled.narrow(0, 0, count), positions));
        if (count > 0) DOCTEST_CHECK(filled.max().item<std::int64_t>() == count - 1);
    }
}
