// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/variant_reader.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/genome/regions/variant_header.hpp"
#include "bigbird/genome/text/byte_stream.hpp"

#include <htslib/hts.h>
#include <htslib/vcf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>

namespace bigbird::genome {

namespace {

struct CloseFile {
    void operator()(htsFile* file) const noexcept { hts_close(file); }
};
struct CloseHeader {
    void operator()(bcf_hdr_t* header) const noexcept { bcf_hdr_destroy(header); }
};
struct CloseRecord {
    void operator()(bcf1_t* record) const noexcept { bcf_destroy(record); }
};

/// Whether the line just read has the columns up to ALT, and a number in POS. htslib takes a line of four,
/// and "nowhere" for 0 and "12x" for 12. It has ended the line's fields by zeros.
bool is_record(const htsFile& file) {
    if (file.format.format != vcf) return true;
    constexpr int tabs_before_alt = 4;
    const std::string_view line(file.line.s, file.line.l);
    if (std::ranges::count_if(line, [](char c) { return c == '\0' || c == '\t'; }) < tabs_before_alt)
        return false;
    const char* const position = line.data() + std::strlen(line.data()) + 1;
    return *position != '\0' && position[std::strspn(position, "0123456789")] == '\0';
}

}  // namespace

struct VariantReader::State {
    std::filesystem::path path;
    std::unique_ptr<htsFile, CloseFile> file;
    std::unique_ptr<bcf_hdr_t, CloseHeader> header;
    std::unique_ptr<bcf1_t, CloseRecord> record;
    std::int64_t records = 0;
};

VariantReader::VariantReader(std::filesystem::path path) : state_(new State) {
    detail::silence_htslib();
    state_->path = std::move(path);
    require_readable(state_->path);
    detail::check_variant_header(state_->path);
    state_->file.reset(hts_open(state_->path.c_str(), "r"));
    if (!state_->file) throw InputError("cannot be opened as VCF or BCF", state_->path);
    const htsFormat* format = hts_get_format(state_->file.get());
    const bool is_readable = format->compression == no_compression || format->compression == gzip ||
                             format->compression == bgzf;  // of others htslib would end the program
    if (!is_readable || (format->format != vcf && format->format != bcf)) {
        throw InputError("is no VCF or BCF: a first line '##fileformat=VCF…' is needed", state_->path);
    }
    if (state_->path != "-" && hts_check_EOF(state_->file.get()) == 0) {
        throw InputError("is truncated: its last block is missing; copy it again", state_->path);
    }
    errno = 0;
    state_->header.reset(bcf_hdr_read(state_->file.get()));
    if (!state_->header && errno == ENOMEM) throw std::bad_alloc();
    if (!state_->header) {
        throw InputError("its VCF header is damaged: a line '#CHROM POS ID REF ALT …' is needed",
                         state_->path);
    }
    state_->record.reset(bcf_init());
}

VariantReader::~VariantReader() = default;
VariantReader::VariantReader(VariantReader&&) noexcept = default;

std::optional<Variant> VariantReader::next() {
    bcf1_t* const record = state_->record.get();
    const int result = bcf_read(state_->file.get(), state_->header.get(), record);
    if (result == -1) return std::nullopt;
    ++state_->records;
    // Contigs that the header lacks are fine: htslib adds them.
    const bool damaged = result < -1 || (record->errcode & ~(BCF_ERR_CTG_UNDEF | BCF_ERR_TAG_UNDEF)) != 0 ||
                         bcf_unpack(record, BCF_UN_STR) < 0;
    if (damaged || record->n_allele < 1 || !is_record(*state_->file) || record->pos < -1) {
        throw InputError("record " + std::to_string(state_->records) +
                             " is malformed or cut off; 'bcftools view' shows what is wrong with it",
                         state_->path);
    }
    Variant variant;
    variant.contig = bcf_seqname_safe(state_->header.get(), record);
    variant.position = record->pos;
    variant.id = record->d.id;
    variant.ref = record->d.allele[0];
    for (std::uint32_t allele = 1; allele < record->n_allele; ++allele) {
        variant.alts.emplace_back(record->d.allele[allele]);
    }
    variant.record = state_->records;
    return variant;
}

const std::filesystem::path& VariantReader::path() const {
    return state_->path;
}

}  // namespace bigbird::genome
