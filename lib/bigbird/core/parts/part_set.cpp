// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/parts/part_set.hpp"

#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/protected_files.hpp"
#include "bigbird/core/words.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <ranges>

namespace bigbird {

namespace fs = std::filesystem;

namespace {

constexpr const char* format = "bigbird-dna part";
constexpr int format_version = 2;

Json to_json(const PartRecord& record) {
    Json json{{"format", format},      {"format_version", format_version},
              {"kind", record.kind},   {"shard", to_string(record.shard)},
              {"run", record.run},     {"name", record.name},
              {"bytes", record.bytes}, {"sha256", record.sha256}};
    if (!record.counts.is_null()) json["counts"] = record.counts;
    Json& segments = json["segments"] = Json::array();
    for (const PartSegment& segment : record.segments)
        segments.push_back({segment.number, segment.records});
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
                      .run = json.at("run"),
                      .name = json.at("name"),
                      .sha256 = json.at("sha256"),
                      .bytes = json.at("bytes")};
    record.counts = json.value("counts", Json());
    for (const Json& segment : json.at("segments"))
        record.segments.push_back({whole_number(segment.at(0)), whole_number(segment.at(1))});
    return record;
}

void check(const PartRecord& record, const fs::path& output, const fs::path& path) {
    if (record.name != output.filename())
        throw InputError("is of " + record.name + ": the part was renamed", path);
    constexpr std::int64_t most = std::int64_t{1} << 40;  // sums and products of a few fit in 64 bits
    if (!record.run.is_object()) throw InputError("is damaged", path);
    std::int64_t before = -1, left = most;
    for (const PartSegment& segment : record.segments) {  // part I of N has some of I - 1, I - 1 + N, …
        if (segment.records > left) throw InputError("is damaged", path);
        left -= segment.records;
        if (segment.number <= before || segment.number % record.shard.count != record.shard.number - 1) {
            throw InputError("is damaged: part " + to_string(record.shard) + " has no segment " +
                                 std::to_string(segment.number) + " there",
                             path);
        }
        before = segment.number;
    }
}

/// The file whose size and checksum a record has.
fs::path checked_file(const fs::path& file) {
    return fs::is_directory(file) ? file / "manifest.json" : file;
}

}  // namespace

std::int64_t records_of(const PartRecord& record) {
    std::int64_t records = 0;
    for (const PartSegment& segment : record.segments)
        records += segment.records;
    return records;
}

fs::path part_record_path(const fs::path& output) {
    fs::path path = without_trailing_slash(output);
    return path += ".part.json";
}

void require_part_is_file(const fs::path& output) {
    std::error_code error;
    if (output == "-" || is_standard_output(output) || fs::is_other(output, error))
        throw ConfigError("--shard writes a file; --output " + output.string() + " cannot be merged");
}

void remove_part_record(const fs::path& output) {
    std::error_code ignored;
    fs::remove(part_record_path(output), ignored);
}

std::unique_ptr<PendingOutput> pending_part_record(PartRecord record, const PendingOutput& output) {
    const fs::path checked = checked_file(output.path());
    record.name = output.target().filename().string();
    record.bytes = fs::file_size(checked);
    record.sha256 = sha256_of_file(checked);
    auto pending = std::make_unique<PendingOutput>(part_record_path(output.target()), Overwrite::allow);
    pending->write([&](std::ostream& out) { out << to_json(record).dump(2) << '\n'; });
    return pending;
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
        check(record, without_trailing_slash(output), path);
        return record;
    } catch (const nlohmann::json::exception&) {
        throw InputError("is damaged: a value is missing or of another kind; make this part again", path);
    } catch (const ConfigError& error) {
        throw InputError(std::string("is damaged: ") + error.what(), path);
    }
}

namespace {

/// The first entry that differs, such as "model_sha256", or "".
std::string first_difference(const Json& a, const Json& b) {
    for (const auto& [key, value] : a.items()) {
        if (!b.contains(key)) return key;
        const Json& other = b.at(key);
        if (value == other) continue;
        if (value.is_object() && other.is_object()) return first_difference(value, other);
        if (!value.is_array() || !other.is_array()) return key;
        for (std::size_t i = 0; i < std::max(value.size(), other.size()); ++i) {
            if (i < value.size() && i < other.size() && value[i] == other[i]) continue;
            const Json& entry = i < value.size() ? value[i] : other[i];
            const bool named = entry.is_array() && !entry.empty() && entry[0].is_string();
            return named ? entry[0].get<std::string>() : key;
        }
    }
    for (const auto& [key, value] : b.items())
        if (!a.contains(key)) return key;
    return {};
}

void check_run(const Part& first, const Part& part) {
    if (part.record.kind != first.record.kind) {
        throw InputError("holds " + part.record.kind + ", " + first.path.string() + " holds " +
                             first.record.kind + ": merge takes parts of one kind",
                         part.path);
    }
    if (part.record.shard.count != first.record.shard.count) {
        throw InputError("is part " + to_string(part.record.shard) + ", " + first.path.string() +
                             " is part " + to_string(first.record.shard) + ": of another cut",
                         part.path);
    }
    if (part.record.run != first.record.run) {
        throw InputError("is of another run than " + first.path.string() + ": " +
                             first_difference(first.record.run, part.record.run) + " differs",
                         part.path);
    }
}

void check_numbers(const std::vector<Part>& parts) {
    const std::int64_t count = parts.front().record.shard.count;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        if (parts[i].record.shard == parts[i - 1].record.shard) {
            throw InputError(
                "is part " + to_string(parts[i].record.shard) + ", and so is " + parts[i - 1].path.string(),
                parts[i].path);
        }
    }
    if (count == std::ssize(parts)) return;
    std::vector<std::string> missing;
    std::size_t next = 0;
    for (std::int64_t number = 1; number <= count; ++number)
        if (next < parts.size() && parts[next].record.shard.number == number)
            ++next;
        else
            missing.push_back(to_string(Shard{number, count}));
    throw InputError("parts are missing: " + listed(missing, ""));
}

/// Checks the numbers of all parts' segments. A stretch of the job whose documents were all dropped has no
/// segment. For rows, and for the documents that tokenize reads, no segment may be missing.
void check_segments(const std::vector<Part>& parts) {
    if (parts.front().record.kind == "documents") return;
    const auto count = static_cast<std::size_t>(parts.front().record.shard.count);
    std::size_t all = 0;
    for (const Part& part : parts)
        all += part.record.segments.size();
    for (std::size_t segment = 0; segment < all; ++segment) {
        const Part& part = parts[segment % count];
        const std::size_t place = segment / count;
        const bool there = place < part.record.segments.size() &&
                           part.record.segments[place].number == static_cast<std::int64_t>(segment);
        if (there) continue;
        throw InputError(
            "is damaged: it lacks segment " + std::to_string(segment) + " of the work; make this part again",
            part_record_path(part.path));
    }
}

void check_file(const Part& part) {
    stop_if_asked();
    const fs::path path = checked_file(part.path);
    require_readable(path);
    refuse_named_pipe(path);
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(path, error);
    if (error) throw ReadError("cannot be read: " + error.message(), path);
    if (bytes != part.record.bytes) {
        throw InputError("has " + std::to_string(bytes) + " bytes, " + std::to_string(part.record.bytes) +
                             " when it was written: truncated or changed",
                         path);
    }
    if (sha256_of_file(path, stop_if_asked) != part.record.sha256)
        throw InputError("is not what was written: its checksum differs", path);
}

}  // namespace

std::vector<Part> open_parts(std::span<const fs::path> paths, int threads) {
    std::vector<Part> parts;
    for (const fs::path& path : paths)
        parts.push_back({path, read_part_record(path)});
    for (const Part& part : parts)
        check_run(parts.front(), part);
    std::ranges::stable_sort(parts, {}, [](const Part& part) { return part.record.shard.number; });
    check_numbers(parts);
    check_segments(parts);
    parallel_for(std::ssize(parts), threads,
                 [&](std::int64_t i) { check_file(parts[static_cast<std::size_t>(i)]); });
    return parts;
}

InputError miscounted(const fs::path& part, const std::string& records) {
    return {"holds other " + records + " than its .part.json counts: one of the two was changed", part};
}

std::vector<Piece> order_of(std::span<const Part> parts) {
    std::map<std::int64_t, Piece> by_segment;
    for (std::size_t part = 0; part < parts.size(); ++part)
        for (const auto& [number, records] : parts[part].record.segments) {
            if (by_segment.emplace(number, Piece{part, records}).second) continue;
            throw InputError("has segment " + std::to_string(number) + " of the work, as another part has",
                             part_record_path(parts[part].path));
        }
    const auto pieces = std::views::values(by_segment);
    return {pieces.begin(), pieces.end()};
}

}  // namespace bigbird
