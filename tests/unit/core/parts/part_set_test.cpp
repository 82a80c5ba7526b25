// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/parts/part_set.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <sys/stat.h>

#include <algorithm>

using namespace bigbird;
using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

/// Three parts of a table; `change` may spoil the records before they are written.
struct Three {
    TempDir folder;
    std::vector<fs::path> paths;

    void write(const std::function<void(std::size_t, PartRecord&)>& change = {}) {
        paths.clear();
        for (std::size_t i = 0; i < 3; ++i) {
            const fs::path path = folder / ("part" + std::to_string(i + 1) + ".tsv");
            write_file(path, "part " + std::to_string(i));
            const auto number = static_cast<std::int64_t>(i);
            PartRecord record{
                .kind = "table",
                .shard = {number + 1, 3},
                .run = {{"provenance", Json::array({{"task", "promoter"}, {"model_sha256", "ab"}})}},
                .segments = {{number, 2}, {number + 3, 1}}};
            if (change) change(i, record);
            write_part_record(record, {path});
            paths.push_back(path);
        }
    }
    std::string refusal() const {
        return message_of<InputError>([&] { open_parts(paths, 2); });
    }
};

}  // namespace

DOCTEST_TEST_CASE("part set: parts in any order, and the order of their records") {
    Three three;
    three.write();
    std::ranges::reverse(three.paths);
    const std::vector<Part> parts = open_parts(three.paths, 1);
    DOCTEST_CHECK(parts[0].record.shard.number == 1);
    DOCTEST_CHECK(parts[2].record.shard.number == 3);
    DOCTEST_CHECK(order_of(parts) == std::vector<Piece>{{0, 2}, {1, 2}, {2, 2}, {0, 1}, {1, 1}, {2, 1}});
}

DOCTEST_TEST_CASE("part set: a missing, doubled or foreign part is named") {
    Three three;
    three.write();
    three.paths.erase(three.paths.begin() + 1);
    DOCTEST_CHECK(three.refusal() == "parts are missing: 2/3");
    three.write([](std::size_t i, PartRecord& record) {
        if (i == 1) {
            record.shard.number = 1;
            record.segments = {{0, 2}, {3, 1}};
        }
    });
    DOCTEST_CHECK(three.refusal().find("part2.tsv: is part 1/3, and so is ") != std::string::npos);
    three.write([](std::size_t i, PartRecord& record) {
        if (i == 2) {
            record.shard = {3, 4};
            record.segments = {{2, 2}, {6, 1}};
        }
    });
    DOCTEST_CHECK(three.refusal().find("of another cut") != std::string::npos);
    three.write([](std::size_t i, PartRecord& record) {
        if (i == 2) record.run["provenance"][1][1] = "cd";
    });
    DOCTEST_CHECK(three.refusal().find("part3.tsv: is of another run than ") != std::string::npos);
    DOCTEST_CHECK(three.refusal().find("model_sha256 differs") != std::string::npos);
    three.write([](std::size_t i, PartRecord& record) {
        if (i == 2) record.kind = "npy";
    });
    DOCTEST_CHECK(three.refusal().find("parts of one format") != std::string::npos);
}

DOCTEST_TEST_CASE("part set: truncated, changed, lost and unfinished files are named") {
    Three three;
    three.write();
    write_file(three.paths[1], "part");
    DOCTEST_CHECK(three.refusal().find("part2.tsv: has 4 bytes, 6 when it was written") != std::string::npos);
    write_file(three.paths[1], "part 2");
    DOCTEST_CHECK(three.refusal().find("part2.tsv: is not what was written") != std::string::npos);
    fs::remove(three.paths[1]);
    DOCTEST_CHECK(three.refusal().find("part2.tsv: no such file") != std::string::npos);
    DOCTEST_REQUIRE(::mkfifo(three.paths[1].c_str(), 0600) == 0);
    DOCTEST_CHECK(three.refusal().find("part2.tsv: is a pipe, a file is needed") != std::string::npos);
    fs::remove(three.paths[1]);
    three.write();
    fs::remove(part_record_path(three.paths[0]));
    DOCTEST_CHECK(three.refusal().find("is the part still being written?") != std::string::npos);
}

DOCTEST_TEST_CASE("part set: two parts with one segment are refused") {
    Three three;
    three.write();
    std::vector<Part> parts = open_parts(three.paths, 1);
    parts[1].record.segments[0].number = 0;
    DOCTEST_CHECK(message_of<InputError>([&] { order_of(parts); }).find("has segment 0") !=
                  std::string::npos);
}

DOCTEST_TEST_CASE("part set: a segment that no part has is named, but of documents, which may be dropped") {
    Three three;
    const auto with_gap = [](const std::string& kind) {
        return [=](std::size_t i, PartRecord& record) {
            record.kind = kind;
            if (i == 1) record.segments = {{1, 2}, {1000000000, 1}};
        };
    };
    for (const char* kind : {"table", "npy", "tokens"}) {
        three.write(with_gap(kind));
        DOCTEST_CHECK(three.refusal().ends_with(
            "part2.tsv.part.json: is damaged: it lacks segment 4 of the work; make this part again"));
    }
    three.write(with_gap("documents"));
    DOCTEST_CHECK(order_of(open_parts(three.paths, 1)).size() == 6);
    three.write([](std::size_t i, PartRecord& record) {
        if (i == 0) record.segments = {};
    });
    DOCTEST_CHECK(
        three.refusal().ends_with("part1.tsv.part.json: is damaged: it lacks segment 0 of the work; "
                                  "make this part again"));
    three.write([](std::size_t i, PartRecord& record) {  // a work of one segment
        record.segments = i == 0 ? std::vector<PartSegment>{{0, 2}} : std::vector<PartSegment>{};
    });
    DOCTEST_CHECK(open_parts(three.paths, 1).size() == 3);
}

namespace {

std::string refusal(const std::filesystem::path& output) {
    return message_of<InputError>([&] { read_part_record(output); });
}

}  // namespace

DOCTEST_TEST_CASE("part record: what is written is read") {
    const TempDir folder;
    write_file(folder / "a.tsv", "hello\n");
    write_part_record({.kind = "table",
                       .shard = {2, 3},
                       .run = {{"made_by", "x"}},
                       .counts = {{"documents", 3}},
                       .segments = {{1, 5}, {4, 0}}},
                      {folder / "a.tsv"});
    const PartRecord record = read_part_record(folder / "a.tsv");
    DOCTEST_CHECK(record.kind == "table");
    DOCTEST_CHECK(record.shard == Shard{2, 3});
    DOCTEST_CHECK(record.run == Json{{"made_by", "x"}});
    DOCTEST_CHECK(record.counts == Json{{"documents", 3}});
    DOCTEST_CHECK(record.segments == std::vector<PartSegment>{{1, 5}, {4, 0}});
    DOCTEST_CHECK(records_of(record) == 5);
    DOCTEST_REQUIRE(record.files.size() == 1);
    DOCTEST_CHECK(record.files[0].name == "a.tsv");
    DOCTEST_CHECK(record.files[0].bytes == 6);
    // sha256sum of "hello\n"
    DOCTEST_CHECK(record.files[0].sha256 ==
                  "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
}

DOCTEST_TEST_CASE("part record: of a folder its manifest is checked") {
    const TempDir folder;
    std::filesystem::create_directory(folder / "corpus");
    write_file(folder / "corpus" / "manifest.json", "{}\n");
    write_part_record({.kind = "tokens", .run = Json::object()}, {folder / "corpus"});
    DOCTEST_CHECK(read_part_record(folder / "corpus").files[0].bytes == 3);
    DOCTEST_CHECK(read_part_record(folder / "corpus").files[0].name == "corpus");
    DOCTEST_CHECK(read_part_record(folder / "corpus/").files[0].bytes == 3);
    DOCTEST_CHECK(part_record_path(folder / "corpus/") == folder / "corpus.part.json");
    remove_part_record(folder / "corpus/");
    DOCTEST_CHECK(!std::filesystem::exists(folder / "corpus.part.json"));
}

DOCTEST_TEST_CASE("part record: what is no record is refused") {
    const TempDir folder;
    DOCTEST_CHECK(refusal(folder / "a.tsv").find("no such file") != std::string::npos);
    write_file(folder / "a.tsv", "x");
    DOCTEST_CHECK(refusal(folder / "a.tsv").find("there is no a.tsv.part.json beside it") !=
                  std::string::npos);
    write_file(folder / "a.tsv.part.json", "{\"format\": \"other\"}");
    DOCTEST_CHECK(refusal(folder / "a.tsv").find("is not what --shard writes") != std::string::npos);
    write_file(folder / "a.tsv.part.json", "{\"format\": \"bigbird-dna part\", \"format_version\": 9}");
    DOCTEST_CHECK(refusal(folder / "a.tsv").find("is of another version") != std::string::npos);
    const std::string head = "{\"format\": \"bigbird-dna part\", \"format_version\": 1, ";
    write_file(folder / "a.tsv.part.json", head + "\"kind\": \"table\"}");
    DOCTEST_CHECK(refusal(folder / "a.tsv").find("is damaged") != std::string::npos);
    const std::string rest = "\"kind\": \"table\", \"run\": {}, \"segments\": [], ";
    write_file(folder / "a.tsv.part.json", head + rest + "\"shard\": \"5/4\", \"files\": []}");
    DOCTEST_CHECK(refusal(folder / "a.tsv").find("is damaged") != std::string::npos);
    write_file(folder / "a.tsv.part.json",
               head + rest +
                   "\"shard\": \"1/4\", \"files\": [{\"name\": \"../b\", \"bytes\": 1, \"sha256\": \"\"}]}");
    DOCTEST_CHECK(refusal(folder / "a.tsv").find("outside its folder") != std::string::npos);
    const std::string other = "\"files\": [{\"name\": \"b.tsv\", \"bytes\": 1, \"sha256\": \"\"}]}";
    write_file(folder / "a.tsv.part.json", head + rest + "\"shard\": \"1/4\", " + other);
    DOCTEST_CHECK(refusal(folder / "a.tsv").find("is of b.tsv: the part was renamed") != std::string::npos);
    write_file(folder / "a.tsv.part.json", "{\"format\": \"bigbird-dna part\", \"format_version\": \"1\"}");
    DOCTEST_CHECK(refusal(folder / "a.tsv").find("is of another version") != std::string::npos);
    const std::string own =
        "\"shard\": \"1/4\", \"files\": [{\"name\": \"a.tsv\", \"bytes\": 1, \"sha256\": \"\"}]}";
    write_file(folder / "a.tsv.part.json",
               head + "\"kind\": \"table\", \"run\": {}, \"segments\": [[0, -1]], " + own);
    DOCTEST_CHECK(refusal(folder / "a.tsv").find("is damaged") != std::string::npos);
    write_file(folder / "a.tsv.part.json",
               head + "\"kind\": \"table\", \"run\": {}, \"segments\": [[0, 9223372036854775807]], " + own);
    DOCTEST_CHECK(refusal(folder / "a.tsv").find("is damaged") != std::string::npos);
    const std::string sum = "\"segments\": [[0, 1099511627776], [4, 1]], ";
    write_file(folder / "a.tsv.part.json", head + "\"kind\": \"table\", \"run\": {}, " + sum + own);
    DOCTEST_CHECK(refusal(folder / "a.tsv").find("is damaged") != std::string::npos);
    const auto with_segments = [&](const std::string& segments) {
        write_file(folder / "a.tsv.part.json",
                   head + "\"kind\": \"table\", \"run\": {}, \"segments\": " + segments + ", " + own);
        return refusal(folder / "a.tsv");
    };
    for (const char* segments :
         {"[[1, 1]]", "[[4, 1], [0, 1]]", "[[0, 1], [0, 1]]", "[[0, 1], [1000000001, 1]]"})
        DOCTEST_CHECK(with_segments(segments).find("is damaged: part 1/4 has no segment ") !=
                      std::string::npos);
    for (const char* segments :
         {"[[1e300, 1]]", "[[18446744073709551615, 1]]", "[[-4, 1]]", "[[0.5, 1]]", "[[0, \"x\"]]"}) {
        DOCTEST_CHECK(with_segments(segments).find("is damaged: a ") != std::string::npos);
        DOCTEST_CHECK(with_segments(segments).find("json.exception") == std::string::npos);
    }
    write_file(folder / "a.tsv.part.json", head + rest + "\"shard\": \"1/4\", \"files\": []}");
    DOCTEST_CHECK(refusal(folder / "a.tsv").find("names no file") != std::string::npos);
}
