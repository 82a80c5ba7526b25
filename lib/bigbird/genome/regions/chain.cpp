// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/chain.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

namespace bigbird::genome {

namespace {

using Block = ChainMap::Block;
using Chain = ChainMap::Chain;

/// Blank-separated words; more than `most` count as most + 1.
template <std::size_t most>
struct Words {
    std::array<std::string_view, most> text;
    std::size_t count = 0;

    explicit Words(std::string_view line) {
        while (true) {
            const std::size_t begin = line.find_first_not_of(" \t");
            if (begin == std::string_view::npos || count > most) return;
            line.remove_prefix(begin);
            const std::size_t length = std::min(line.find_first_of(" \t"), line.size());
            if (count < most) text[count] = line.substr(0, length);
            ++count;
            line.remove_prefix(length);
        }
    }
};

/// Reads chain after chain.
class ChainReader {
public:
    explicit ChainReader(const std::filesystem::path& path) : input_(path) {}

    std::optional<Chain> next() {
        while (input_.next(line_)) {
            if (line_.find_first_not_of(" \t") != std::string::npos && line_.front() != '#') {
                Chain chain = parse_header();
                read_blocks(chain);
                return chain;
            }
        }
        return std::nullopt;
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw input_.fault(what + ": a UCSC chain file is needed");
    }

    std::int64_t number(std::string_view text) const {
        const std::int64_t value = parse_number<std::int64_t>(text).value_or(-1);
        if (value < 0) refuse("'" + shortened(text) + "' is not a number");
        return value;
    }

    /// chain score tName tSize tStrand tStart tEnd qName qSize qStrand qStart qEnd [id]
    Chain parse_header() const {
        const Words<13> words(line_);
        if (words.count < 12 || words.count > 13 || words.text[0] != "chain")
            refuse("a chain begins with 'chain' and eleven or twelve fields");
        const auto& field = words.text;
        if (field[4] != "+" || (field[9] != "+" && field[9] != "-"))
            refuse("the target's strand is + and the query's + or -");
        Chain chain;
        chain.score = number(field[1]);
        chain.target = field[2];
        chain.target_size = number(field[3]);
        chain.target_begin = number(field[5]);
        chain.target_end = number(field[6]);
        chain.query = field[7];
        chain.query_size = number(field[8]);
        chain.reverse = field[9] == "-";
        chain.query_begin = number(field[10]);
        chain.query_end = number(field[11]);
        if (chain.target_begin > chain.target_end || chain.target_end > chain.target_size ||
            chain.query_begin > chain.query_end || chain.query_end > chain.query_size)
            refuse("the chain does not lie on its contigs");
        return chain;
    }

    /// Lines "size dt dq", the last one only "size".
    void read_blocks(Chain& chain) {
        Block at{chain.target_begin, chain.query_begin, 0};
        while (true) {
            if (!input_.next(line_)) refuse("the file ends within a chain");
            const Words<3> words(line_);
            if (words.count != 1 && words.count != 3) refuse("a block has one field or three");
            at.size = number(words.text[0]);
            if (at.size > 0) chain.blocks.push_back(at);
            advance(at, at.size, at.size, chain);
            if (words.count == 1) break;
            advance(at, number(words.text[1]), number(words.text[2]), chain);
        }
        if (at.target != chain.target_end || at.query != chain.query_end) refuse_blocks();
    }

    /// Does not go beyond the chain's ends, so that sums cannot overflow.
    void advance(Block& at, std::int64_t target, std::int64_t query, const Chain& chain) const {
        if (target > chain.target_end - at.target || query > chain.query_end - at.query) refuse_blocks();
        at.target += target;
        at.query += query;
    }

    [[noreturn]] void refuse_blocks() const { refuse("the chain's blocks do not add up to its ends"); }

    TextInput input_;
    std::string line_;
};

/// A base of the chain's query strand, on the forward strand.
Lifted on_query(const Chain& chain, std::int64_t base, Strand strand) {
    if (!chain.reverse) return {{chain.query, base, base + 1}, strand, chain.query_size};
    const std::int64_t end = chain.query_size - base;
    const Strand turned = strand == Strand::forward   ? Strand::reverse
                          : strand == Strand::reverse ? Strand::forward
                                                      : strand;
    return {{chain.query, end - 1, end}, turned, chain.query_size};
}

/// Where the query has a target's base, on the chain's strand; nullopt if it is in no block.
std::optional<std::int64_t> query_of(const Chain& chain, std::int64_t position) {
    const auto block = std::ranges::upper_bound(chain.blocks, position, {},
                                                [](const Block& b) { return b.target + b.size; });
    if (block == chain.blocks.end() || block->target > position) return std::nullopt;
    return block->query + (position - block->target);
}

bool spans(const Chain& chain, std::int64_t position) {
    return position >= chain.target_begin && position < chain.target_end;
}

}  // namespace

const std::vector<ChainMap::Chain>& ChainMap::of(std::string_view contig) const {
    static const std::vector<Chain> none;
    const auto index = names_.find(contig);
    return index ? chains_[*index] : none;
}

ChainMap::ChainMap(const std::filesystem::path& path) {
    std::vector<Contig> contigs;  // the target's, in the file's order
    std::map<std::string, std::size_t> known;
    ChainReader reader(path);
    while (auto chain = reader.next()) {
        const auto [contig, fresh] = known.emplace(chain->target, contigs.size());
        if (fresh) {
            contigs.push_back({chain->target, chain->target_size});
            chains_.emplace_back();
        }
        chains_[contig->second].push_back(std::move(*chain));
    }
    if (contigs.empty()) throw InputError("holds no chains: a UCSC chain file is needed", path);
    for (std::vector<Chain>& chains : chains_)
        std::ranges::stable_sort(chains, std::greater(), &Chain::score);
    names_ = ContigNames(contigs);
}

std::optional<Lifted> ChainMap::lift(std::string_view contig, std::int64_t position, Strand strand) const {
    for (const Chain& chain : of(contig)) {
        if (!spans(chain, position)) continue;
        if (const auto query = query_of(chain, position)) return on_query(chain, *query, strand);
    }
    return std::nullopt;
}

std::string_view ChainMap::why_unmapped(std::string_view contig, std::int64_t position) const {
    const std::vector<Chain>& chains = of(contig);
    if (chains.empty()) return "no_chains";
    const bool spanned =
        std::ranges::any_of(chains, [&](const Chain& chain) { return spans(chain, position); });
    return spanned ? "in_gap" : "outside_chains";
}

}  // namespace bigbird::genome
