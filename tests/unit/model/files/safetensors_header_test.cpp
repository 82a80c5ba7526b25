// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/safetensors_header.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

using namespace bigbird::model;
using bigbird::InputError;
using bigbird::testing::message_of;
using bigbird::testing::TempDir;
using bigbird::testing::test_data;
using bigbird::testing::write_file;

namespace {

std::string file_of(const std::string& header, std::size_t data_bytes) {
    std::string file(8, '\0');
    for (std::size_t i = 0; i < 8; ++i)
        file[i] = static_cast<char>((header.size() >> (8 * i)) & 0xFF);
    return file + header + std::string(data_bytes, 'x');
}

std::string message_for(const std::string& content) {
    const TempDir folder;
    write_file(folder / "f.safetensors", content);
    const std::string message =
        message_of<InputError>([&] { read_safetensors_header(folder / "f.safetensors"); });
    return message.substr(message.find("f.safetensors: ") + 15);
}

std::string tensor(const std::string& type, const std::string& shape, const std::string& offsets) {
    return R"({"a":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

}  // namespace

DOCTEST_TEST_CASE("safetensors_header: a file of the format's own writer") {
    const SafetensorsHeader header =
        read_safetensors_header(test_data("model/pretraining/model.safetensors"));
    DOCTEST_CHECK(header.metadata.at("format") == "pt");
    const TensorEntry& words = header.tensors.at("bert.embeddings.word_embeddings.weight");
    DOCTEST_CHECK(words.type == "F32");
    DOCTEST_CHECK(words.shape == std::vector<std::int64_t>{300, 64});
    DOCTEST_CHECK(words.elements() == 300 * 64);
    DOCTEST_CHECK(header.tensors.size() == 5 + 3 * 16 + 2 + 7);
}

DOCTEST_TEST_CASE("safetensors_header: empty tensors and scalars are fine") {
    const TempDir folder;
    write_file(
        folder / "f",
        file_of(
            R"({"a":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]},"b":{"dtype":"I64","shape":[],"data_offsets":[0,8]}})",
            8));
    const SafetensorsHeader header = read_safetensors_header(folder / "f");
    DOCTEST_CHECK(header.tensors.at("a").elements() == 0);
    DOCTEST_CHECK(header.tensors.at("b").elements() == 1);
}

DOCTEST_TEST_CASE("safetensors_header: every kind of damage is named") {
    const std::string header = tensor("F32", "[4]", "[0,16]"), end = std::to_string(8 + header.size() + 16),
                      size = std::to_string(8 + header.size() + 10), none = "is not a safetensors file: ",
                      no_object = none + "its header is not a JSON object",
                      no_parts = "tensor 'a' needs a dtype, a shape and two data_offsets",
                      misfit = "tensor 'a' has data_offsets that do not fit its shape and type";
    const std::pair<std::string, std::string> cases[] = {
        {"", none + "it is shorter than 8 bytes"},
        {"<html><body>404</body></html>", none + "its first 8 bytes give no plausible header length"},
        {file_of("{}", 0).substr(0, 9), "is cut short: its header alone would need 10 bytes, the file has 9"},
        {file_of("{]", 0), no_object},
        {file_of("[1]", 0), no_object},
        {file_of(R"({"a":{}})", 0), no_parts},
        {file_of(R"({"a":7})", 0), no_parts},
        {file_of(tensor("F32", "[-1]", "[0,4]"), 4), no_parts},
        {file_of(tensor("F4", "[1]", "[0,4]"), 4), "tensor 'a' has the type F4, which cannot be read"},
        {file_of(tensor("F32", "[4294967296,4294967296]", "[0,4]"), 4), "tensor 'a' has an impossible shape"},
        {file_of(tensor("F32", "[2]", "[0,4]"), 8), misfit},
        {file_of(tensor("F32", "[1]", "[4,0]"), 8), misfit},
        {file_of(tensor("F32", "[1]", "[18446744073709551600,18446744073709551604]"), 8),
         "tensor 'a' has impossible data_offsets"},
        {file_of(tensor("F32", "[1]", "[4,8]"), 8), "is damaged: its tensors overlap or leave a gap"},
        {file_of(header, 10), "is cut short: " + end + " bytes are expected, the file has " + size},
        {file_of(header, 20), "is damaged: 4 bytes follow its last tensor"}};
    for (const auto& [content, message] : cases)
        DOCTEST_CHECK(message_for(content) == message);
}

DOCTEST_TEST_CASE("safetensors_header: a file changed at random is read or refused, never more") {
    const TempDir folder;
    const std::string whole = bigbird::testing::read_file(test_data("model/relu/model.safetensors"));
    const auto file = folder / "changed.safetensors";
    bigbird::Rng random = bigbird::Rng(7).split("fuzz");
    int refused = 0;
    for (int round = 0; round < 400; ++round) {
        std::string changed = whole;
        const auto anywhere = [&](std::size_t size) {
            return static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(size) - 1));
        };
        for (std::int64_t edits = random.between(1, 4); edits > 0; --edits) {
            // The header's length, its text, or the file's end.
            const std::int64_t kind = random.between(0, 9);
            const std::size_t place = kind == 0 ? anywhere(8) : 8 + anywhere(3000);
            if (kind == 1) changed.resize(anywhere(changed.size()));
            if (place < changed.size()) changed[place] = static_cast<char>(random.between(0, 255));
        }
        bigbird::testing::write_file(file, changed);
        try {
            const SafetensorsHeader header = read_safetensors_header(file);
            for (const auto& item : header.tensors) {
                DOCTEST_CHECK(item.second.begin <= item.second.end);
                DOCTEST_CHECK(item.second.end <= changed.size());
            }
        } catch (const InputError&) {
            ++refused;
        }
    }
    DOCTEST_CHECK(refused > 50);
}

DOCTEST_TEST_CASE("safetensors_header: a link to itself, a device and a missing file are input errors") {
    namespace fs = std::filesystem;
    const TempDir folder;
    const auto refusal = [&](const char* name) {
        const std::string text = message_of<InputError>([&] { read_safetensors_header(folder / name); });
        return text.substr(text.find(": ") + 2);
    };
    fs::create_symlink("loop.safetensors", folder / "loop.safetensors");
    fs::create_symlink("/dev/null", folder / "null.safetensors");
    fs::create_symlink("/dev/zero", folder / "zero.safetensors");
    DOCTEST_CHECK(refusal("loop.safetensors") == "cannot be read: Too many levels of symbolic links");
    DOCTEST_CHECK(refusal("null.safetensors") == "is a device, a file is needed");
    DOCTEST_CHECK(refusal("zero.safetensors") == "is a device, a file is needed");
    DOCTEST_CHECK(refusal("none.safetensors") == "no such file");
}
