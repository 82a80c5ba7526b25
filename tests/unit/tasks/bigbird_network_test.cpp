// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/bigbird_network.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/tasks/bin_examples.hpp"
#include "unit/tasks/labelled_genome.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/system/processor.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/batching.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

model::EncoderInput one_input(const model::BigBirdConfig& config, std::int64_t marked_begin = 0,
                              std::int64_t marked_end = 0) {
    model::TokenSequence sequence;
    sequence.ids = encode_window(random_dna(300, 3), small_tokenizer(), 512).ids;
    sequence.types.assign(sequence.ids.size(), 0);
    std::fill(sequence.types.begin() + marked_begin, sequence.types.begin() + marked_end, std::uint8_t{1});
    return model::make_input(std::vector{sequence}, config, at::kCPU);
}

const bins::Grid small_token_grid{.bin = 20, .window_bins = 8, .margin_bins = 2};

std::shared_ptr<BinNetwork> small_token_bins(std::uint64_t seed) {
    return bigbird_bins(tiny_network(head_of_bins(), seed), small_tokenizer(), small_token_grid, {});
}

/// The mean over the bases of a bin that some id spells of a one at that id, base by base.
std::vector<double> base_by_base(const EncodedWindow& window, std::int64_t bin) {
    const tokenizer::DnaTokenizer tokenizer = small_tokenizer();
    std::vector<double> sums(window.ids.size());
    double spelt = 0;
    std::int64_t base = window.first_base;
    for (std::size_t i = 0; i < window.ids.size(); ++i) {
        for (std::int32_t letter = 0; letter < tokenizer.piece_length(window.ids[i]); ++letter, ++base) {
            if (base / small_token_grid.bin != bin) continue;
            sums[i] += 1;
            spelt += 1;
        }
    }
    for (double& sum : sums)
        sum /= std::max(spelt, 1.0);
    return sums;
}

}  // namespace

DOCTEST_TEST_CASE("bigbird_network: means over all tokens, or over the marked ones") {
    auto network = tiny_network(tiny_config(2), 2);
    const at::NoGradGuard no_gradients;
    const auto input = one_input(network->config(), 20, 33);
    const at::Tensor hidden = network->encode(input).hidden;  // (1, length, hidden)
    const auto length = input.attention_mask.sum().item<std::int64_t>();
    const at::Tensor all = network->predict(hidden.slice(1, 0, length).mean(1, true));
    const at::Tensor marked = network->predict(hidden.slice(1, 20, 33).mean(1, true));
    DOCTEST_CHECK(difference(pooled_logits(network, input, Pooling::mean), all) < 1e-5);
    DOCTEST_CHECK(difference(pooled_logits(network, input, Pooling::centre), marked) < 1e-5);
    DOCTEST_CHECK(difference(pooled_logits(network, input, Pooling::cls), network->forward(input)) == 0);
    DOCTEST_CHECK(difference(all, marked) > 1e-3);
}

DOCTEST_TEST_CASE("bigbird_network: bfloat16 is near float32, and the head stays in float32") {
    auto network = tiny_network(tiny_config(2), 2);
    const at::NoGradGuard no_gradients;
    const auto input = one_input(network->config());
    const at::Tensor exact = pooled_logits(network, input, Pooling::cls);
    const at::Tensor rough = pooled_logits(network, input, Pooling::cls, {}, training::ComputeType::bf16);
    DOCTEST_CHECK((rough.scalar_type() == at::kFloat));
    DOCTEST_CHECK((difference(exact, rough) > 0) == has_bf16_instructions());
    DOCTEST_CHECK(difference(exact, rough) < 0.1);
}

DOCTEST_TEST_CASE("bigbird_network: the anchor's tokens are marked on either strand") {
    const auto tokenizer = small_tokenizer();
    const auto network = tiny_windows(tiny_config(1), 1, Pooling::centre, {-700, 300});
    const std::string dna = random_dna(1000, 5);
    const auto marked_text = [&](const EncodedWindow& window) {
        const std::vector<std::int32_t> ids(window.ids.begin() + window.marked_begin,
                                            window.ids.begin() + window.marked_end);
        return tokenizer.decode(ids);
    };
    const std::string forward = marked_text(network->encode(dna, false));
    DOCTEST_CHECK(holds(forward, dna.substr(600, 200)));
    DOCTEST_CHECK(forward.size() < 230);
    const std::string reverse = marked_text(network->encode(dna, true));
    DOCTEST_CHECK(holds(reverse, genome::reverse_complement(dna.substr(600, 200))));
    DOCTEST_CHECK(reverse.size() < 230);
    DOCTEST_CHECK(tiny_windows(tiny_config(1), 1)->encode(dna, false).marked_end == 0);
}

DOCTEST_TEST_CASE("bigbird_network: equal readings, and the parameters that are trained") {
    const auto cls = tiny_windows(tiny_config(1), 1), other = tiny_windows(tiny_config(1), 2);
    const auto centre = tiny_windows(tiny_config(1), 1, Pooling::centre);
    DOCTEST_CHECK(cls->encoding_key() == other->encoding_key());
    DOCTEST_CHECK(cls->encoding_key() != centre->encoding_key());
    model::BigBirdConfig linear = tiny_config(1);
    linear.classifier_head = "linear";
    const auto all = [](const TaskNetwork& network) { return network.module()->parameters().size(); };
    DOCTEST_CHECK(cls->trained_parameters().size() == all(*cls) - 2);  // without the pooler
    const auto with_pooler = tiny_windows(linear, 1);
    DOCTEST_CHECK(with_pooler->trained_parameters().size() == all(*with_pooler));
}

DOCTEST_TEST_CASE("bigbird_network: tokens are whole blocks within the positions") {
    model::BigBirdConfig config = tiny_config(1);
    config.max_position_embeddings = 130;
    config.pattern.block_size = 16;
    DOCTEST_CHECK(max_tokens(config) == 128);
}

DOCTEST_TEST_CASE("bigbird_network: the words of --pooling") {
    DOCTEST_CHECK(parse_choice(pooling_choices, "--pooling", "mean") == Pooling::mean);
    DOCTEST_CHECK(word_of(pooling_choices, Pooling::centre) == "centre");
    DOCTEST_CHECK(message_of<ConfigError>([] { parse_choice(pooling_choices, "--pooling", "max"); }) ==
                  "--pooling is cls, mean or centre, not 'max'");
}

DOCTEST_TEST_CASE("bigbird_network: bins, weights are the bases that an id spells of a bin, and sum to one") {
    std::string dna = random_dna(160, 3);
    dna.replace(0, 27, std::string(27, 'N'));  // bin 0 is left out, bin 1 begins late
    const auto network = small_token_bins(1);
    const EncodedWindow window = network->encode(dna);
    const auto ids = std::ssize(window.ids);
    const at::Tensor weights = bin_weights(token_spans(window, small_tokenizer()), small_token_grid, ids + 5);
    DOCTEST_REQUIRE(weights.sizes() == at::IntArrayRef{8, ids + 5});
    for (std::int64_t bin = 0; bin < 8; ++bin) {
        DOCTEST_CHECK(weights[bin].sum().item<double>() == doctest::Approx(bin == 0 ? 0 : 1));
        const std::vector<double> wanted = base_by_base(window, bin);
        for (std::int64_t i = 0; i < ids; ++i) {
            DOCTEST_CHECK(weights[bin][i].item<double>() ==
                          doctest::Approx(wanted[static_cast<std::size_t>(i)]));
        }
    }
}

DOCTEST_TEST_CASE("bigbird_network: bins, a bin's features are the mean of its bases' hidden states") {
    model::SequenceClassifier encoder = tiny_network(head_of_bins(), 1);
    const auto network = bigbird_bins(encoder, small_tokenizer(), small_token_grid, {});
    const EncodedWindow window = network->encode(random_dna(160, 4));
    const at::Tensor hidden =
        encoder
            ->encode(model::make_input(std::vector<model::TokenSequence>{{window.ids, {}}}, encoder->config(),
                                       at::kCPU))
            .hidden[0];
    const std::vector<double> wanted = base_by_base(window, 5);
    at::Tensor mean = at::zeros({hidden.size(1)});
    for (std::size_t i = 0; i < wanted.size(); ++i)
        mean += hidden[static_cast<std::int64_t>(i)] * wanted[i];
    const at::Tensor features = network->features(std::vector{window});
    DOCTEST_REQUIRE(features.sizes() == at::IntArrayRef{1, 8, hidden.size(1)});
    DOCTEST_CHECK(difference(features[0][5], mean) < 1e-5);
    DOCTEST_CHECK(difference(network->predict(features), encoder->predict(features)) < 1e-6);
}

DOCTEST_TEST_CASE(
    "bigbird_network: bins, windows of other lengths in a batch change nothing and keep their places") {
    const auto network = small_token_bins(2);
    std::vector<std::string> dna;
    for (std::uint64_t i = 0; i < 5; ++i) {
        dna.push_back(random_dna(160, i));
        dna.back().replace(0, 25 * i, std::string(25 * i, 'N'));  // fewer tokens, fewer blocks
    }
    dna.emplace_back(160, 'N');
    const at::Tensor all = logits_of(*network, dna);
    DOCTEST_REQUIRE(all.sizes() == at::IntArrayRef{6, 8, 2});
    for (std::size_t i = 0; i < dna.size(); ++i) {
        const at::Tensor alone = logits_of(*network, {dna[i]})[0];
        DOCTEST_CHECK(difference(all[static_cast<std::int64_t>(i)], alone) < 1e-5);
    }
    DOCTEST_CHECK(all.isfinite().all().item<bool>());
}

DOCTEST_TEST_CASE("bigbird_network: bins, dropout follows the window's sample, not its place") {
    const auto network = small_token_bins(2);
    network->module()->train();
    std::vector<EncodedWindow> windows;
    for (std::uint64_t i = 0; i < 3; ++i)
        windows.push_back(network->encode(random_dna(160 - 40 * static_cast<std::int64_t>(i), i) +
                                          std::string(40 * i, 'N')));
    const at::Tensor some = network->features(windows, {.seed = 1, .step = 2, .samples = {7, 8, 9}});
    const at::Tensor last =
        network->features(std::vector{windows[2]}, {.seed = 1, .step = 2, .samples = {9}});
    DOCTEST_CHECK(difference(some[2], last[0]) < 1e-5);
}

DOCTEST_TEST_CASE("bigbird_network: bins, what is written is loaded, and an encoder of others' use") {
    const TempDir folder;
    std::filesystem::create_directories(folder / "m");
    const auto network = small_token_bins(3);
    TaskInfo info;
    info.window = {-80, 80};
    network->write(info, folder / "m");
    write_labels(rows::LabelTable({{"TF", "a", -1}, {"TF", "b", -1}}), folder / "m");
    const ModelFolder model = open_model(folder / "m", examples::Task::chromatin, at::kCPU);
    DOCTEST_REQUIRE(model.bins() != nullptr);
    DOCTEST_CHECK(model.bins()->grid() == small_token_grid);
    const std::vector<std::string> dna{random_dna(160, 1)};
    DOCTEST_CHECK(at::equal(logits_of(*model.bins(), dna), logits_of(*network, dna)));
    DOCTEST_CHECK(read_json(folder / "m/config.json")["architectures"][0] == "BigBirdForBins");
    const auto copy = std::dynamic_pointer_cast<BinNetwork>(network->twin());
    copy->module()->eval();
    DOCTEST_CHECK(at::equal(logits_of(*copy, dna), logits_of(*network, dna)));
}

DOCTEST_TEST_CASE("bigbird_network: bins, as many bins fit as the densest sample allows") {
    const tokenizer::DnaTokenizer tokenizer = small_tokenizer();
    const std::vector<std::string> samples{random_dna(2000, 1), random_dna(2000, 2)};
    const auto densest =
        std::max(tokenizer.encode(samples[0]).size(), tokenizer.encode(samples[1]).size());  // in 100 bins
    const std::int64_t fitting =
        fitting_bins(samples, tokenizer, 20, static_cast<std::int64_t>(densest) / 2 + 3);
    DOCTEST_CHECK(fitting == 50);
    DOCTEST_CHECK_THROWS_AS(fitting_bins(samples, tokenizer, 20, 4), ConfigError);
    DOCTEST_CHECK_THROWS_AS(fitting_bins({}, tokenizer, 20, 512), InputError);
}

DOCTEST_TEST_CASE(
    "bigbird_network: tokens, the ids' spans spell the window, and counts are those of its bases") {
    const auto labeller = tiny_labeller(1);
    const std::string dna = "NNN" + random_dna(90, 2) + "NN";
    const EncodedWindow window = labeller->encode(dna);
    const std::vector<TokenSpan> spans = labeller->spans(window);
    DOCTEST_REQUIRE(spans.size() == window.ids.size());
    DOCTEST_CHECK(spans.front().begin == spans.front().end);  // [CLS]
    DOCTEST_CHECK(spans[1].begin == 3);
    DOCTEST_CHECK(spans.back().end == 93);
    std::vector<std::int32_t> labels(dna.size(), 0);
    for (std::size_t i = 20; i < 35; ++i)
        labels[i] = 2;
    labels[40] = -1;
    const at::Tensor counts = label_counts(spans, labels, 3, 64);
    DOCTEST_CHECK(counts.sizes() == at::IntArrayRef{64, 3});
    DOCTEST_CHECK(at::equal(counts.sum(0), at::tensor({74.0F, 0.0F, 15.0F})));
    for (std::size_t token = 0; token < spans.size(); ++token) {
        float wanted = 0;
        for (std::int64_t base = spans[token].begin; base < spans[token].end; ++base)
            wanted += labels[static_cast<std::size_t>(base)] == 2 ? 1.0F : 0.0F;
        DOCTEST_CHECK(counts[static_cast<std::int64_t>(token)][2].item<float>() == wanted);
    }
}

DOCTEST_TEST_CASE("bigbird_network: tokens, logits do not depend on what else is in the group") {
    const at::NoGradGuard no_gradients;
    const auto labeller = tiny_labeller(1);
    std::vector<EncodedWindow> windows;
    for (std::uint64_t i = 0; i < 4; ++i)
        windows.push_back(labeller->encode(random_dna(200 + static_cast<std::int64_t>(i), i)));
    windows.push_back(labeller->encode(std::string(50, 'N')));
    std::size_t seen = 0;
    for (const auto& group : labeller->group(windows, 1 << 20, model::GroupSizes::few)) {
        const at::Tensor together = labeller->logits(windows, group);
        for (std::size_t i = 0; i < group.size(); ++i) {
            const std::size_t alone[] = {group[i]};
            const auto length = std::ssize(windows[group[i]].ids);
            DOCTEST_CHECK(difference(together[static_cast<std::int64_t>(i)].narrow(0, 0, length),
                                     labeller->logits(windows, alone)[0].narrow(0, 0, length)) < 1e-5);
            ++seen;
        }
    }
    DOCTEST_CHECK(seen == windows.size());
    // Groups of one size: to the last bit.
    constexpr auto equal = model::GroupSizes::equal;
    const std::vector<EncodedWindow> first{windows[0]};
    const auto all = labeller->group(windows, 1 << 20, equal), one = labeller->group(first, 1 << 20, equal);
    for (const auto& group : all) {
        if (group[0] != 0) continue;
        DOCTEST_CHECK(group.size() == one[0].size());
        DOCTEST_CHECK(at::equal(labeller->logits(windows, group)[0], labeller->logits(first, one[0])[0]));
    }
}

DOCTEST_TEST_CASE("bigbird_network: a model of one token type cannot mark its anchor") {
    model::BigBirdConfig config = tiny_config(1);
    config.type_vocab_size = 1;
    DOCTEST_CHECK(
        message_of<ConfigError>([&] {
            bigbird_windows(tiny_network(config, 1), small_tokenizer(), Pooling::centre, {-700, 300}, {});
        }) == "--pooling centre needs two token types; the model has type_vocab_size 1");
}
