// SPDX-License-Identifier: Apache-2.0
// Builds documents from a genome: plans their sentences and drops those that are not suitable for training.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/parts/shard.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/corpus/documents/document_reader.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::corpus {

// Documents as in the paper, appendix F.1: for each contig, `passes` times, a start drawn from start_offset,
// then documents of consecutive sentences until the contig ends.

/// Both ends included.
struct Range {
    std::int64_t low = 0, high = 0;
};

struct DocumentSpec {
    int passes = 10;
    Range sentences{50, 100};          ///< a document
    Range sentence_length{500, 1000};  ///< bases
    Range start_offset{0, 5000};       ///< bases
    std::uint64_t seed = 0;
    /// Throws ConfigError naming the option that is out of range.
    void validate() const;
};

/// Of one contig, half-open.
using Stretch = std::pair<std::int64_t, std::int64_t>;

/// The documents of one pass (from 0) over one contig, each starting where the one before it ends; together
/// they cover the contig from the start drawn to its end. A function only of (spec, contig name and length,
/// pass), so order and threads never matter.
///
/// At the contig's end the last sentence is cut, however short it gets, and the last document has the
/// sentences that are left. On a short contig, the start is drawn so that at least the shortest sentence
/// follows, so that every contig of one base or more gives a document.
class DocumentPlanner {
public:
    DocumentPlanner(const genome::Contig& contig, const DocumentSpec& spec, int pass);
    /// The sentences of the next document, consecutive, in order; nullopt after the last.
    std::optional<std::vector<Stretch>> next();

private:
    DocumentSpec spec_;
    std::int64_t length_, position_;
    Rng rng_;
};

/// A sentence is dropped unless it is inside `include`, if it overlaps `exclude`, or if more than
/// max_n_fraction of it is N. The document is split there, so that the sentences of a document are always
/// adjacent.
struct BuildSpec {
    DocumentSpec documents{};
    double max_n_fraction = 0.5;                   ///< 1 keeps all, as the paper does
    bool add_reverse_complement = false;           ///< each document also read from the other strand
    std::optional<genome::IntervalSet> include{};  ///< contigs spelled as in the reference, as in `exclude`
    genome::IntervalSet exclude{};
    std::optional<Shard> shard{};  ///< only the documents of this part (core/parts/shard.hpp)
    /// Throws ConfigError naming the option that is out of range.
    void validate() const;
    /// The parameters that change the result, by their options' names; for the interval sets, their number of
    /// bases.
    Json parameters() const;
};

struct PlacedDocument {
    std::string contig;
    bool reverse = false;
    /// In the order of the document's sentences: descending if reversed.
    std::vector<Stretch> sentences;
    Document document;         ///< the sentences' letters; empty if text was not requested
    std::int64_t segment = 0;  ///< segment of a job in parts

    std::int64_t bases() const;
};

struct BuildCounts {
    std::int64_t documents = 0, sentences = 0, bases = 0;  ///< handed out
    std::int64_t outside_include = 0, inside_exclude = 0,
                 too_much_n = 0;  ///< sentences dropped, by the first reason that applies
    /// "12 documents, 800 sentences, 600000 bases; dropped 5 sentences with more than 50 % N"
    std::string describe(const BuildSpec& spec) const;
};

/// Whether documents have their letters. unread: they have none, and no sequence is read, so that none is
/// dropped for its N and documents may be none.
enum class BuildText { unread, no, yes };

/// Makes all documents of a genome on up to `threads` threads and hands them to `consume` on the calling
/// thread: contig by contig, pass by pass, each document followed by its reverse complement. The documents
/// and their order do not depend on `threads`. Holds a few megabases per thread, however long the contigs
/// are. `progress` is called on the calling thread with the number done of passes x bases. Throws InputError
/// with the reason where nothing is left; a part may be empty.
BuildCounts build_documents(const genome::ReferenceGenome& genome, const BuildSpec& spec, BuildText text,
                            int threads, const std::function<void(PlacedDocument&&)>& consume,
                            const std::function<void(std::int64_t)>& progress = {});

/// How documents are drawn from a genome that is not open yet.
struct DrawingSpec {
    BuildSpec build{};                              ///< all but include and exclude
    std::vector<std::string> include{}, exclude{};  ///< contigs, regions, BED files

    /// The complete specification on a genome. Throws InputError, ConfigError.
    BuildSpec on(const genome::ReferenceGenome& genome, std::uint64_t seed) const;
};

}  // namespace bigbird::corpus
