// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/variant_reader.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/genome/regions/variant_header.hpp"
#include "bigbird/genome/text/byte_stream.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <htslib/hts.h>
#include <htslib/vcf.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace bigbird::genome {

namespace {

std::string text_of(const VariantHeader& header) {
    kstring_t text{};
    if (bcf_hdr_format(header.header.get(), 0, &text) != 0) throw std::bad_alloc();
    std::string copy(text.s, text.l);
    std::free(text.s);
    return copy;
}

/// Returns what is wrong with the line just read, or "" if it has the columns up to ALT and a number as POS.
/// htslib accepts a line of four columns, reads POS "nowhere" as 0, and "12x" as 12. By then htslib has
/// replaced the separators of the line's fields by zeros.
std::string fault_of_line(const htsFile& file, int error) {
    if (file.format.format != vcf) return {};
    if ((error & BCF_ERR_NCOLS) != 0) return "has another number of samples than the line #CHROM";
    constexpr std::int64_t columns_to_alt = 5;
    const std::string_view line(file.line.s, file.line.l);
    if (line.empty()) return "is an empty line";
    const std::int64_t columns =
        1 + std::ranges::count_if(line, [](char c) { return c == '\0' || c == '\t'; });
    if (columns < columns_to_alt) {
        return "has " + std::to_string(columns) + (columns == 1 ? " column" : " columns") +
               " where a record needs CHROM, POS, ID, REF and ALT, "
               "separated by tabs";
    }
    const std::string position = line.data() + line.find_first_of(std::string_view("\0\t", 2)) + 1;
    const std::string text = position.substr(0, position.find('\t'));
    if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) return {};
    return "POS '" + text + "' is no position";
}

/// Removes what `line` replaces in a header: the INFO field of its name, or the lines of its key and of all
/// keys that begin with it and `_`.
void remove_replaced(bcf_hdr_t* header, std::string_view line) {
    constexpr std::string_view info = "##INFO=<ID=";
    if (line.starts_with(info)) {
        line.remove_prefix(info.size());
        bcf_hdr_remove(header, BCF_HL_INFO, std::string(line.substr(0, line.find(','))).c_str());
        return;
    }
    const std::string key(line.substr(2, line.find('=') - 2));
    std::set<std::string> replaced;
    for (const bcf_hrec_t* entry : std::span(header->hrec, static_cast<std::size_t>(header->nhrec)))
        if (entry->type == BCF_HL_GEN &&
            (entry->key == key || std::string(entry->key).starts_with(key + "_")))
            replaced.insert(entry->key);
    for (const std::string& other : replaced)
        bcf_hdr_remove(header, BCF_HL_GEN, other.c_str());
}

/// Throws InputError if the stream is damaged, or has `ended` and is not closed.
void require_sound(const htsFile& file, bool ended, const std::filesystem::path& path, std::int64_t line) {
    if (file.is_bgzf) return detail::require_sound(*file.fp.bgzf, ended, path, line);
    if (const int error = herrno(file.fp.hfile))
        throw ReadError(std::string("cannot be read: ") + std::strerror(error), path, line);
}

}  // namespace

void CloseVariants::operator()(htsFile* file) const noexcept {
    hts_close(file);
}

void VariantReader::new_record() {
    record_ = {bcf_init(), bcf_destroy};
}

VariantReader::VariantReader(std::filesystem::path path) : path_(std::move(path)) {
    detail::silence_htslib();
    require_readable(path_);
    detail::check_variant_header(path_);
    file_.reset(hts_open(path_.c_str(), "r"));
    if (!file_) throw InputError("cannot be opened as VCF or BCF", path_);
    const htsFormat* format = hts_get_format(file_.get());
    const bool is_readable = format->compression == no_compression || format->compression == gzip ||
                             format->compression == bgzf;  // htslib would end the program on other formats
    if (!is_readable || (format->format != vcf && format->format != bcf))
        throw InputError(
            "is no VCF or BCF: a first line '##fileformat=VCF…' is needed; docs/recipes.md makes a VCF of a "
            "table",
            path_);
    if (path_ != "-" && hts_check_EOF(file_.get()) == 0) detail::refuse_unclosed(path_);
    errno = 0;
    header_->header = {bcf_hdr_read(file_.get()), bcf_hdr_destroy};
    if (!header_->header && errno == ENOMEM) throw std::bad_alloc();
    if (!header_->header) detail::refuse_variant_header(path_);
    new_record();
}

std::shared_ptr<VariantHeader> VariantReader::keep_records(std::span<const std::string> lines) {
    keeps_records_ = true;
    bcf_hdr_t* const header = header_->header.get();
    for (const std::string& line : lines)
        remove_replaced(header, line);
    for (const std::string& line : lines)
        if (bcf_hdr_append(header, line.c_str()) != 0)
            throw InputError("its header takes no further line (" + line + ")", path_);
    if (bcf_hdr_sync(header) != 0) throw std::bad_alloc();
    return header_;
}

void VariantReader::share_header(const std::shared_ptr<VariantHeader>& header) {
    if (text_of(*header) != text_of(*header_))
        throw InputError("has another header than the first part: they are of different runs", path_);
    header_ = header;
    keeps_records_ = true;
}

std::optional<Variant> VariantReader::next() {
    const std::scoped_lock locked(header_->lock);
    if (keeps_records_) new_record();
    bcf1_t* const record = record_.get();
    bcf_hdr_t* const header = header_->header.get();
    const int result = bcf_read(file_.get(), header, record);
    const std::int64_t line = file_->format.format == vcf ? file_->lineno : 0;
    if (result == -1) {
        require_sound(*file_, true, path_, std::max<std::int64_t>(0, line - 1));
        return std::nullopt;
    }
    ++records_;
    // Contigs missing from the header are accepted: htslib adds them.
    const bool damaged = result < -1 || (record->errcode & ~(BCF_ERR_CTG_UNDEF | BCF_ERR_TAG_UNDEF)) != 0 ||
                         bcf_unpack(record, BCF_UN_STR) < 0;
    const std::string fault = fault_of_line(*file_, record->errcode);
    if (damaged || record->n_allele < 1 || !fault.empty() || record->pos < -1) {
        const bool ended = file_->is_bgzf != 0 && bgzf_peek(file_->fp.bgzf) < 0;
        require_sound(*file_, ended, path_, line);  // the text of a cut file is not to blame
        throw InputError(
            !fault.empty() ? fault : "record " + std::to_string(records_) + " is malformed or cut off", path_,
            line);
    }
    Variant variant;
    variant.contig = bcf_seqname_safe(header, record);
    variant.position = record->pos;
    variant.id = record->d.id;
    variant.ref = record->d.allele[0];
    for (std::uint32_t allele = 1; allele < record->n_allele; ++allele)
        variant.alts.emplace_back(record->d.allele[allele]);
    const auto names = {variant.contig, variant.id, variant.ref};
    if (!std::ranges::all_of(names, is_utf8) || !std::ranges::all_of(variant.alts, is_utf8))
        throw InputError("record " + std::to_string(records_) + " is " + not_utf8, path_, line);
    variant.record = records_;
    variant.line = line;
    if (keeps_records_) variant.whole = record_;
    return variant;
}

}  // namespace bigbird::genome
