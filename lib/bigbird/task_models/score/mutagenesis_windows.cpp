// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/interrupt.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/task_models/score/mutagenesis.hpp"

#include <algorithm>

namespace bigbird::task_models {

namespace {

constexpr std::size_t letters = letters_of_changes.size();
constexpr std::int64_t bases_a_call = std::int64_t{1} << 22, most_a_call = 1024;

class WindowEffects : public MutationEffects {
public:
    WindowEffects(Predictor models, const MutagenesisSpec& spec, int threads)
        : models_(std::move(models)),
          spec_(spec),
          threads_(threads),
          windows_(models_.models(), !spec.by_records()) {}
    std::span<const ModelFolder> models() const override { return models_.models(); }
    std::int64_t longest() const override { return spec_.by_records() ? 0 : models_.info().window.size(); }

    std::vector<float> substitutions(const MutatedRow& row) override {
        std::vector<float> effects = no_effects(row.dna, labels());
        const genome::Interval window = windows_.of(row.where, row.head.strand);
        const std::string dna = row.sequence_of(window);
        std::vector<Change> changes = all_changes(row.dna);
        std::erase_if(changes, [&](const Change& change) {
            const std::int64_t at = row.where.begin + change.base;
            return at < window.begin || at >= window.end;
        });
        const auto text_of = [&](std::size_t i) {
            std::string text = dna;
            text[static_cast<std::size_t>(row.where.begin + changes[i].base - window.begin)] =
                letters_of_changes[changes[i].code];
            return text;
        };
        score_each(row, changes.size(), window.size(), text_of, [&](std::size_t i, std::vector<float> own) {
            const std::size_t at = static_cast<std::size_t>(changes[i].base) * letters + changes[i].code;
            std::ranges::copy(own, effects.begin() + static_cast<std::ptrdiff_t>(at * labels()));
        });
        return effects;
    }

    void stretches(const MutatedRow& row, const PutStretch& put) override {
        const std::int64_t size = std::max(spec_.deleted, spec_.shuffled);
        const genome::Interval window = windows_.of(row.where, row.head.strand);
        const auto text_of = [&](std::size_t i) {
            return with_stretch(row, window, row.where.begin + static_cast<std::int64_t>(i), spec_,
                                windows_.whole_records);
        };
        const auto count = static_cast<std::size_t>(std::max<std::int64_t>(0, row.where.size() - size + 1));
        score_each(row, count, window.size(), text_of, [&](std::size_t i, std::vector<float> effects) {
            const std::int64_t first = row.head.where.begin + static_cast<std::int64_t>(i);
            const bool nothing =
                row.dna.substr(i, static_cast<std::size_t>(size)).find_first_not_of('N') == std::string::npos;
            if (nothing) effects.clear();
            put({row.head.where.contig, first, first + size}, std::move(effects));
        });
    }

private:
    std::size_t labels() const { return models_.labels().size(); }

    /// Calls `put` in order with the effects of each of the `count` edited versions of the row's window.
    template <typename TextOf, typename Put>
    void score_each(const MutatedRow& row, std::size_t count, std::int64_t bases, const TextOf& text_of,
                    const Put& put) {
        const bool reverse = windows_.reverse(row.head.strand);
        const auto oriented = [&](std::string text) {
            return reverse ? genome::reverse_complement(text) : text;
        };
        const auto scores = [&](const std::vector<std::string>& texts) {
            return models_.score(models_.encode(texts, threads_));
        };
        const std::vector<double> ref =
            scores({oriented(row.sequence_of(windows_.of(row.where, row.head.strand)))});
        const auto most =
            static_cast<std::size_t>(std::clamp(bases_a_call / bases, std::int64_t{1}, most_a_call));
        for (std::size_t first = 0; first < count; first += most) {
            stop_if_asked();
            std::vector<std::string> texts;
            for (std::size_t i = first; i < std::min(first + most, count); ++i)
                texts.push_back(oriented(text_of(i)));
            const std::vector<double> alt = scores(texts);
            for (std::size_t i = 0; i < texts.size(); ++i) {
                std::vector<float> effects;
                for (std::size_t label = 0; label < labels(); ++label)
                    effects.push_back(effect_of(ref[label], alt[i * labels() + label], spec_.quantity,
                                                models_.info().link()));
                put(first + i, std::move(effects));
            }
        }
    }

    Predictor models_;
    const MutagenesisSpec& spec_;
    int threads_;
    RowWindows windows_;
};

}  // namespace

std::unique_ptr<MutationEffects> window_effects(Predictor models, const MutagenesisSpec& spec, int threads) {
    return std::make_unique<WindowEffects>(std::move(models), spec, threads);
}

}  // namespace bigbird::task_models
