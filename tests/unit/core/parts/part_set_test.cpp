// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/parts/part_set.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

using namespace bigbird;
using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

/// Writes an output and its record.
void write_part(const fs::path& path, const std::string& text, PartRecord record) {
    PendingOutput file(path, Overwrite::allow);
    write_file(file.path(), text);
    pending_part_record(std::move(record), file)->commit();
    file.commit();
}

/// Three parts of a table; `change` may spoil the records before they are written.
struct Three {
    TempDir folder;
    std::vector<fs::path> paths;

    void write(const std::function<void(std::size_t, PartRecord&)>& change = {}) {
        paths.clear();
        for (std::size_t i = 0; i < 3; ++i) {
            const fs::path path = folder / ("part" + std::to_string(i + 1) + ".tsv");
            const auto number = static_cast<std::int64_t>(i);
            PartRecord record{
                .kind = "rows",
                .shard = {number + 1, 3},
                .run = {{"provenance", Json::array({{"task", "promoter"}, {"model_sha256", "ab"}})}},
                .segments = {{number, 2}, {number + 3, 1}}};
            if (change) change(i, record);
            write_part(path, "part " + std::to_string(i), record);
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
        if (i == 2) record.kind = "VCF";
    });
    DOCTEST_CHECK(three.refusal().find("merge takes parts of one kind") != std::string::npos);
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

DOCTEST_TEST_CASE("part set: a part is no stream") {
    const TempDir folder;
    DOCTEST_REQUIRE(::mkfifo((folder / "pipe.tsv").c_str(), 0600) == 0);
    for (const fs::path& stream : {fs::path("-"), fs::path("/dev/stdout"), folder / "pipe.tsv"})
        DOCTEST_CHECK(message_of<ConfigError>([&] { require_part_is_file(stream); }) ==
                      "--shard writes a file; --output " + stream.string() + " cannot be merged");
    DOCTEST_CHECK_NOTHROW(require_part_is_file(folder / "new.tsv"));
    DOCTEST_CHECK_NOTHROW(require_part_is_file(folder.path()));
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
    for (const char* kind : {"rows", "VCF", "tokens"}) {
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
    write_part(folder / "a.tsv", "hello\n",
               {.kind = "rows",
                .shard = {2, 3},
                .run = {{"made_by", "x"}},
                .counts = {{"documents", 3}},
                .segments = {{1, 5}, {4, 0}}});
    const PartRecord record = read_part_record(folder / "a.tsv");
    DOCTEST_CHECK(record.kind == "rows");
    DOCTEST_CHECK(record.shard == Shard{2, 3});
    DOCTEST_CHECK(record.run == Json{{"made_by", "x"}});
    DOCTEST_CHECK(record.counts == Json{{"documents", 3}});
    DOCTEST_CHECK(record.segments == std::vector<PartSegment>{{1, 5}, {4, 0}});
    DOCTEST_CHECK(records_of(record) == 5);
    DOCTEST_CHECK(record.name == "a.tsv");
    DOCTEST_CHECK(record.bytes == 6);
    // sha256sum of "hello\n"
    DOCTEST_CHECK(record.sha256 == "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
}

DOCTEST_TEST_CASE("part record: of a folder its manifest is checked") {
    const TempDir folder;
    PendingOutput corpus(folder / "corpus", Overwrite::refuse, PendingOutput::Kind::folder);
    write_file(corpus.path() / "manifest.json", "{}\n");
    pending_part_record({.kind = "tokens", .run = Json::object()}, corpus)->commit();
    corpus.commit();
    DOCTEST_CHECK(read_part_record(folder / "corpus").bytes == 3);
    DOCTEST_CHECK(read_part_record(folder / "corpus").name == "corpus");
    DOCTEST_CHECK(read_part_record(folder / "corpus/").bytes == 3);
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
    const auto check = [&](const std::string& text, const std::string& expected) {
        DOCTEST_CAPTURE(text);
        write_file(folder / "a.tsv.part.json", text);
        const std::string message = refusal(folder / "a.tsv");
        DOCTEST_CHECK(message.find(expected) != std::string::npos);
        DOCTEST_CHECK(message.find("json.exception") == std::string::npos);
    };
    const std::string format = R"({"format": "bigbird-dna part", "format_version": )";
    const std::string run = format + R"(2, "kind": "rows", "run": {}, )", rest = run + R"("segments": [], )";
    const std::string part = R"("shard": "1/4", )", sums = R"("bytes": 1, "sha256": ""})";
    check(R"({"format": "other"})", "is not what --shard writes");
    check(format + "9}", "is of another version");
    check(format + "\"1\"}", "is of another version");
    check(format + R"(2, "kind": "rows"})", "is damaged");
    check(rest + R"("shard": "5/4", "name": "a.tsv", )" + sums,
          "is damaged: --shard 5/4: there are parts 1 to 4");
    check(rest + part + R"("name": "a.tsv"})", "is damaged: a value is missing");
    check(rest + part + R"("name": "../a.tsv", )" + sums, "is of ../a.tsv: the part was renamed");
    const auto with_segments = [&](const std::string& segments) {
        return run + R"("segments": )" + segments + ", " + part + R"("name": "a.tsv", )" + sums;
    };
    for (const char* counts : {"[[0, -1]]", "[[0, 9223372036854775807]]", "[[0, 1099511627776], [4, 1]]"})
        check(with_segments(counts), "is damaged");
    for (const char* numbers :
         {"[[1, 1]]", "[[4, 1], [0, 1]]", "[[0, 1], [0, 1]]", "[[0, 1], [1000000001, 1]]"})
        check(with_segments(numbers), "is damaged: part 1/4 has no segment ");
    for (const char* numbers :
         {"[[1e300, 1]]", "[[18446744073709551615, 1]]", "[[-4, 1]]", "[[0.5, 1]]", "[[0, \"x\"]]"})
        check(with_segments(numbers), "is damaged: a ");
}
