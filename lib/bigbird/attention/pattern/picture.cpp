// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/pattern/picture.hpp"

#include "bigbird/core/error.hpp"

#include <png.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <vector>

namespace bigbird::attention {

namespace {

char letter(const PatternSpec& spec, int blocks, int row, int column, int multiplicity) {
    if (multiplicity > 1) return static_cast<char>('0' + std::min(multiplicity, 9));
    if (spec.is_full(blocks) || spec.is_global(blocks, row) || spec.is_global(blocks, column)) return '#';
    const bool window =
        spec.kind == PatternKind::longformer || std::abs(row - column) <= spec.window_blocks / 2;
    return window && spec.window_blocks > 0 ? 'o' : '*';
}

constexpr std::uint32_t unattended = 0xf1f1f4;

struct CellKind {
    char letter;
    const char* name;
    std::uint32_t colour;  ///< 0xrrggbb
};

/// What a letter of picture() means; all digits are one kind.
CellKind kind_of(char letter) {
    if (letter == '#') return {'#', "global", 0xd1495b};
    if (letter == 'o') return {'o', "window", 0x30638e};
    if (letter == '*') return {'*', "random", 0xedae49};
    return {'2', "counts more", 0x5c8001};
}

/// Calls visit(row, column, letter, is_masked) for each attended block.
template <typename Visit>
void for_cells(const PatternSpec& spec, const BlockLayout& layout, const Visit& visit) {
    for (int row = 0; row < layout.rows(); ++row) {
        for (const std::size_t i : layout.entries(row)) {
            visit(row, layout.columns[i],
                  letter(spec, layout.rows(), row, layout.columns[i], layout.multiplicity[i]),
                  layout.is_masked(i));
        }
    }
}

std::string svg_square(int x, int y, int side, std::uint32_t colour, std::string_view more = "") {
    return fmt::format("<rect x='{}' y='{}' width='{}' height='{}' fill='#{:06x}{}'/>", x, y, side, side,
                       colour, more);
}

}  // namespace

std::string picture(const PatternSpec& spec, const BlockLayout& layout) {
    const auto blocks = static_cast<std::size_t>(layout.rows());
    std::vector<std::string> lines(blocks, std::string(blocks, '.') + '\n');
    for_cells(spec, layout, [&](int row, int column, char letter, bool) {
        lines[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = letter;
    });
    return std::accumulate(lines.begin(), lines.end(), std::string());
}

std::string svg_picture(const PatternSpec& spec, const BlockLayout& layout, const std::string& title) {
    const int cell = std::max(2, 320 / layout.rows()), side = cell * layout.rows(), top = 30;
    std::set<char> kinds;
    std::string cells;
    for_cells(spec, layout, [&](int row, int column, char letter, bool pale) {
        const CellKind kind = kind_of(letter);
        kinds.insert(kind.letter);
        cells += svg_square(10 + column * cell, top + row * cell, cell, kind.colour,
                            pale ? "' opacity='0.55" : "") +
                 '\n';
    });
    std::string legend;
    int x = 10;
    for (const char letter : kinds) {
        const CellKind kind = kind_of(letter);
        legend +=
            fmt::format("{}<text x='{}' y='{}'>{}</text>\n", svg_square(x, top + side + 10, 10, kind.colour),
                        x + 14, top + side + 19, kind.name);
        x += 84;
    }
    const int width = std::max(side + 20, x + 10);
    return fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{}' height='{}' font-family='sans-serif' "
        "font-size='11' shape-rendering='crispEdges'>\n<rect width='100%' height='100%' fill='white'/>\n"
        "<text x='10' y='19' font-size='13'>{}</text>\n{}\n{}{}</svg>\n",
        width, top + side + 30, title, svg_square(10, top, side, unattended), cells, legend);
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

namespace {

/// A character of 5 x 7 dots: 35 bits, row by row from the top, the highest first.
struct Glyph {
    char character;
    std::uint64_t dots;
};
constexpr int glyph_columns = 5, glyph_rows = 7, dot = 2;
constexpr int advance = (glyph_columns + 1) * dot;
// clang-format off
constexpr std::array<Glyph, 39> glyphs{{
    {'+', 0x0084f9080ULL}, {',', 0x000001088ULL}, {'-', 0x0000f8000ULL}, {'0', 0x3a33ae62eULL},
    {'1', 0x11842108eULL}, {'2', 0x3a211111fULL}, {'3', 0x7c441062eULL}, {'4', 0x08ca97c42ULL},
    {'5', 0x7e1e0862eULL}, {'6', 0x1910f462eULL}, {'7', 0x7c2222108ULL}, {'8', 0x3a317462eULL},
    {'9', 0x3a317844cULL}, {'a', 0x000e0be2fULL}, {'b', 0x421e8c63eULL}, {'c', 0x000e8422eULL},
    {'d', 0x042f8c62fULL}, {'e', 0x000e8fe0eULL}, {'f', 0x1928e2108ULL}, {'g', 0x01f18bc2eULL},
    {'h', 0x421e8c631ULL}, {'i', 0x100c2108eULL}, {'j', 0x080610a4cULL}, {'k', 0x4212a6292ULL},
    {'l', 0x30842108eULL}, {'m', 0x001aad631ULL}, {'n', 0x001e8c631ULL}, {'o', 0x000e8c62eULL},
    {'p', 0x001e8fa10ULL}, {'q', 0x000f8bc21ULL}, {'r', 0x0016cc210ULL}, {'s', 0x000f8383eULL},
    {'t', 0x211c42126ULL}, {'u', 0x00118c62fULL}, {'v', 0x00118c544ULL}, {'w', 0x00118d6aaULL},
    {'x', 0x001151151ULL}, {'y', 0x00118bc2eULL}, {'z', 0x001f1111fULL},}};
// clang-format on

constexpr std::uint32_t white = 0xffffff, black = 0x222222;

/// An image with three bytes per pixel; drawing beyond the edges is clipped.
class Canvas {
public:
    Canvas(int width, int height)
        : width_(width),
          height_(height),
          pixels_(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0xff) {}

    void fill(int x, int y, int width, int height, std::uint32_t colour) {
        for (int row = std::max(y, 0); row < std::min(y + height, height_); ++row) {
            for (int column = std::max(x, 0); column < std::min(x + width, width_); ++column) {
                std::uint8_t* const pixel =
                    pixels_.data() + 3 * (static_cast<std::size_t>(row) * static_cast<std::size_t>(width_) +
                                          static_cast<std::size_t>(column));
                pixel[0] = static_cast<std::uint8_t>(colour >> 16);
                pixel[1] = static_cast<std::uint8_t>(colour >> 8);
                pixel[2] = static_cast<std::uint8_t>(colour);
            }
        }
    }

    void write(int x, int y, const std::string& text) {
        for (const char character : text) {
            const auto* const glyph = std::ranges::find(glyphs, character, &Glyph::character);
            for (int i = 0; glyph != glyphs.end() && i < glyph_rows * glyph_columns; ++i)
                if ((glyph->dots >> (glyph_rows * glyph_columns - 1 - i) & 1U) != 0)
                    fill(x + i % glyph_columns * dot, y + i / glyph_columns * dot, dot, dot, black);
            x += advance;
        }
    }

    std::string as_png() const {
        png_image image{};
        image.version = PNG_IMAGE_VERSION;
        image.width = static_cast<png_uint_32>(width_);
        image.height = static_cast<png_uint_32>(height_);
        image.format = PNG_FORMAT_RGB;
        png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
        std::string file(bytes, '\0');
        if (png_image_write_to_memory(&image, file.data(), &bytes, 0, pixels_.data(), 0, nullptr) == 0)
            throw WriteError(std::string("the PNG cannot be made: ") + image.message);
        file.resize(bytes);
        return file;
    }

private:
    int width_, height_;
    std::vector<std::uint8_t> pixels_;
};

/// `colour` mixed with white, for blocks in which an element mask leaves out tokens.
std::uint32_t paler(std::uint32_t colour) {
    std::uint32_t mixed = 0;
    for (const unsigned shift : {16U, 8U, 0U}) {
        const std::uint32_t part = colour >> shift & 0xffU;
        mixed |= (part * 55 + 0xffU * 45) / 100 << shift;
    }
    return mixed;
}

}  // namespace

std::string png_picture(const PatternSpec& spec, const BlockLayout& layout, const std::string& title) {
    constexpr int margin = 16, top = 44, legend_space = 46;
    const int cell = std::max(2, 640 / layout.rows()), side = cell * layout.rows();
    std::map<std::string, std::uint32_t> kinds;
    for_cells(spec, layout,
              [&](int, int, char letter, bool) { kinds[kind_of(letter).name] = kind_of(letter).colour; });
    int legend = 0;
    for (const auto& item : kinds)
        legend += 36 + advance * static_cast<int>(item.first.size());
    const int words = advance * static_cast<int>(title.size());
    Canvas canvas(std::max({side, legend, words}) + 2 * margin, top + side + legend_space);
    canvas.fill(0, 0, 1 << 20, 1 << 20, white);
    canvas.write(margin, margin, title);
    canvas.fill(margin, top, side, side, unattended);
    for_cells(spec, layout, [&](int row, int column, char letter, bool pale) {
        const std::uint32_t colour = kind_of(letter).colour;
        canvas.fill(margin + column * cell, top + row * cell, cell, cell, pale ? paler(colour) : colour);
    });
    int x = margin;
    for (const auto& [name, colour] : kinds) {
        canvas.fill(x, top + side + 16, 14, 14, colour);
        canvas.write(x + 20, top + side + 16, name);
        x += 36 + advance * static_cast<int>(name.size());
    }
    return canvas.as_png();
}

}  // namespace bigbird::attention
