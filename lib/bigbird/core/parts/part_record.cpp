// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/parts/part_record.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/file_name.hpp"

#include <algorithm>
#include <numeric>
#include <ostream>

namespace bigbird {
namespace fs = std::filesystem;

namespace {

constexpr const char* format = "bigbird-dna part";
constexpr int format_version = 1;

Json to_json(const PartRecord& record) {
    Json json{{"format", format},
              {"format_version", format_version},
              {"kind", record.kind},
              {"shard", to_string(record.shard)},
              {"run", record.run}};
    if (!record.counts.is_null()) json["counts"] = record.counts;
    Json& segments = json["segments"] = Json::array();
    for (const PartSegment& segment : record.segments)
        segments.push_back({segment.number, segment.records});
    Json& files = json["files"] = Json::array();
    for (const PartFile& file : record.files)
        files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
    return json;
}

/// Json's own conversion would round, and wrap around numbers that are too large.
std::int64_t whole_number(const Json& json) {
    const bool fits = json.is_number_unsigned() && json.get<std::uint64_t>() <= std::uint64_t{1} << 62U;
    if (!fits) throw ConfigError("a number of its segments is none that a part has");
    return json.get<std::int64_t>();
}

PartRecord from_json(const Json& json) {
    PartRecord record{.kind = json.at("kind"),
                      .shard = parse_shard(json.at("shard").get<std::string>()),
                      .run = json.at("run")};
    record.counts = json.value("counts", Json());
    for (const Json& segment : json.at("segments"))
        record.segments.push_back({whole_number(segment.at(0)), whole_number(segment.at(1))});
    for (const Json& file : json.at("files"))
        record.files.push_back({file.at("name"), file.at("bytes"), file.at("sha256")});
    return record;
}

void check(const PartRecord& record, const fs::path& output, const fs::path& path) {
    for (const PartFile& file : record.files)
        if (!is_file_name(file.name)) throw InputError("names a file outside its folder", path);
    if (record.files.empty()) throw InputError("names no file", path);
    if (record.files.front().name != output.filename())
        throw InputError("is of " + record.files.front().name + ": the part was renamed", path);
    constexpr std::int64_t most = std::int64_t{1} << 40;  // sums and products of a few fit in 64 bits
    std::int64_t left = most;
    const bool counts = std::ranges::all_of(record.segments, [&](const PartSegment& s) {
        const bool fits = s.records >= 0 && s.records <= left;
        left -= fits ? s.records : 0;
        return fits;
    });
    if (!record.run.is_object() || !counts) throw InputError("is damaged", path);
    std::int64_t before = -1;
    for (const PartSegment& segment : record.segments) {  // part I of N has some of I - 1, I - 1 + N, …
        if (segment.number <= before || segment.number % record.shard.count != record.shard.number - 1) {
            throw InputError("is damaged: part " + to_string(record.shard) + " has no segment " +
                                 std::to_string(segment.number) + " there",
                             path);
        }
        before = segment.number;
    }
}

fs::path without_slash(const fs::path& path) {
    return path.has_filename() ? path : path.parent_path();
}

/// `lies`: the current path of its bytes.
void add_file(PartRecord& record, const fs::path& file, const fs::path& lies) {
    const fs::path checked = checked_file(lies);
    record.files.push_back(
        {without_slash(file).filename().string(), fs::file_size(checked), sha256_of_file(checked)});
}

}  // namespace

std::int64_t records_of(const PartRecord& record) {
    return std::accumulate(
        record.segments.begin(), record.segments.end(), std::int64_t{0},
        [](std::int64_t sum, const PartSegment& s) { return sum + s.records; });
}

fs::path checked_file(const fs::path& file) {
    return fs::is_directory(file) ? file / "manifest.json" : file;
}

fs::path part_record_path(const fs::path& output) {
    fs::path path = without_slash(output);
    return path += ".part.json";
}

void remove_part_record(const fs::path& output) {
    std::error_code ignored;
    fs::remove(part_record_path(output), ignored);
}

std::unique_ptr<PendingOutput> pending_part_record(PartRecord record, std::span<PendingOutput* const> files) {
    for (const PendingOutput* file : files)
        add_file(record, file->target(), file->path());
    const fs::path& output = files.front()->target();
    auto pending = std::make_unique<PendingOutput>(part_record_path(output), Overwrite::allow);
    pending->write([&](std::ostream& out) { out << to_json(record).dump(2) << '\n'; });
    return pending;
}

void write_part_record(PartRecord record, const std::vector<fs::path>& files) {
    for (const fs::path& file : files)
        add_file(record, file, file);
    write_json(part_record_path(files.front()), to_json(record), Overwrite::allow);
}

PartRecord read_part_record(const fs::path& output) {
    if (!fs::exists(output)) throw InputError("no such file", output);
    const fs::path path = part_record_path(output);
    if (!fs::exists(path)) {
        throw InputError("there is no " + path.filename().string() +
                             " beside it, which --shard writes last: is the part still being written?",
                         output);
    }
    const Json json = read_json(path);
    if (!json.is_object() || json.value("format", Json()) != format)
        throw InputError("is not what --shard writes beside a part", path);
    if (json.value("format_version", Json()) != format_version)
        throw InputError("is of another version; use the bigbird-dna that wrote it", path);
    try {
        PartRecord record = from_json(json);
        check(record, without_slash(output), path);
        return record;
    } catch (const nlohmann::json::exception&) {
        throw InputError("is damaged: a value is missing or of another kind; make this part again", path);
    } catch (const ConfigError& error) {
        throw InputError(std::string("is damaged: ") + error.what(), path);
    }
}

}  // namespace bigbird
