// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/mlm_task.hpp"

#include "unit/pretraining/small_corpus.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/system/processor.hpp"
#include "bigbird/training/optimizer.hpp"

#include <ATen/ATen.h>

#include <numbers>
#include <sstream>

using namespace bigbird;
using namespace bigbird::training;
using namespace bigbird::pretraining;
using namespace bigbird::testing;

namespace {

struct Gradients {
    double loss = 0;
    std::map<std::string, double> metrics = {};
    std::map<std::string, at::Tensor> by_name = {};
};

/// The weights of small_network().
model::PreTrainingModel without_dropout() {
    model::BigBirdConfig config = small_corpus_config();
    config.hidden_dropout_prob = 0;
    config.initializer_range = 0.1;
    model::PreTrainingModel network(config);
    model::initialise(*network, config, 3);
    return network;
}

/// Whether gradients agree to rounding.
void check_close(const std::map<std::string, at::Tensor>& found,
                 const std::map<std::string, at::Tensor>& wanted) {
    for (const auto& [name, gradient] : wanted) {
        DOCTEST_INFO(name);
        DOCTEST_CHECK(at::allclose(found.at(name), gradient, 1e-4, 1e-6));
    }
}

Gradients gradients_of_step(std::int64_t step, const MlmTaskSpec& spec, bool nsp = true) {
    MlmTask task(small_network(), small_tokenizer(), small_source(nsp), std::nullopt, spec);
    const StepStats stats = task.accumulate(step);
    Gradients result{.loss = stats.loss.item<double>()};
    for (const auto& [name, value] : stats.metrics)
        result.metrics[name] = value.item<double>();
    for (const auto& item : task.module().named_parameters())
        result.by_name[item.key()] = item.value().grad();
    return result;
}

}  // namespace

DOCTEST_TEST_CASE(
    "mlm_task: the loss is that of its definition, computed example by example over the whole vocabulary") {
    const corpus::ExampleSource source = small_source();
    model::PreTrainingModel network = small_network();
    network->eval();  // no dropout
    const at::NoGradGuard no_gradients;
    const std::int64_t batch_size = 5, step = 3;
    double nats = 0, hidden_nats = 0, pair_nats = 0;
    std::int64_t masked = 0, hidden = 0, right = 0, bases = 0;
    const auto tokenizer = small_tokenizer();
    for (std::int64_t i = (step - 1) * batch_size; i < step * batch_size; ++i) {
        const std::vector<corpus::Example> one{source.get(i)};
        const GlobalBatch batch = make_global_batch(one, small_corpus_config(), 1, at::kCPU);
        const model::PreTrainingOutput out = network->forward(batch.parts[0].input);
        const at::Tensor log_p =
            at::log_softmax(out.prediction_logits[0].to(at::kDouble), -1);  // (length, vocab)
        for (std::size_t m = 0; m < one[0].masked_positions.size(); ++m, ++masked) {
            const at::Tensor row = log_p[one[0].masked_positions[m]];
            const double nat = -row[one[0].masked_labels[m]].item<double>();
            nats += nat;
            if (one[0].ids[static_cast<std::size_t>(one[0].masked_positions[m])] !=
                tokenizer.special_ids().mask)
                continue;  // as it was, or random: the network sees a token there
            hidden_nats += nat;
            ++hidden;
            bases += tokenizer.piece_length(one[0].masked_labels[m]);
            right += row.argmax().item<std::int64_t>() == one[0].masked_labels[m] ? 1 : 0;
        }
        pair_nats -= at::log_softmax(out.seq_relationship_logits[0].to(at::kDouble), -1)[one[0].next_sentence]
                         .item<double>();
    }
    const at::AutoGradMode with_gradients(true);
    MlmTask task(without_dropout(), small_tokenizer(), source, std::nullopt,
                 {{.batch_size = batch_size}, 256});
    const StepStats stats = task.accumulate(step);
    const double mlm = nats / static_cast<double>(masked), nsp = pair_nats / static_cast<double>(batch_size);
    DOCTEST_CHECK(stats.loss.item<double>() == doctest::Approx(mlm + nsp).epsilon(1e-5));
    DOCTEST_CHECK(stats.metrics[0].second.item<double>() == doctest::Approx(mlm).epsilon(1e-5));
    DOCTEST_CHECK(stats.metrics[1].second.item<double>() ==
                  doctest::Approx(static_cast<double>(right) / static_cast<double>(hidden)));
    DOCTEST_CHECK(hidden < masked);
    DOCTEST_CHECK(stats.metrics[3].second.item<double>() == doctest::Approx(nsp).epsilon(1e-5));
    DOCTEST_CHECK(stats.sequences == batch_size);
    const auto bits = task.accumulate(step).metrics[2];
    DOCTEST_CHECK(bits.first == "bits_per_character");
    DOCTEST_CHECK(
        bits.second.item<double>() ==
        doctest::Approx(hidden_nats / std::numbers::ln2 / static_cast<double>(bases)).epsilon(1e-5));
}

DOCTEST_TEST_CASE("mlm_task: micro-batches give the gradients of the whole batch, dropout included") {
    const Gradients whole = gradients_of_step(2, {{.batch_size = 6, .seed = 9}, 100'000});
    for (const std::int64_t tokens : {1, 256, 384}) {
        const Gradients cut = gradients_of_step(2, {{.batch_size = 6, .seed = 9}, tokens});
        DOCTEST_CHECK(cut.loss == doctest::Approx(whole.loss).epsilon(1e-6));
        check_close(cut.by_name, whole.by_name);
    }
    const Gradients other = gradients_of_step(2, {{.batch_size = 6, .seed = 10}, 100'000});
    DOCTEST_CHECK(other.loss != whole.loss);  // other dropout masks
}

DOCTEST_TEST_CASE("mlm_task: recomputing the layers changes neither loss nor gradients") {
    for (const ComputeType compute : {ComputeType::fp32, ComputeType::bf16}) {
        MlmTaskSpec spec{{.batch_size = 3, .seed = 9}};
        spec.compute = compute;
        const Gradients kept = gradients_of_step(2, spec);
        spec.recompute = true;
        const Gradients again = gradients_of_step(2, spec);
        DOCTEST_CHECK(again.loss == kept.loss);
        for (const auto& [name, gradient] : kept.by_name) {
            DOCTEST_INFO(name);
            const double apart = (again.by_name.at(name) - gradient).norm().item<double>();
            // In bfloat16 the gradients of a layer's input are added up in another order.
            const double rounding = compute == ComputeType::bf16 ? 1e-2 : 1e-6;
            // A key's bias moves all of a query's scores alike, so that its own gradient is rounding alone.
            std::string measured_by = name;
            if (const auto at = name.find("key.bias"); at != std::string::npos)
                measured_by.replace(at, 3, "query");
            DOCTEST_CHECK(apart <= rounding * kept.by_name.at(measured_by).norm().item<double>());
        }
    }
}

DOCTEST_TEST_CASE("mlm_task: packed projections give the gradients of three, whole, cut and recomputed") {
    const Gradients wanted = gradients_of_step(2, {{.batch_size = 6, .seed = 9}});
    for (const bool recompute : {false, true}) {
        for (const std::int64_t tokens : {256, 100'000}) {
            MlmTaskSpec spec{{.batch_size = 6, .seed = 9, .recompute = recompute}, tokens};
            spec.packed_projections = true;
            const Gradients found = gradients_of_step(2, spec);
            DOCTEST_CHECK(found.loss == doctest::Approx(wanted.loss).epsilon(1e-6));
            check_close(found.by_name, wanted.by_name);
        }
    }
}

DOCTEST_TEST_CASE(
    "mlm_task: a Performer's features change after every so many steps, and a restored task evaluates with "
    "its own") {
    const auto task_of = [](std::int64_t redraw_every) {
        model::BigBirdConfig config = small_corpus_config();
        config.initializer_range = 0.3;
        config.performer = {.features = 16, .redraw_every = redraw_every, .seed = 2, .redraw = 5};
        model::PreTrainingModel network(config);
        model::initialise(*network, config, 3);
        return std::make_unique<MlmTask>(network, small_tokenizer(), small_source(), small_source(),
                                         MlmTaskSpec{{.batch_size = 2, .evaluation_sequences = 2}});
    };
    const auto often = task_of(2), never = task_of(0);
    std::vector<std::int64_t> draws;
    for (const std::int64_t step : {1, 2, 3, 4, 5}) {
        const double found = often->accumulate(step).loss.item<double>(),
                     fixed = never->accumulate(step).loss.item<double>();
        DOCTEST_CHECK((found == fixed) == (step <= 2));  // the weights stay as they are
        draws.push_back(often->state()["redraw"].get<std::int64_t>());
    }
    DOCTEST_CHECK(draws == std::vector<std::int64_t>{5, 5, 6, 6, 7});
    const auto resumed = task_of(2);
    DOCTEST_CHECK(resumed->evaluate() != often->evaluate());
    resumed->restore(often->state());
    DOCTEST_CHECK(resumed->evaluate() == often->evaluate());
    DOCTEST_CHECK(
        MlmTask(small_network(), small_tokenizer(), small_source(), std::nullopt, {{.batch_size = 2}})
            .state()
            .empty());
}

DOCTEST_TEST_CASE("mlm_task: a step's gradients follow from its number alone") {
    MlmTask task(small_network(), small_tokenizer(), small_source(), std::nullopt, {{.batch_size = 4}});
    Optimizer nothing(task.module(), {});
    for (const std::int64_t step : {1, 2, 3}) {
        nothing.zero_gradients();
        task.accumulate(step);
    }
    const Gradients alone = gradients_of_step(3, {{.batch_size = 4}});
    for (const auto& item : task.module().named_parameters()) {
        DOCTEST_INFO(item.key());
        DOCTEST_CHECK(at::equal(item.value().grad(), alone.by_name.at(item.key())));
    }
}

DOCTEST_TEST_CASE("mlm_task: soft-masked tokens count by --repeat-weight, in any micro-batches") {
    std::vector<corpus::Document> documents(2);
    std::istringstream lines(read_file(test_data("tokenizer/sentences.txt")));
    for (std::string line; std::getline(lines, line);) {
        for (std::size_t i = 0; i < line.size() / 3; ++i)
            line[i] += 'a' - 'A';
        documents[0].sentences.push_back(line);
    }
    documents[1] = documents[0];
    auto next = documents.begin();
    const auto stream = [&] { return next != documents.end() ? std::optional(*next++) : std::nullopt; };
    const corpus::TokenCorpus marked = corpus::TokenCorpus::from_documents(stream, small_tokenizer(), 1);
    const corpus::ExampleSource source(marked, small_tokenizer(), {.sequence_length = 128, .nsp = false});
    model::PreTrainingModel network = small_network();
    network->eval();
    double nats = 0, repeat_nats = 0, tokens = 0, repeats = 0;
    for (std::int64_t i = 0; i < 4; ++i) {
        const at::NoGradGuard no_gradients;
        const std::vector<corpus::Example> one{source.get(i)};
        const GlobalBatch batch = make_global_batch(one, small_corpus_config(), 1, at::kCPU);
        const at::Tensor log_p =
            at::log_softmax(network->forward(batch.parts[0].input).prediction_logits[0], -1);
        for (std::size_t m = 0; m < one[0].masked_positions.size(); ++m) {
            const double nat = -log_p[one[0].masked_positions[m]][one[0].masked_labels[m]].item<double>();
            (one[0].masked_repeats[m] != 0 ? repeat_nats : nats) += nat;
            (one[0].masked_repeats[m] != 0 ? repeats : tokens) += 1;
        }
    }
    DOCTEST_REQUIRE(repeats > 10);
    DOCTEST_REQUIRE(tokens > repeats);
    for (const double weight : {1.0, 0.25, 0.0}) {
        for (const std::int64_t at_once : {1, 100'000}) {
            MlmTask task(without_dropout(), small_tokenizer(), source, std::nullopt,
                         {{.batch_size = 4, .repeat_weight = weight}, at_once});
            DOCTEST_CHECK(
                task.accumulate(1).loss.item<double>() ==
                doctest::Approx((nats + weight * repeat_nats) / (tokens + weight * repeats)).epsilon(1e-5));
        }
    }
    DOCTEST_CHECK_THROWS_WITH_AS(MlmTask(small_network(), small_tokenizer(), small_source(), std::nullopt,
                                         {{.batch_size = 2, .repeat_weight = 0.5}}),
                                 doctest::Contains("--repeat-weight needs repeats in lower case"),
                                 ConfigError);
}

DOCTEST_TEST_CASE("mlm_task: without NSP only masked tokens count") {
    const Gradients result = gradients_of_step(1, {{.batch_size = 4}}, false);
    DOCTEST_CHECK_FALSE(result.metrics.contains("nsp_loss"));
    DOCTEST_CHECK(result.loss == result.metrics.at("mlm_loss"));
    DOCTEST_CHECK_FALSE(result.by_name.at("cls.seq_relationship.weight").defined());
}

DOCTEST_TEST_CASE("mlm_task: bfloat16 gives about the same loss") {
    const Gradients full = gradients_of_step(1, {{.batch_size = 4}});
    MlmTaskSpec spec{{.batch_size = 4}};
    spec.compute = ComputeType::bf16;
    const Gradients half = gradients_of_step(1, spec);
    DOCTEST_CHECK(half.loss == doctest::Approx(full.loss).epsilon(0.01));
    DOCTEST_CHECK((half.loss != full.loss) == has_bf16_instructions());
    DOCTEST_CHECK((half.by_name.at("bert.pooler.weight").scalar_type() == at::kFloat));
}

DOCTEST_TEST_CASE("mlm_task: evaluation scores the held-out examples and leaves the network alone") {
    MlmTask task(small_network(), small_tokenizer(), small_source(),
                 small_source(true, {.mask = 1, .random = 0}),
                 {{.batch_size = 4, .evaluation_sequences = 10}});
    const Json first = task.evaluate();
    DOCTEST_CHECK(first == task.evaluate());
    DOCTEST_CHECK(first["eval_loss"].get<double>() == doctest::Approx(first["eval_mlm_loss"].get<double>() +
                                                                      first["eval_nsp_loss"].get<double>()));
    DOCTEST_CHECK(first["eval_bits_per_character"].get<double>() > 0);
    MlmTask none(small_network(), small_tokenizer(), small_source(), std::nullopt, {});
    DOCTEST_CHECK(none.evaluate().empty());
}
