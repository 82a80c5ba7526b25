// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/parts/part_record.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;

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
