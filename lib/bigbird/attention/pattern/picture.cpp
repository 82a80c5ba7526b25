// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/pattern/picture.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

namespace bigbird::attention {

namespace {

char letter(const PatternSpec& spec, int blocks, int row, int column, int multiplicity) {
    if (multiplicity > 1) {
        return static_cast<char>('0' + std::min(multiplicity, 9));
    }
    if (spec.is_full(blocks) || spec.is_global(blocks, row) || spec.is_global(blocks, column)) {
        return '#';
    }
    const bool window =
        spec.kind == PatternKind::longformer || std::abs(row - column) <= spec.window_blocks / 2;
    return window && spec.window_blocks > 0 ? 'o' : '*';
}

std::pair<std::size_t, std::size_t> entries_of(const BlockLayout& layout, int row) {
    return {static_cast<std::size_t>(layout.row_offsets[static_cast<std::size_t>(row)]),
            static_cast<std::size_t>(layout.row_offsets[static_cast<std::size_t>(row) + 1])};
}

}  // namespace

CellKind kind_of(char letter) {
    if (letter == '#') return {'#', "global", "#d1495b"};
    if (letter == 'o') return {'o', "window", "#30638e"};
    if (letter == '*') return {'*', "random", "#edae49"};
    return {'2', "counts more", "#5c8001"};
}

char letter_of(const PatternSpec& spec, const BlockLayout& layout, int row, std::size_t entry) {
    return letter(spec, layout.rows(), row, layout.columns[entry], layout.multiplicity[entry]);
}

std::string picture(const PatternSpec& spec, const BlockLayout& layout) {
    const auto blocks = static_cast<std::size_t>(layout.rows());
    std::string text;
    for (int row = 0; row < layout.rows(); ++row) {
        std::string line(blocks, '.');
        const auto [begin, end] = entries_of(layout, row);
        for (std::size_t i = begin; i < end; ++i) {
            line[static_cast<std::size_t>(layout.columns[i])] = letter_of(spec, layout, row, i);
        }
        text += line + '\n';
    }
    return text;
}

std::string svg_picture(const PatternSpec& spec, const BlockLayout& layout, const std::string& title) {
    const int cell = std::max(2, 320 / layout.rows()), side = cell * layout.rows(), top = 30;
    std::set<char> kinds;
    std::string cells;
    for (int row = 0; row < layout.rows(); ++row) {
        const auto [begin, end] = entries_of(layout, row);
        for (std::size_t i = begin; i < end; ++i) {
            const CellKind kind = kind_of(letter_of(spec, layout, row, i));
            const bool pale = !layout.mask.empty() && layout.mask[i] >= 0;
            kinds.insert(kind.letter);
            cells += "<rect x='" + std::to_string(10 + layout.columns[i] * cell) + "' y='" +
                     std::to_string(top + row * cell) + "' width='" + std::to_string(cell) + "' height='" +
                     std::to_string(cell) + "' fill='" + kind.colour + (pale ? "' opacity='0.55" : "") +
                     "'/>\n";
        }
    }
    std::string legend;
    int x = 10;
    for (const char letter : kinds) {
        const CellKind kind = kind_of(letter);
        legend += "<rect x='" + std::to_string(x) + "' y='" + std::to_string(top + side + 10) +
                  "' width='10' height='10' fill='" + kind.colour + "'/><text x='" + std::to_string(x + 14) +
                  "' y='" + std::to_string(top + side + 19) + "'>" + kind.name + "</text>\n";
        x += 84;
    }
    const int width = std::max(side + 20, x + 10);
    return "<svg xmlns='http://www.w3.org/2000/svg' width='" + std::to_string(width) + "' height='" +
           std::to_string(top + side + 30) +
           "' font-family='sans-serif' font-size='11' shape-rendering='crispEdges'>\n" +
           "<rect width='100%' height='100%' fill='white'/>\n<text x='10' y='19' font-size='13'>" + title +
           "</text>\n<rect x='10' y='" + std::to_string(top) + "' width='" + std::to_string(side) +
           "' height='" + std::to_string(side) + "' fill='#f1f1f4'/>\n" + cells + legend + "</svg>\n";
}

LayoutCost cost_of(const PatternSpec& spec, const BlockLayout& layout) {
    LayoutCost cost;
    cost.blocks = layout.rows();
    cost.pairs = static_cast<std::int64_t>(layout.columns.size());
    const auto blocks = static_cast<double>(cost.blocks), pairs = static_cast<double>(cost.pairs);
    cost.keys_per_query = pairs / blocks * spec.block_size;
    cost.share_of_full = pairs / (blocks * blocks);
    return cost;
}

}  // namespace bigbird::attention
