// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/merge/merge_documents.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::corpus;
using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

struct Built {
    Json manifest;
    std::vector<PartSegment> segments;
};

Built build(const fs::path& path, DocumentForm form, std::optional<Shard> shard) {
    BuildSpec spec{.documents = {.passes = 3,
                                 .sentences = {3, 6},
                                 .sentence_length = {50, 90},
                                 .start_offset = {0, 40},
                                 .seed = 6},
                   .add_reverse_complement = true};
    spec.shard = shard;
    const auto genome = genome::open_reference(test_data("genome/multi.fa"));
    DocumentWriter writer(path, form, spec, Overwrite::refuse, 1);
    Built built;
    const BuildText text = form == DocumentForm::text ? BuildText::yes : BuildText::no;
    const BuildCounts counts = build_documents(*genome, spec, text, 2, [&](PlacedDocument&& document) {
        if (built.segments.empty() || built.segments.back().number != document.segment) {
            built.segments.push_back({document.segment, 0});
        }
        ++built.segments.back().records;
        writer.write(document);
    });
    writer.commit();
    built.manifest = document_manifest(form, spec, counts, {});
    return built;
}

std::vector<Part> build_parts(const TempDir& folder, DocumentForm form, std::int64_t count) {
    std::vector<fs::path> paths;
    for (std::int64_t number = count; number >= 1; --number) {
        const Shard shard{number, count};
        paths.push_back(folder / ("part" + std::to_string(number)));
        const Built built = build(paths.back(), form, shard);
        write_part_record(documents_record(built.manifest, shard, built.segments), {paths.back()});
    }
    return open_parts(paths, 1);
}

}  // namespace

DOCTEST_TEST_CASE(
    "merge documents: text and coordinates have the bytes of one run, and so has the manifest") {
    for (const DocumentForm form : {DocumentForm::text, DocumentForm::coordinates}) {
        for (const std::int64_t count : {1, 2, 5, 1000}) {
            DOCTEST_CAPTURE(count);
            const TempDir folder;
            const Built whole = build(folder / "whole", form, std::nullopt);
            const std::vector<Part> parts = build_parts(folder, form, count);
            merge_documents(parts, folder / "merged", Overwrite::refuse, 1);
            DOCTEST_CHECK(read_file(folder / "merged") == read_file(folder / "whole"));
            DOCTEST_CHECK(merged_manifest(parts).dump(2) == whole.manifest.dump(2));
        }
    }
}

DOCTEST_TEST_CASE("merge documents: a record of more or fewer documents than there are") {
    for (const DocumentForm form : {DocumentForm::text, DocumentForm::coordinates}) {
        for (const std::int64_t by : {1, -1}) {
            const TempDir folder;
            std::vector<Part> parts = build_parts(folder, form, 2);
            parts[0].record.segments.back().records += by;
            DOCTEST_CHECK(message_of<InputError>([&] {
                              merge_documents(parts, folder / "merged", Overwrite::refuse, 1);
                          }).find("part1: holds other documents than its .part.json counts") !=
                          std::string::npos);
            DOCTEST_CHECK(!fs::exists(folder / "merged"));
        }
    }
}

DOCTEST_TEST_CASE("merge documents: counts that are no whole numbers, or whose sum is none of 64 bits") {
    const TempDir folder;
    std::vector<Part> parts = build_parts(folder, DocumentForm::text, 2);
    for (const char* text : {"1.5", "1e300", "18446744073709551615", "9223372036854775807", "\"7\"", "[]"}) {
        parts[1].record.counts["bases"] = Json::parse(text);
        DOCTEST_CHECK(message_of<InputError>([&] { merged_manifest(parts); }) ==
                      (folder / "part2.part.json").string() + ": is damaged: its counts are no numbers");
    }
}
