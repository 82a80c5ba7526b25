// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/variant_writer.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/text/text_output.hpp"

#include <htslib/hts.h>
#include <htslib/tbx.h>
#include <htslib/vcf.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

namespace bigbird::genome {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t end_of_tbi = std::int64_t{1} << 29;
constexpr int smallest_csi_bin = 14;  // as bcftools index has it

fs::path index_path(const fs::path& path, bool csi) {
    return path.string() + (csi ? ".csi" : ".tbi");
}

std::string name_of(const Variant& variant) {
    return "record " + std::to_string(variant.record) + " (" + variant.contig + ":" +
           std::to_string(variant.position + 1) + ")";
}

}  // namespace

std::optional<VariantFormat> variant_format_of(const fs::path& path) {
    const std::string name = lower_case(path.filename().string());
    if (path == "-" || name.ends_with(".vcf")) return VariantFormat::vcf;
    if (name.ends_with(".bcf")) return VariantFormat::bcf;
    if (name.ends_with(".vcf.gz") || name.ends_with(".vcf.bgz")) return VariantFormat::bgzipped_vcf;
    return std::nullopt;
}

void set_info(const Variant& variant, VariantHeader& header, std::span<const VariantField> fields) {
    const std::scoped_lock locked(header.lock);
    bcf_hdr_t* const names = header.header.get();
    bcf1_t* const record = variant.whole.get();
    for (const VariantField& field : fields) {
        const char* const name = field.name.c_str();
        int result = bcf_update_info(names, record, name, nullptr, 0, BCF_HT_STR);
        const int key = bcf_hdr_id2int(names, BCF_DT_ID, name);
        for (bcf_info_t& info : std::span(record->d.info, record->n_info))  // a name may occur twice
            if (info.key == key) info.vptr = nullptr;
        std::vector<float> numbers = field.numbers;
        for (float& number : numbers)
            if (std::isnan(number)) bcf_float_set_missing(number);
        if (!numbers.empty()) {
            result |=
                bcf_update_info_float(names, record, name, numbers.data(), static_cast<int>(numbers.size()));
        } else if (!field.text.empty()) {
            result |= bcf_update_info_string(names, record, name, field.text.c_str());
        }
        if (result < 0) throw InputError(name_of(variant) + " takes no further INFO field");
    }
}

VariantWriter::VariantWriter(const fs::path& path, Overwrite overwrite, std::shared_ptr<VariantHeader> header,
                             int threads)
    : name_(path), overwrite_(overwrite), format_(*variant_format_of(path)), header_(std::move(header)) {
    constexpr const char* modes[] = {"w", "wz", "wb"};
    if (path != "-") file_.emplace(path, overwrite);
    const fs::path& target = file_ ? file_->path() : path;
    out_.reset(hts_open(target.c_str(), modes[static_cast<std::size_t>(format_)]));
    if (!out_) throw_cannot_be_made(path, errno);
    if (threads > 1 && format_ != VariantFormat::vcf) hts_set_threads(out_.get(), threads);
    const std::scoped_lock locked(header_->lock);
    require(bcf_hdr_write(out_.get(), header_->header.get()) == 0);
}

void VariantWriter::require(bool fine) const {
    if (!fine) throw_writing_failed(name_, "is the disk full?");
}

void VariantWriter::note_order(const Variant& variant) {
    if (variant.contig != contig_) {
        sorted_ = sorted_ && contigs_.insert(variant.contig).second;
        contig_ = variant.contig;
        last_ = -1;
    }
    sorted_ = sorted_ && variant.position >= last_;
    last_ = variant.position;
    end_ = std::max(end_, variant.position + std::ssize(variant.ref));
}

void VariantWriter::write_index() {
    const bool bcf = format_ == VariantFormat::bcf;
    for (const bool csi : {false, true})  // the index of an earlier file would be wrong
        if (overwrite_ == Overwrite::allow) remove_quietly(index_path(name_, csi));
    if (!sorted_) {
        log_warning("{}: has no index, because its records are not sorted; sort it with bcftools sort",
                    name_.string());
        return;
    }
    const bool csi = bcf || end_ >= end_of_tbi;
    const int bin = csi ? smallest_csi_bin : 0;
    index_.emplace(index_path(name_, csi), overwrite_);
    const char *const from = file_->path().c_str(), *const to = index_->path().c_str();
    require((bcf ? bcf_index_build3(from, to, bin, 1) : tbx_index_build3(from, to, bin, 1, &tbx_conf_vcf)) ==
            0);
}

void VariantWriter::write(const Variant& variant) {
    const std::scoped_lock locked(header_->lock);
    bcf1_t* const record = variant.whole.get();
    if (static_cast<int>(record->n_sample) != bcf_hdr_nsamples(header_->header.get()))
        throw InputError(name_of(variant) + " has no columns of the samples that the header names");
    if ((record->errcode & (BCF_ERR_CTG_UNDEF | BCF_ERR_TAG_UNDEF)) != 0) {
        if (format_ == VariantFormat::bcf) {
            throw InputError(name_of(variant) +
                             " has a contig or field that the header lacks, which BCF cannot hold; write "
                             ".vcf.gz, or complete the header with bcftools reheader");
        }
        record->errcode = 0;
    }
    require(bcf_write(out_.get(), header_->header.get(), record) == 0);
    note_order(variant);
}

void VariantWriter::finish(std::vector<PendingOutput*>& pending) {
    require(hts_close(out_.release()) == 0);
    if (format_ != VariantFormat::vcf) write_index();
    if (file_) pending.push_back(&*file_);
    if (index_) pending.push_back(&*index_);
}

void prepare_variant_output(const fs::path& path, Overwrite overwrite) {
    if (path == "-") return;
    prepare_output(path, overwrite);
    const VariantFormat format = *variant_format_of(path);
    if (format != VariantFormat::vcf)
        prepare_output(index_path(path, format == VariantFormat::bcf), overwrite);
}

}  // namespace bigbird::genome
