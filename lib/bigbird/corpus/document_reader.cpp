#include "bigbird/corpus/document_reader.hpp"
namespace bigbird::corpus {
struct DocumentReader::State {};
DocumentReader::DocumentReader(const std::filesystem::path&, const genome::ReferenceGenome*) {}
DocumentReader::~DocumentReader() = default;
std::optional<Document> DocumentReader::next() {
    return {};
}
}  // namespace bigbird::corpus
