// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/bigbird_windows.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/task_models/tiny_task.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/system/processor.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/batching.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using task_models::Pooling;

namespace {

model::EncoderInput one_input(const model::BigBirdConfig& config, std::int64_t marked_begin = 0,
                              std::int64_t marked_end = 0) {
    model::TokenSequence sequence;
    sequence.ids = task_models::encode_window(random_dna(300, 3), small_tokenizer(), 512).ids;
    sequence.types.assign(sequence.ids.size(), 0);
    std::fill(sequence.types.begin() + marked_begin, sequence.types.begin() + marked_end, std::uint8_t{1});
    return model::make_input(std::vector{sequence}, config, at::kCPU);
}

}  // namespace

DOCTEST_TEST_CASE("scoring/bigbird_windows: means over all tokens, or over the marked ones") {
    auto network = tiny_network(tiny_config(2), 2);
    const at::NoGradGuard no_gradients;
    const auto input = one_input(network->config(), 20, 33);
    const at::Tensor hidden = network->encode(input).hidden;  // (1, length, hidden)
    const auto length = input.attention_mask.sum().item<std::int64_t>();
    const at::Tensor all = network->predict(hidden.slice(1, 0, length).mean(1, true));
    const at::Tensor marked = network->predict(hidden.slice(1, 20, 33).mean(1, true));
    DOCTEST_CHECK(difference(task_models::pooled_logits(network, input, Pooling::mean), all) < 1e-5);
    DOCTEST_CHECK(difference(task_models::pooled_logits(network, input, Pooling::centre), marked) < 1e-5);
    DOCTEST_CHECK(
        difference(task_models::pooled_logits(network, input, Pooling::cls), network->forward(input)) == 0);
    DOCTEST_CHECK(difference(all, marked) > 1e-3);
}

DOCTEST_TEST_CASE("scoring/bigbird_windows: bfloat16 is near float32, and the head stays in float32") {
    auto network = tiny_network(tiny_config(2), 2);
    const at::NoGradGuard no_gradients;
    const auto input = one_input(network->config());
    const at::Tensor exact = task_models::pooled_logits(network, input, Pooling::cls);
    const at::Tensor rough =
        task_models::pooled_logits(network, input, Pooling::cls, {}, training::ComputeType::bf16);
    DOCTEST_CHECK((rough.scalar_type() == at::kFloat));
    DOCTEST_CHECK((difference(exact, rough) > 0) == has_bf16_instructions());
    DOCTEST_CHECK(difference(exact, rough) < 0.1);
}

DOCTEST_TEST_CASE("scoring/bigbird_windows: the anchor's tokens are marked on either strand") {
    const auto tokenizer = small_tokenizer();
    const auto network = tiny_windows(tiny_config(1), 1, {.pooling = Pooling::centre, .window = {-700, 300}});
    const std::string dna = random_dna(1000, 5);
    const auto marked_text = [&](const task_models::EncodedWindow& window) {
        const std::vector<std::int32_t> ids(window.ids.begin() + window.marked_begin,
                                            window.ids.begin() + window.marked_end);
        return tokenizer.decode(ids);
    };
    const std::string forward = marked_text(network->encode(dna, false));
    DOCTEST_CHECK(forward.find(dna.substr(600, 200)) != std::string::npos);
    DOCTEST_CHECK(forward.size() < 230);
    const std::string reverse = marked_text(network->encode(dna, true));
    DOCTEST_CHECK(reverse.find(genome::reverse_complement(dna.substr(600, 200))) != std::string::npos);
    DOCTEST_CHECK(reverse.size() < 230);
    DOCTEST_CHECK(tiny_windows(tiny_config(1), 1)->encode(dna, false).marked_end == 0);
}

DOCTEST_TEST_CASE("scoring/bigbird_windows: equal readings, and the parameters that are trained") {
    const auto cls = tiny_windows(tiny_config(1), 1), other = tiny_windows(tiny_config(1), 2);
    const auto centre = tiny_windows(tiny_config(1), 1, {.pooling = Pooling::centre});
    DOCTEST_CHECK(cls->encoding_key() == other->encoding_key());
    DOCTEST_CHECK(cls->encoding_key() != centre->encoding_key());
    model::BigBirdConfig linear = tiny_config(1);
    linear.classifier_head = "linear";
    const auto all = [](task_models::WindowNetwork& network) { return network.module().parameters().size(); };
    DOCTEST_CHECK(cls->trained_parameters().size() == all(*cls) - 2);  // without the pooler
    const auto with_pooler = tiny_windows(linear, 1);
    DOCTEST_CHECK(with_pooler->trained_parameters().size() == all(*with_pooler));
}

DOCTEST_TEST_CASE("scoring/bigbird_windows: tokens are whole blocks within the positions") {
    model::BigBirdConfig config = tiny_config(1);
    config.max_position_embeddings = 130;
    config.pattern.block_size = 16;
    DOCTEST_CHECK(task_models::max_tokens(config) == 128);
}

DOCTEST_TEST_CASE("scoring/bigbird_windows: the words of --pooling") {
    DOCTEST_CHECK(task_models::parse_pooling("mean") == Pooling::mean);
    DOCTEST_CHECK(task_models::to_string(Pooling::centre) == "centre");
    DOCTEST_CHECK(message_of<ConfigError>([] { task_models::parse_pooling("max"); }) ==
                  "--pooling is cls, mean or centre, not 'max'");
}
