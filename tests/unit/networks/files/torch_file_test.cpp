// SPDX-License-Identifier: Apache-2.0
// Files of torch.save(), made here byte by byte: what is read, and what is refused.
#include "bigbird/networks/files/torch_file.hpp"

#include "small_zip.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/networks/files/profile_model.hpp"

#include <cmath>
#include <filesystem>

using namespace bigbird;
using namespace bigbird::testing;
using namespace std::string_literals;
using networks::TorchFile;
namespace fs = std::filesystem;

namespace {

// ---- opcodes of pickles
std::string byte(std::size_t value) {
    return {static_cast<char>(value)};
}
std::string text(const std::string& value) {
    return "X" + little_endian_bytes(value.size(), 4) + value;
}
std::string number(std::size_t value) {
    return "J" + little_endian_bytes(value, 4);
}
std::string global(const std::string& module, const std::string& name) {
    return "c" + module + "\n" + name + "\n";
}
std::string tuple(const std::vector<std::string>& items) {
    std::string all = "(";
    for (const std::string& item : items)
        all += item;
    return all + "t";
}
std::string numbers(const std::vector<std::size_t>& values) {
    std::vector<std::string> items;
    for (const std::size_t value : values)
        items.push_back(number(value));
    return tuple(items);
}
std::string dictionary(const std::vector<std::pair<std::string, std::string>>& items) {
    std::string all = "}(";
    for (const auto& [key, value] : items)
        all += text(key) + value;
    return all + "u";
}
std::string call(const std::string& function, const std::string& arguments) {
    return function + arguments + "R";
}
std::string storage(const std::string& type, const std::string& key, std::size_t count) {
    return tuple({text("storage"), global("torch", type), text(key), text("cpu"), number(count)}) + "Q";
}
std::string tensor(const std::string& of, std::size_t offset, const std::vector<std::size_t>& shape,
                   const std::vector<std::size_t>& strides) {
    return call(global("torch._utils", "_rebuild_tensor_v2"),
                tuple({of, number(offset), numbers(shape), numbers(strides), "\x89",
                       call(global("collections", "OrderedDict"), ")")}));
}
std::string pickled(const std::string& object) {
    return "\x80\x02" + object + ".";
}

/// A file with one storage, of float32 unless its bytes are given.
class MadeFile {
public:
    explicit MadeFile(const std::string& object, std::string content = {}) {
        if (content.empty())
            for (int i = 0; i < 12; ++i) {
                const auto value = static_cast<float>(i);
                content.append(reinterpret_cast<const char*>(&value), sizeof value);
            }
        write_file(path(), small_zip({{"x/data.pkl", pickled(object)},
                                      {"x/byteorder", "little"},
                                      {"x/data/0", content},
                                      {"x/version", "3\n"}}));
    }
    fs::path path() const { return folder_ / "x.torch"; }
    std::string refusal() const {
        const std::string message = message_of<InputError>([&] { TorchFile{path()}; });
        DOCTEST_CHECK(message.starts_with(path().string() + ": "));
        return message;
    }

private:
    TempDir folder_;
};

const std::string twelve = storage("FloatStorage", "0", 12);

}  // namespace

DOCTEST_TEST_CASE("torch_file: views of a shared storage, by name") {
    const MadeFile made(
        dictionary({{"a", tensor(twelve, 0, {3, 4}, {4, 1})},
                    {"turned", tensor(twelve, 0, {4, 3}, {1, 4})},
                    {"deep", dictionary({{"part", tensor(twelve, 5, {2}, {3})}, {"n", number(7)}})},
                    {"scalar", tensor(twelve, 11, {}, {})},
                    {"empty", tensor(twelve, 0, {0, 4}, {4, 1})}}));
    const TorchFile file(made.path());
    DOCTEST_CHECK(file.tensors().size() == 5);
    DOCTEST_CHECK(file.tensors().at("a").floats() ==
                  std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    DOCTEST_CHECK(file.tensors().at("turned").floats() ==
                  std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    DOCTEST_CHECK(file.tensors().at("deep.part").floats() == std::vector<float>{5, 8});
    DOCTEST_CHECK(file.tensors().at("scalar").floats() == std::vector<float>{11});
    DOCTEST_CHECK(file.tensors().at("empty").floats().empty());
    DOCTEST_CHECK(file.tensors().at("deep.part").bytes().size() == 8);
    DOCTEST_CHECK(file.values()["deep"]["n"] == 7);
}

DOCTEST_TEST_CASE("torch_file: the records of archives over 4 GB") {
    const TempDir folder;
    const std::string content = small_zip(
        {{"x/data.pkl", pickled(dictionary({{"a", tensor(storage("FloatStorage", "0", 1), 0, {1}, {1})}}))},
         {"x/data/0", "\x00\x00\x80\x3f"s}},
        0, true);
    write_file(folder / "x.torch", content);
    DOCTEST_CHECK(TorchFile(folder / "x.torch").tensors().at("a").floats() == std::vector<float>{1});
    for (std::size_t cut = 1; cut < content.size(); cut += 7) {  // another byte of each record is wrong
        std::string changed = content;
        changed[changed.size() - cut] = '\x7f';
        write_file(folder / "x.torch", changed);
        try {
            TorchFile{folder / "x.torch"};
        } catch (const InputError&) {
        }
    }
}

DOCTEST_TEST_CASE("torch_file: half precision, by known bits") {
    const std::string halves = "\x00\x3c\x00\xc0\x01\x00\x00\x7c\x55\x35\xff\x7b"s;
    const MadeFile half(dictionary({{"a", tensor(storage("HalfStorage", "0", 6), 0, {6}, {1})}}), halves);
    const auto values = TorchFile(half.path()).tensors().at("a").floats();
    DOCTEST_CHECK(values[0] == 1.0F);
    DOCTEST_CHECK(values[1] == -2.0F);
    DOCTEST_CHECK(values[2] == 5.9604645e-8F);
    DOCTEST_CHECK(std::isinf(values[3]));
    DOCTEST_CHECK(values[4] == 0.33325195F);
    DOCTEST_CHECK(values[5] == 65504.0F);
    const MadeFile brain(dictionary({{"a", tensor(storage("BFloat16Storage", "0", 2), 0, {2}, {1})}}),
                         "\x80\x3f\x40\xc0"s);
    DOCTEST_CHECK(TorchFile(brain.path()).tensors().at("a").floats() == std::vector<float>{1, -3});
    const MadeFile whole(dictionary({{"a", tensor(storage("LongStorage", "0", 1), 0, {1}, {1})}}),
                         "12345678");
    const TorchFile file(whole.path());
    DOCTEST_CHECK(file.tensors().at("a").type == "I64");
    DOCTEST_CHECK(file.tensors().at("a").bytes() == "12345678");
    message_of<ConfigError>([&] { file.tensors().at("a").floats(); });
}

DOCTEST_TEST_CASE("torch_file: tensors beyond their storage are refused") {
    const auto refused = [](const std::string& object) {
        return MadeFile(dictionary({{"a", object}})).refusal();
    };
    const std::string larger = "a tensor is larger than its storage";
    DOCTEST_CHECK(holds(refused(tensor(twelve, 1, {12}, {1})), larger));
    DOCTEST_CHECK(holds(refused(tensor(twelve, 0, {2, 2}, {12, 1})), larger));
    DOCTEST_CHECK(holds(refused(tensor(twelve, 12, {}, {})), larger));
    DOCTEST_CHECK(holds(refused(tensor(twelve, 0, {13}, {0})), larger));
    DOCTEST_CHECK(
        holds(refused(tensor(twelve, 0, {2'000'000'000, 2'000'000'000, 2'000'000'000}, {0, 0, 0})), larger));
    DOCTEST_CHECK(holds(refused(tensor(twelve, 0, {2, 2}, {2'000'000'000, 2'000'000'000})), larger));
    DOCTEST_CHECK(holds(refused(tensor(twelve, 0, {3}, {1, 1})), "strides"));
    DOCTEST_CHECK(holds(refused(tensor(twelve, 0, {4'000'000'000}, {1})), "shape"));  // negative as 32 bits
    DOCTEST_CHECK(holds(refused(tensor(storage("FloatStorage", "0", 11), 0, {1}, {1})), "another size"));
    DOCTEST_CHECK(
        holds(refused(tensor(storage("FloatStorage", "1", 12), 0, {1}, {1})), "lacks its part 'x/data/1'"));
    DOCTEST_CHECK(
        holds(refused(tensor(storage("QInt8Storage", "0", 48), 0, {1}, {1})), "torch.QInt8Storage"));
    DOCTEST_CHECK(holds(refused(tensor(number(3), 0, {1}, {1})), "no storage"));
    DOCTEST_CHECK(holds(refused(call(global("torch._utils", "_rebuild_tensor_v2"), number(1))), "no shape"));
}

DOCTEST_TEST_CASE("torch_file: calls that a pickle asks for are not made") {
    const TempDir folder;
    const fs::path proof = folder / "proof";
    const std::string touch = call(global("os", "system"), tuple({text("touch " + proof.string())})),
                      open_it = call(global("builtins", "open"), tuple({text(proof.string()), text("w")}));
    const MadeFile hostile(dictionary({{"a", touch}, {"b", open_it}, {"c", tensor(twelve, 0, {1}, {1})}}));
    const TorchFile file(hostile.path());
    DOCTEST_CHECK(file.tensors().size() == 1);
    DOCTEST_CHECK(file.values() == Json::object());
    DOCTEST_CHECK(!fs::exists(proof));
    const MadeFile alone(touch);
    DOCTEST_CHECK(
        holds(message_of<InputError>([&] { networks::read_profile_model(alone.path()); }), "no tensors"));
    DOCTEST_CHECK(!fs::exists(proof));
}

DOCTEST_TEST_CASE("torch_file: weights of bpnet-lite alone do not say what their network is") {
    const MadeFile made(dictionary({{"iconv.weight", tensor(twelve, 0, {1, 4, 3}, {12, 3, 1})}}));
    DOCTEST_CHECK(
        holds(message_of<InputError>([&] { networks::read_profile_model(made.path()); }), "weights alone"));
}

DOCTEST_TEST_CASE("torch_file: objects that hold themselves, nest without end, or multiply") {
    DOCTEST_CHECK(holds(MadeFile("]q\x01"
                                 "h\x01"
                                 "a")
                            .refusal(),
                        "nested too deeply"));
    std::string deep;
    for (int i = 0; i < 100'000; ++i)
        deep += "]";
    for (int i = 1; i < 100'000; ++i)
        deep += "a";
    DOCTEST_CHECK(holds(MadeFile(deep).refusal(), "nested too deeply"));
    std::string many = "]q" + byte(0);  // 16^15 lists
    for (std::size_t level = 1; level < 16; ++level) {
        many += "](";
        for (int i = 0; i < 16; ++i)
            many += "h" + byte(level - 1);
        many += "eq" + byte(level);
    }
    DOCTEST_CHECK(holds(MadeFile(many).refusal(), "too many objects"));
}

DOCTEST_TEST_CASE("torch_file: pickles that are damaged") {
    for (const std::string& object : {"a"s, "h\x05"s, "u"s, "t"s, "R"s, "X\xff\xff\xff\x7f"s, "cos"s, "Q"s,
                                      "b"s, "(((0"s, "\x8e\xff\xff\xff\xff\xff\xff\xff\xff"s, "i"s, ""s})
        DOCTEST_CHECK(holds(MadeFile(object).refusal(), "its pickle cannot be read"));
}

DOCTEST_TEST_CASE("torch_file: archives that are damaged, or of another kind") {
    const TempDir folder;
    const fs::path path = folder / "x.torch";
    const auto refused = [&](const std::string& content) {
        write_file(path, content);
        return message_of<InputError>([&] { networks::read_profile_model(path); });
    };
    const std::string whole = read_file(test_data("models/profiles/cherimoya.torch"));
    for (const std::size_t size :
         {std::size_t{4}, std::size_t{21}, whole.size() / 2, whole.size() - 1, whole.size() - 30})
        DOCTEST_CHECK(holds(refused(whole.substr(0, size)), "is damaged"));
    DOCTEST_CHECK(holds(refused(small_zip({{"x/data.pkl", "."}, {"x/code/m.py", ""}})), "TorchScript"));
    DOCTEST_CHECK(holds(refused(small_zip({{"config.json", "{}"}, {"model.weights.h5", "."}})), "(.keras)"));
    DOCTEST_CHECK(holds(refused(small_zip({{"a.txt", "."}})), "not of torch.save()"));
    DOCTEST_CHECK(holds(refused(small_zip({{"x/data.pkl", "."}, {"x/byteorder", "big"}})), "order of bytes"));
    DOCTEST_CHECK(holds(refused(small_zip({{"x/data.pkl", "."}}, 8)), "compressed"));
    DOCTEST_CHECK(holds(refused(small_zip({{"x/data.pkl", "."}, {"x/data.pkl", "."}})), "list of members"));
    DOCTEST_CHECK(holds(refused(small_zip({{"x/data.pkl", "."}, {"y/data.pkl", "."}})), "list of members"));
    DOCTEST_CHECK(
        holds(refused("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."s), "older than 1.6"));
}
