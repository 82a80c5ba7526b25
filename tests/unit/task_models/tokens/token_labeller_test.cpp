// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/tokens/token_labeller.hpp"

#include "support/tensors.hpp"
#include "unit/task_models/tokens/labelled_genome.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/model_directory.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

namespace {

void write_labeller(const std::filesystem::path& directory, const TokensInfo& info) {
    std::filesystem::create_directories(directory);
    const tokenizer::DnaTokenizer tokenizer = small_tokenizer();
    model::write_model(tiny_network(tiny_labeller_config(), 3), &tokenizer, directory,
                       {{"task_model", to_json(info)}});
    write_file(directory / "labels.tsv", tiny_labels().to_text());
}

}  // namespace

DOCTEST_TEST_CASE("token_labeller: the ids' spans spell the window, and counts are those of its bases") {
    const auto labeller = tiny_labeller(1);
    const std::string dna = "NNN" + random_dna(90, 2) + "NN";
    const EncodedWindow window = labeller->encode(dna);
    const std::vector<TokenSpan> spans = token_spans(window, labeller->tokenizer());
    DOCTEST_REQUIRE(spans.size() == window.ids.size());
    DOCTEST_CHECK(spans.front().begin == spans.front().end);  // [CLS]
    DOCTEST_CHECK(spans[1].begin == 3);
    DOCTEST_CHECK(spans.back().end == 93);
    std::vector<std::int32_t> labels(dna.size(), 0);
    for (std::size_t i = 20; i < 35; ++i)
        labels[i] = 2;
    labels[40] = -1;
    const at::Tensor counts = label_counts(window, labeller->tokenizer(), labels, 3, 64);
    DOCTEST_CHECK(counts.sizes() == at::IntArrayRef{64, 3});
    DOCTEST_CHECK(at::equal(counts.sum(0), at::tensor({74.0F, 0.0F, 15.0F})));
    for (std::size_t token = 0; token < spans.size(); ++token) {
        float wanted = 0;
        for (std::int64_t base = spans[token].begin; base < spans[token].end; ++base)
            wanted += labels[static_cast<std::size_t>(base)] == 2 ? 1.0F : 0.0F;
        DOCTEST_CHECK(counts[static_cast<std::int64_t>(token)][2].item<float>() == wanted);
    }
}

DOCTEST_TEST_CASE("token_labeller: logits do not depend on what else is in the group") {
    const at::NoGradGuard no_gradients;
    const auto labeller = tiny_labeller(1);
    std::vector<EncodedWindow> windows;
    for (std::uint64_t i = 0; i < 4; ++i)
        windows.push_back(labeller->encode(random_dna(200 + static_cast<std::int64_t>(i), i)));
    windows.push_back(labeller->encode(std::string(50, 'N')));
    std::size_t seen = 0;
    for (const auto& group : labeller->group(windows, 1 << 20)) {
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
}

DOCTEST_TEST_CASE("token_labeller: a model is loaded with its windows and labels") {
    const TempDir folder;
    write_labeller(folder / "m", {.window = 200, .margin = 25, .contigs = {{"c", 10}}});
    const LoadedLabeller loaded = load_labeller(folder / "m", at::kCPU, {});
    DOCTEST_CHECK(loaded.info.core() == 150);
    DOCTEST_CHECK(loaded.info.contigs.size() == 1);
    DOCTEST_CHECK(loaded.labels[1].name == "motif");
    DOCTEST_CHECK(loaded.labeller->labels() == 3);
    DOCTEST_CHECK(model::read_architecture(folder / "m") == "BigBirdForTokenClassification");
}

DOCTEST_TEST_CASE("token_labeller: what is no model of tokens is refused") {
    const TempDir folder;
    const auto refusal = [&](const std::filesystem::path& path) {
        return message_of<InputError>([&] { load_labeller(path, at::kCPU, {}); });
    };
    write_tiny_pretrained(folder / "p", 1);
    DOCTEST_CHECK(refusal(folder / "p") == (folder / "p" / "config.json").string() +
                                               ": is no model of tokens: finetune-tokens makes one");
    write_labeller(folder / "m", {.window = 200, .margin = 100});
    DOCTEST_CHECK(refusal(folder / "m") ==
                  (folder / "m" / "config.json").string() + ": has a window without bases");
    for (const std::int64_t margin : {std::int64_t{-1}, std::int64_t{1} << 62}) {
        DOCTEST_CAPTURE(margin);
        write_labeller(folder / "m", {.window = 200, .margin = margin});
        DOCTEST_CHECK(refusal(folder / "m").ends_with(": has a window without bases"));
    }
    write_labeller(folder / "m", {.window = std::int64_t{1} << 40, .margin = 10});
    DOCTEST_CHECK(refusal(folder / "m").ends_with(": has a window of more than 2^24 bases"));
    write_labeller(folder / "n", {.window = 200, .margin = 10});
    write_file(folder / "n" / "labels.tsv", rows::LabelTable({{".", "none", -1}}).to_text());
    DOCTEST_CHECK(refusal(folder / "n") ==
                  (folder / "n" / "labels.tsv").string() +
                      ": has 1 labels, but the network gives 3; restore the file that belongs to it");
}
