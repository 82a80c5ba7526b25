// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/describe.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/safetensors.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <sstream>

using namespace bigbird::model;
using namespace bigbird::testing;
using bigbird::InputError;
using bigbird::Json;

DOCTEST_TEST_CASE("describe: a model directory of transformers") {
    const Json json = describe(test_data("model/classifier"));
    DOCTEST_CHECK(json["kind"] == "model");
    DOCTEST_CHECK(json["architecture"] == "BigBirdForSequenceClassification");
    DOCTEST_CHECK(json["layers"] == 2);
    DOCTEST_CHECK(json["labels"] == 7);
    DOCTEST_CHECK(json["attention"]["block_size"] == 16);
    DOCTEST_CHECK(json["attention"]["full_up_to_tokens"] == 176);
    DOCTEST_CHECK(json["weights"]["type"] == "F32");
    // 90 words, 512 positions, 2 types of 32, LayerNorm; two layers without q, k, v biases; pooler; head of 7
    const int layer = 3 * 1024 + 1024 + 32 + 64 + 32 * 96 + 96 + 96 * 32 + 32 + 64;
    DOCTEST_CHECK(json["weights"]["parameters"] ==
                  (90 + 512 + 2) * 32 + 64 + 2 * layer + 1024 + 32 + 1024 + 32 + 7 * 32 + 7);
}

DOCTEST_TEST_CASE("describe: a Performer") {
    const TempDir folder;
    write_file(folder / "config.json", R"({"model_type": "bigbird_dna", "attention_type": "performer",
                                           "performer": {"features": 64, "redraw_every": 50, "redraw": 2}})");
    const Json json = describe(folder.path());
    DOCTEST_CHECK(json["attention"] == Json{{"type", "performer (random features)"},
                                            {"features", 64},
                                            {"kernel", "softmax"},
                                            {"orthogonal", true},
                                            {"redraw_every", 50},
                                            {"seed", 0},
                                            {"redraw", 2}});
}

DOCTEST_TEST_CASE("describe: a Longformer") {
    const Json json = describe(test_data("longformer/masked-lm"));
    DOCTEST_CHECK(json["architecture"] == "LongformerForMaskedLM");
    DOCTEST_CHECK(json["positions"] == 148);
    DOCTEST_CHECK(json["attention"] == Json{{"type", "longformer (windows and global tokens)"},
                                            {"block_size", 64},
                                            {"attention_window", {8, 16, 32}},
                                            {"global_tokens", "0 unless a global_attention_mask is given"}});
    DOCTEST_CHECK(describe(test_data("longformer/classifier"))["attention"]["global_tokens"] == 1);
    DOCTEST_CHECK(describe(test_data("longformer/bare"))["attention"]["attention_window"] == 24);
}

DOCTEST_TEST_CASE("describe: a baseline of finetune-*") {
    const TempDir folder;
    write_file(folder / "config.json",
               R"({"architectures": ["DeepSEA"], "model_type": "bigbird_dna_baseline", "num_labels": 4,
                   "bigbird_dna": {"task_model": {"architecture": "deepsea"}}})");
    std::filesystem::copy_file(test_data("model/classifier/model.safetensors"), folder / "model.safetensors");
    const Json json = describe(folder.path());
    DOCTEST_CHECK(json["architecture"] == "DeepSEA");
    DOCTEST_CHECK(json["labels"] == 4);
    DOCTEST_CHECK(json["weights"]["type"] == "F32");
    DOCTEST_CHECK(json["bigbird_dna"]["task_model"]["architecture"] == "deepsea");
    DOCTEST_CHECK_FALSE(json.contains("layers"));
}

DOCTEST_TEST_CASE("describe: which kind of tokenizer a file holds") {
    const TempDir folder;
    const auto type_of = [&](const std::string& text) {
        write_file(folder / "tokenizer.json", text);
        return describe(folder / "tokenizer.json")["type"].get<std::string>();
    };
    DOCTEST_CHECK(type_of(bigbird::tokenizer::kmer_tokenizer(1).serialized()) == "single bases");
    DOCTEST_CHECK(type_of(bigbird::tokenizer::kmer_tokenizer(4).serialized()) ==
                  "k-mers of 4 letters that do not overlap");
    DOCTEST_CHECK(type_of(read_file(test_data("tokenizer/hf/gena_like.json"))) ==
                  "byte-pair encoding of A C G T N (tokenizer.json)");
}

DOCTEST_TEST_CASE("describe: a tokenizer, by what sentencepiece says of it") {
    const Json json = describe(test_data("tokenizer/small.model"));
    DOCTEST_CHECK(json["kind"] == "tokenizer");
    DOCTEST_CHECK(json["pieces"] == 512);
    DOCTEST_CHECK(json["special_pieces"] == 5);
    std::size_t longest = 0;
    std::istringstream lines(read_file(test_data("tokenizer/small.vocab")));
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("[")) longest = std::max(longest, line.find('\t'));
    DOCTEST_CHECK(json["longest_piece"] == longest);
}

DOCTEST_TEST_CASE("describe: a safetensors file, and the same as text") {
    const Json json = describe(test_data("model/pretraining/model.safetensors"));
    DOCTEST_CHECK(json["contents"]["bert.pooler.weight"] == "F32 64x64");
    DOCTEST_CHECK(json["metadata"]["format"] == "pt");
    const std::string text = description_text(
        {{"kind", "model"}, {"layers", 2}, {"attention", {{"block_size", 16}, {"type", "full"}}}});
    DOCTEST_CHECK(text == "kind    model\nlayers  2\nattention\n  block_size  16\n  type        full\n");
}

DOCTEST_TEST_CASE("describe: other paths are refused") {
    const TempDir folder;
    write_file(folder / "notes.txt", "x");
    DOCTEST_CHECK(message_of<bigbird::InputError>([&] { describe(folder / "notes.txt"); }) ==
                  (folder / "notes.txt").string() +
                      ": is neither a model folder nor a .model, tokenizer.json or .safetensors file");
    DOCTEST_CHECK(message_of<bigbird::InputError>([&] { describe(folder / "none"); }) ==
                  (folder / "none").string() + ": no such file");
    DOCTEST_CHECK_THROWS_AS(describe(folder.path()), bigbird::InputError);
}

DOCTEST_TEST_CASE("describe: a configuration of other kinds of values is described, or an input error") {
    const TempDir folder;
    for (const char* architectures : {"7", "[]", "{}", "null", "\"x\""}) {
        write_file(folder / "config.json",
                   std::string(R"({"model_type": "big_bird", "architectures": )") + architectures + "}");
        DOCTEST_CHECK(describe(folder.path())["architecture"] == "not named");
        write_file(
            folder / "config.json",
            std::string(R"({"model_type": "bigbird_dna_bins", "architectures": )") + architectures + "}");
        DOCTEST_CHECK(describe(folder.path())["architecture"] == "not named");
    }
    write_file(folder / "config.json", R"({"model_type": 7})");
    DOCTEST_CHECK_THROWS_AS(describe(folder.path()), bigbird::InputError);
}

DOCTEST_TEST_CASE("describe: weights and tokenizers that are links to themselves are input errors") {
    namespace fs = std::filesystem;
    for (const char* name : {"model.safetensors", "tokenizer.model"}) {
        const TempDir folder;
        fs::copy(test_data("model/pretraining"), folder / "model");
        fs::remove(folder / "model" / name);
        fs::create_symlink(name, folder / "model" / name);
        DOCTEST_CHECK(message_of<bigbird::InputError>([&] { describe(folder / "model"); }) ==
                      (folder / "model" / name).string() +
                          ": cannot be read: Too many levels of symbolic links");
    }
}

DOCTEST_TEST_CASE("check_weights: a sound model is finite") {
    const bigbird::Json found = check_weights(test_data("model/pretraining"));
    DOCTEST_CHECK(found["finite"] == true);
    DOCTEST_CHECK(found["numbers"] == 149134);
}

DOCTEST_TEST_CASE("check_weights: NaN and infinity are found in every type, all tensors in one sentence") {
    const TempDir folder;
    const auto file = folder / "model.safetensors";
    for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
        const at::Tensor sound = at::full({3, 5}, 65'504.0).to(type);  // half's largest
        at::Tensor nan = at::zeros({7}, type), infinite = at::zeros({4}, type);
        nan[2] = std::nan("");
        infinite[0] = -HUGE_VAL;
        infinite[3] = HUGE_VAL;
        write_safetensors({{"sound", sound}, {"ids", at::full({2}, -1, at::kLong)}}, file);
        DOCTEST_CHECK(check_weights(file)["numbers"] == 17);
        write_safetensors({{"a", nan}, {"b", infinite}, {"sound", sound}}, file);
        DOCTEST_CHECK(
            message_of<InputError>([&] { check_weights(folder.path()); }) ==
            folder.path().string() +
                ": holds numbers that are NaN or infinite, in a (1 of 7), b (2 of 4): the training that "
                "made it went wrong, or the file is damaged");
    }
    std::filesystem::remove(file);
    DOCTEST_CHECK_THROWS_AS(check_weights(folder.path()), InputError);
}
