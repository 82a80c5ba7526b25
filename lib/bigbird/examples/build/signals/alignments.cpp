// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/signals/alignments.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/examples/build/signals/contig_lengths.hpp"
#include "bigbird/genome/regions/assembly_fit.hpp"
#include "bigbird/genome/text/byte_stream.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <htslib/hts.h>
#include <htslib/sam.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t spans_at_once = std::size_t{1} << 15U;
constexpr std::int64_t reads_at_once = std::int64_t{1} << 20U;  // after them the parent hears something
constexpr std::int32_t no_contig = -1;

/// What the child sends of a read that counts.
struct SentSpan {
    enum : std::int32_t { reverse = 1, of_pair = 2, silent = 4 };  ///< silent: its mate is visited for both
    std::int64_t begin = 0, end = 0;
    std::int32_t contig = no_contig;  ///< index in the file
    std::int32_t flags = 0;
};

/// An open BAM or CRAM.
class AlignmentFile {
public:
    AlignmentFile(const fs::path& path, int threads, bool needs_mates) : path_(path) {
        // An absolute path, which htslib takes for no URL.
        file_.reset(hts_open(fs::absolute(path).c_str(), "r"));
        if (!file_) throw InputError("is no BAM or CRAM", path);
        const htsExactFormat format = hts_get_format(file_.get())->format;
        if (format == sam)
            throw InputError("is SAM, which is text: make a BAM of it by 'samtools view -b'", path);
        if (format != bam && format != cram) throw InputError("is no BAM or CRAM", path);
        if (hts_check_EOF(file_.get()) == 0)
            throw InputError("is truncated: it ends without its closing block; copy or write it again", path);
        if (threads > 1 && hts_set_threads(file_.get(), threads) != 0) throw std::bad_alloc();
        constexpr int site = SAM_FLAG | SAM_RNAME | SAM_POS | SAM_MAPQ | SAM_CIGAR;
        if (format == cram) {  // without letters, which need a reference
            hts_set_opt(file_.get(), CRAM_OPT_REQUIRED_FIELDS,
                        needs_mates ? site | SAM_RNEXT | SAM_PNEXT : site);
            hts_set_opt(file_.get(), CRAM_OPT_DECODE_MD, 0);
        }
        header_.reset(sam_hdr_read(file_.get()));
        if (!header_) throw InputError("has a damaged header", path);
    }

    /// The contigs' names, each with a line break behind it, and their lengths.
    std::string names() const {
        std::string names;
        for (int i = 0; i < sam_hdr_nref(header_.get()); ++i) {
            const std::string_view name = sam_hdr_tid2name(header_.get(), i);
            if (!genome::is_utf8(name) || name.find('\n') != std::string_view::npos)
                throw InputError("has a contig whose name is not UTF-8", path_);
            (names += name) += '\n';
        }
        return names;
    }
    std::vector<std::int64_t> lengths() const {
        std::vector<std::int64_t> lengths;
        for (int i = 0; i < sam_hdr_nref(header_.get()); ++i)
            lengths.push_back(sam_hdr_tid2len(header_.get(), i));
        return lengths;
    }

    /// The next read; null at the end.
    const bam1_t* next() {
        const int result = sam_read1(file_.get(), header_.get(), read_.get());
        if (result >= 0) {
            ++reads_;
            return read_.get();
        }
        if (result < -1)
            throw InputError(fmt::format("is damaged behind its first {}: copy or write it again",
                                         counted(reads_, "read")),
                             path_);
        if (file_->is_bgzf) genome::detail::require_sound(*file_->fp.bgzf, true, path_, 0);
        return nullptr;
    }
    InputError fault(const std::string& what) const { return {what, path_}; }

private:
    fs::path path_;
    std::int64_t reads_ = 0;
    std::unique_ptr<htsFile, int (*)(htsFile*)> file_{nullptr, hts_close};
    std::unique_ptr<sam_hdr_t, void (*)(sam_hdr_t*)> header_{nullptr, sam_hdr_destroy};
    std::unique_ptr<bam1_t, void (*)(bam1_t*)> read_{bam_init1(), bam_destroy1};
};

/// Why a read does not count; null if it does.
std::int64_t ReadCounts::*reason_of(const bam1_core_t& read, const ReadFilter& filter) {
    const auto has = [&](int flag) { return (read.flag & flag) != 0; };
    if (has(BAM_FUNMAP) || read.tid < 0 || read.pos < 0 || read.n_cigar == 0) return &ReadCounts::unmapped;
    if (has(BAM_FSECONDARY)) return &ReadCounts::secondary;
    if (has(BAM_FSUPPLEMENTARY)) return &ReadCounts::supplementary;
    if (has(BAM_FQCFAIL)) return &ReadCounts::failed;
    if (has(BAM_FDUP) && !filter.keep_duplicates) return &ReadCounts::duplicates;
    if (has(BAM_FPAIRED) && !has(BAM_FPROPER_PAIR)) return &ReadCounts::improper;
    if (read.qual < filter.min_mapq) return &ReadCounts::low_mapq;
    return nullptr;
}

bool is_spliced(const bam1_t& read) {
    for (std::uint32_t i = 0; i < read.core.n_cigar; ++i)
        if (bam_cigar_op(bam_get_cigar(&read)[i]) == BAM_CREF_SKIP) return true;
    return false;
}

/// Whether a read, and not its mate, begins last; of two that begin together, the reverse one.
bool begins_last(const bam1_core_t& read) {
    return read.mpos < read.pos || (read.mpos == read.pos && (read.flag & BAM_FREVERSE) != 0);
}

/// Runs in the child process. Sends the contigs' names and lengths, then spans of reads that count; an empty
/// message ends them. Then the counts.
void send_alignments(const fs::path& path, const ChildReader::Words& words, const ChildReader::Send& send) {
    ::setenv("REF_PATH", "/dev/null", 1);  // no look-up of references, ever
    ::unsetenv("REF_CACHE");
    const ReadFilter filter{.min_mapq = std::stoi(words[0]), .keep_duplicates = words[1] == "1"};
    const bool whole = words[2] == "1";
    AlignmentFile file(path, std::stoi(words[3]), whole);
    send(file.names());
    send(ChildReader::bytes_of(file.lengths()));
    const std::int64_t contigs = std::ssize(file.lengths());
    ReadCounts counts;
    std::vector<SentSpan> some;
    const auto send_some = [&] {
        if (some.empty()) some.emplace_back();
        send(ChildReader::bytes_of(some));
        some.clear();
    };
    while (const bam1_t* read = file.next()) {
        if (++counts.all % reads_at_once == 0) send_some();
        const bam1_core_t& core = read->core;
        if (core.tid >= contigs) throw file.fault("is damaged: a read is on a contig that it does not name");
        std::int64_t ReadCounts::*reason = reason_of(core, filter);
        const std::int64_t bases =
            reason == nullptr ? bam_cigar2rlen(static_cast<int>(core.n_cigar), bam_get_cigar(read)) : 0;
        if (reason == nullptr && bases <= 0) reason = &ReadCounts::unmapped;
        if (reason != nullptr) {
            ++(counts.*reason);
            continue;
        }
        if (whole && is_spliced(*read))
            throw file.fault(
                "has spliced reads, whose introns are no coverage: give a bigWig, as bamCoverage makes one");
        const bool paired = (core.flag & BAM_FPAIRED) != 0,
                   has_mate = core.mtid == core.tid && core.mpos >= 0;
        SentSpan span{
            core.pos, core.pos + bases, core.tid,
            ((core.flag & BAM_FREVERSE) != 0 ? SentSpan::reverse : 0) | (paired ? SentSpan::of_pair : 0)};
        if (whole && paired && has_mate && !begins_last(core))
            span.flags |= SentSpan::silent;
        else if (whole && paired && has_mate)
            span.begin = core.mpos;
        some.push_back(span);
        if (some.size() >= spans_at_once) send_some();
    }
    send_some();
    send({});
    send(ChildReader::bytes_of(std::vector<ReadCounts>{counts}));
}

/// A contig of the file on the reference.
struct ContigOfFile {
    std::string name;
    std::optional<std::size_t> index;      ///< in the reference
    std::int64_t length = 0;               ///< of the reference
    std::int64_t inside = 0, outside = 0;  ///< reads
    std::int64_t last = 0;                 ///< the end of the last read inside
};

class SpanReader {
public:
    SpanReader(const fs::path& path, const genome::ReferenceGenome& reference, const AlignmentReading& how)
        : path_(path),
          reference_(reference),
          how_(how),
          child_(path, send_alignments,
                 {std::to_string(how.filter.min_mapq), how.filter.keep_duplicates ? "1" : "0",
                  how.whole_fragments ? "1" : "0", std::to_string(how.threads)}) {
        const std::string names = child_.next();
        for (const std::string_view name : rows::split_fields(names, '\n'))
            contigs_.push_back({.name = std::string(name), .index = reference.find(name)});
        contigs_.pop_back();  // behind the last line break
        const auto lengths = child_.next_numbers<std::int64_t>();
        if (lengths.size() != contigs_.size()) child_.throw_unfit();
        std::vector<std::int64_t> in_file(reference.contigs().size(), 0);
        for (std::size_t i = 0; i < contigs_.size(); ++i) {
            if (!contigs_[i].index) continue;
            in_file[*contigs_[i].index] = lengths[i];
            contigs_[i].length = reference.contigs()[*contigs_[i].index].length;
        }
        slice_ = require_lengths(path, reference.contigs(), in_file);
    }

    ReadCounts read(const VisitSpan& visit) {
        for (;;) {
            stop_if_asked();
            const auto spans = child_.next_numbers<SentSpan>();
            if (spans.empty()) break;
            for (const SentSpan& span : spans)
                if (span.contig != no_contig && !read(span, visit)) return {};
        }
        const auto counts = child_.next_numbers<ReadCounts>();
        if (counts.size() != 1) child_.throw_unfit();
        return finish(counts.front());
    }

private:
    bool read(const SentSpan& span, const VisitSpan& visit) {
        if (span.contig < 0 || span.contig >= std::ssize(contigs_) || span.begin < 0 ||
            span.begin >= span.end)
            child_.throw_unfit();
        ContigOfFile& contig = contigs_[static_cast<std::size_t>(span.contig)];
        if (!contig.index || span.end > contig.length) {
            ++contig.outside;
            return true;
        }
        ++contig.inside;
        mates_ += (span.flags & SentSpan::of_pair) != 0 ? 1 : 0;
        contig.last = std::max(contig.last, span.end);
        const bool reverse = (span.flags & SentSpan::reverse) != 0, whole = how_.whole_fragments;
        return (span.flags & SentSpan::silent) != 0 ||
               visit({*contig.index, span.begin, span.end, whole || !reverse, whole || reverse});
    }

    /// Counts the spans that do not fit the reference, and says what was read.
    ReadCounts finish(ReadCounts counts) {
        genome::AssemblyFit fit;
        for (const ContigOfFile& contig : contigs_) {
            add(fit, contig, contig.inside, genome::Fit::inside);
            add(fit, contig, contig.outside,
                contig.index ? genome::Fit::past_end : genome::Fit::unknown_contig);
            counts.counted += contig.inside;
        }
        counts.off_reference = fit.off_reference();
        counts.mates = mates_;
        const std::string name = path_.string();
        genome::require_assembly(fit, reference_, name, "reads", how_.skip_invalid);
        if (!how_.logs) return counts;
        if (!slice_.empty()) log_warning("{}", slice_);
        if (fit.off_reference() > 0)
            log_warning("{}: {} of {} reads do not count: {}", name, fit.off_reference(), fit.rows,
                        fit.misfits());
        std::string dropped;
        for (const auto& [reason, count] : dropped_reads)
            if (counts.*count > 0) dropped += fmt::format(", {} {}", counts.*count, reason);
        log_info("{}: {} of {} count{}", name, counts.counted, counted(counts.all, "read"), dropped);
        return counts;
    }

    /// Counts `reads` of a contig, the last of which ends where the contig's last does.
    void add(genome::AssemblyFit& fit, const ContigOfFile& contig, std::int64_t reads,
             genome::Fit how) const {
        if (reads == 0) return;
        fit.add({contig.name, contig.last - 1, contig.last}, how, reference_);
        fit.rows += reads - 1;
        if (how == genome::Fit::unknown_contig) {
            fit.unknown_contig += reads - 1;
            fit.foreign[contig.name] += reads - 1;
        } else if (how == genome::Fit::past_end) {
            fit.past_end += reads - 1;
            fit.named[*contig.index].past += reads - 1;
        }
    }

    fs::path path_;
    std::string slice_;  ///< a warning
    std::int64_t mates_ = 0;
    const genome::ReferenceGenome& reference_;
    AlignmentReading how_;
    ChildReader child_;
    std::vector<ContigOfFile> contigs_;
};

}  // namespace

ReadCounts& ReadCounts::operator+=(const ReadCounts& other) {
    for (const auto& [reason, count] : dropped_reads)
        this->*count += other.*count;
    all += other.all;
    counted += other.counted;
    mates += other.mates;
    return *this;
}

bool is_alignments(const fs::path& path) {
    const std::string name = lower_case(path.filename().string());
    return name.ends_with(".bam") || name.ends_with(".cram");
}

ReadCounts read_alignments(const fs::path& path, const genome::ReferenceGenome& reference,
                           const AlignmentReading& how, const VisitSpan& visit) {
    require_readable(path);
    return SpanReader(path, reference, how).read(visit);
}

}  // namespace bigbird::examples
