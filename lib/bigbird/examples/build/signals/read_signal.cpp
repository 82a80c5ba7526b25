// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/signals/read_signal.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/reference/contig_names.hpp"
#include "bigbird/genome/reference/contig_words.hpp"
#include "bigbird/genome/regions/assembly_fit.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <bigWig.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t bases_at_once = 1U << 24U;

struct Segment {
    std::uint32_t contig = 0, begin = 0, end = 0;
    float value = 0;
};

/// Runs in the child process. If the reference is a slice of a genome, reads its contigs up to their end. The
/// last message has no segments.
void send_bigwig(const fs::path& path, const ChildReader::Words& reference, const ChildReader::Send& send) {
    const std::vector<genome::Contig> contigs = genome::contigs_of(reference);
    const genome::ContigNames names(contigs, false);
    std::string name = path.string(), mode = "r";
    bwInit(1U << 17U);
    const std::unique_ptr<bigWigFile_t, void (*)(bigWigFile_t*)> file(
        bwOpen(name.c_str(), nullptr, mode.c_str()), bwClose);
    if (!file) throw InputError("is no bigWig", path);
    bool shared = file->hdr->nBasesCovered == 0;
    for (std::int64_t key = 0; file->hdr->nBasesCovered > 0 && key < file->cl->nKeys; ++key) {
        const std::string contig = file->cl->chrom[key];
        const auto index = names.find(contig);
        if (!index) continue;
        shared = true;
        const auto length = static_cast<std::uint32_t>(contigs[*index].length);
        const std::uint32_t in_file = file->cl->len[key];
        if (length != in_file && length >= in_file / 10 * 9) {  // a slice is much shorter
            throw InputError("says that contig " + contig + " has " + std::to_string(in_file) +
                                 " bases, --reference that it has " + std::to_string(length) +
                                 ": is it of another assembly?",
                             path);
        }
        for (std::uint32_t begin = 0; begin < length; begin += std::min(bases_at_once, length - begin)) {
            const std::uint32_t end = begin + std::min(bases_at_once, length - begin);
            const std::unique_ptr<bwOverlappingIntervals_t, void (*)(bwOverlappingIntervals_t*)> found(
                bwGetOverlappingIntervals(file.get(), contig.c_str(), begin, end),
                bwDestroyOverlappingIntervals);
            if (!found) throw InputError("is damaged, or cannot be read", path);
            std::vector<Segment> segments;
            for (std::uint64_t i = 0; i < found->l; ++i) {
                segments.push_back({static_cast<std::uint32_t>(*index), std::max(begin, found->start[i]),
                                    std::min(end, found->end[i]), found->value[i]});
            }
            if (!segments.empty()) send(ChildReader::bytes_of(segments));
        }
    }
    if (!shared) throw InputError("has no contig of --reference: is it of another assembly?", path);
    send({});
}

std::int64_t read_bigwig(const fs::path& path, const genome::ReferenceGenome& reference,
                         const AddSignal& add) {
    ChildReader reader(path, send_bigwig, genome::words_of(reference.contigs()));
    for (std::int64_t read = 0;;) {
        stop_if_asked();
        const std::vector<Segment> segments = reader.next_numbers<Segment>();
        if (segments.empty()) return read;
        for (const Segment& segment : segments) {
            if (segment.contig >= reference.contigs().size() || segment.begin >= segment.end)
                reader.throw_unfit();
            if (!std::isfinite(segment.value)) {
                throw InputError("holds a value that is not finite at " +
                                     reference.contigs()[segment.contig].name + ":" +
                                     std::to_string(segment.begin + 1),
                                 path);
            }
            add(segment.contig, segment.begin, segment.end, static_cast<double>(segment.value));
            ++read;
        }
    }
}

/// The data rows of a tab-separated text.
class TextRows {
public:
    TextRows(const fs::path& path, const genome::ReferenceGenome& reference)
        : reference_(reference), input_(path) {}

    bool next() {
        while (input_.next(line_)) {
            if (line_.empty() || line_.starts_with('#') || line_.starts_with("track") ||
                line_.starts_with("browser"))
                continue;
            fields_ = rows::split_fields(line_, '\t');
            return true;
        }
        return false;
    }
    const std::vector<std::string_view>& fields() const { return fields_; }
    InputError fault(const std::string& what) const { return input_.fault(what); }
    std::int64_t coordinate(std::size_t field) const {
        const auto value = fields_.size() > field ? parse_number<std::int64_t>(fields_[field]) : std::nullopt;
        if (!value || *value < 0) {
            throw fault("has no coordinate in column " + std::to_string(field + 1) +
                        (fit_.rows == 0 ? "; a sheet of files begins with the columns name and path" : ""));
        }
        return *value;
    }
    /// The contig of an interval on the reference; nullopt for another, which is counted.
    std::optional<std::size_t> place(std::int64_t begin, std::int64_t end) {
        if (begin >= end) throw fault("has a start that is not before its end");
        const auto index = reference_.find(fields_[0]);
        const bool inside = index && end <= reference_.contigs()[*index].length;
        fit_.add({std::string(fields_[0]), begin, end},
                 inside  ? genome::Fit::inside
                 : index ? genome::Fit::past_end
                         : genome::Fit::unknown_contig,
                 reference_);
        return inside ? index : std::nullopt;
    }
    std::int64_t finish(bool skip_invalid) const {
        const std::string name = input_.path().string();
        genome::require_assembly(fit_, reference_, name, "rows", skip_invalid);
        if (fit_.past_end > 0) {
            log_warning("{}: {} of {} rows end past their contig's end in --reference and do not count", name,
                        fit_.past_end, fit_.rows);
        }
        return fit_.rows;
    }

private:
    const genome::ReferenceGenome& reference_;
    genome::TextInput input_;
    std::string line_;
    std::vector<std::string_view> fields_;
    genome::AssemblyFit fit_;
};

std::int64_t read_bedgraph(TextRows rows, const genome::ReferenceGenome& reference, bool skip_invalid,
                           const AddSignal& add) {
    std::vector<std::int64_t> ends(reference.contigs().size(), 0);
    while (rows.next()) {
        if (rows.fields().size() != 4) throw rows.fault("is no row of a bedGraph: contig, start, end, value");
        const std::int64_t begin = rows.coordinate(1), end = rows.coordinate(2);
        const auto value = rows::parse_real(rows.fields()[3]);
        if (!value)
            throw rows.fault("has the value '" + std::string(rows.fields()[3]) + "', no finite number");
        const auto contig = rows.place(begin, end);
        if (!contig) continue;
        if (begin < ends[*contig]) {
            throw rows.fault(
                "overlaps the row before it, or comes after a later one: sort the bedGraph and "
                "merge what overlaps");
        }
        ends[*contig] = end;
        add(*contig, begin, end, *value);
    }
    return rows.finish(skip_invalid);
}

std::int64_t read_fragments(TextRows rows, const SignalReading& how, const AddSignal& add) {
    std::int64_t apart = 0;
    while (rows.next()) {
        const auto& fields = rows.fields();
        // BEDPE: both reads of a pair. Column 6 of BED is a strand.
        const bool is_pair = fields.size() >= 6 && parse_number<std::int64_t>(fields[5]).has_value();
        if (is_pair && fields[3] != fields[0]) {
            ++apart;
            continue;
        }
        std::int64_t begin = rows.coordinate(1), end = rows.coordinate(2);
        if (is_pair) {
            begin = std::min(begin, rows.coordinate(4));
            end = std::max(end, rows.coordinate(5));
        }
        const auto contig = rows.place(begin, end);
        if (!contig) continue;
        if (how.counted == Counted::fragments) {
            add(*contig, begin, end, 1);
            continue;
        }
        add(*contig, begin + how.begin_shift, begin + how.begin_shift + 1, 1);
        add(*contig, end - 1 + how.end_shift, end + how.end_shift, 1);
    }
    if (apart > 0)
        log_warning("pairs on two contigs, or with an unmapped read, do not count: {}",
                    counted(apart, "row"));
    return rows.finish(how.skip_invalid);
}

bool ends_with_one_of(const fs::path& path, std::initializer_list<std::string_view> endings) {
    std::string name = path.filename().string();
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const std::string_view packed : {".gz", ".bgz"})
        if (name.ends_with(packed)) name.resize(name.size() - packed.size());
    return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace

bool SignalReading::parse_shift(std::string_view text) {
    const auto parts = rows::split_fields(text, ',');
    const auto begin = parse_number<std::int64_t>(parts.front()),
               end = parse_number<std::int64_t>(parts.back());
    if (parts.size() != 2 || !begin || !end) return false;
    begin_shift = *begin;
    end_shift = *end;
    return true;
}

bool is_bigwig(const fs::path& path) {
    return ends_with_one_of(path, {".bw", ".bigwig"});
}

bool holds_fragments(const fs::path& path) {
    if (ends_with_one_of(path, {".bed", ".bedpe", ".tsv"})) return true;
    if (is_bigwig(path) || ends_with_one_of(path, {".bedgraph", ".bdg"})) return false;
    throw ConfigError("the name of " + path.string() +
                      " does not say what signal it holds: .bw and .bigwig are bigWig, .bedgraph and .bdg "
                      "bedGraph, .bed, .bedpe and .tsv fragments");
}

std::int64_t read_signal(const fs::path& path, const genome::ReferenceGenome& reference,
                         const SignalReading& how, const AddSignal& add) {
    if (is_bigwig(path)) return read_bigwig(path, reference, add);
    if (holds_fragments(path)) return read_fragments(TextRows(path, reference), how, add);
    return read_bedgraph(TextRows(path, reference), reference, how.skip_invalid, add);
}

}  // namespace bigbird::examples
