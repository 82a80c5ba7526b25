// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/pickle.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/networks/files/little_endian.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

namespace bigbird::networks {

namespace {

using Kind = PickleObject::Kind;
using Refs = std::vector<PickleRef>;

// Of names and numbers: tensors are elsewhere.
constexpr std::size_t most_pickle_bytes = std::size_t{1} << 26, most_objects = 2'000'000;

/// Runs the opcodes on a stack of references to objects.
class PickleReader {
public:
    PickleReader(std::span<const std::byte> bytes, const std::filesystem::path& path)
        : bytes_(bytes), path_(path) {
        if (bytes.size() > most_pickle_bytes) fail("it is too long");
        add({});  // the object of the reference 0
    }

    Pickle read() {
        for (;;) {
            const auto opcode = number<std::uint8_t>();
            if (opcode == '.') break;
            run(opcode);
        }
        pickle_.root = pop();
        return std::move(pickle_);
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        throw InputError("is damaged, or was not saved by PyTorch: its pickle cannot be read (" + why + ")",
                         path_);
    }

    template <typename Number>
    Number number() {
        const std::span<const std::byte> read = take(sizeof(Number));
        return little_endian<Number>(read, 0);
    }
    std::span<const std::byte> take(std::uint64_t size) {
        if (size > bytes_.size() - at_) fail("it ends within an object");
        const auto taken = bytes_.subspan(at_, size);
        at_ += size;
        return taken;
    }
    std::string text(std::uint64_t size) {
        const auto taken = take(size);
        return {reinterpret_cast<const char*>(taken.data()), taken.size()};
    }
    std::string line() {
        const auto rest = bytes_.subspan(at_);
        const auto* const end = std::ranges::find(rest, std::byte{'\n'}).base();
        const auto size = static_cast<std::uint64_t>(end - rest.data());
        std::string found = text(size);
        take(1);
        return found;
    }
    double big_endian_real() {
        std::uint64_t bits = 0;
        for (const std::byte one : take(sizeof bits))
            bits = bits << 8 | std::to_integer<std::uint64_t>(one);
        return std::bit_cast<double>(bits);
    }
    /// An integer of any length; those that do not fit into 64 bits become 0, as torch's do not occur.
    std::int64_t long_integer(std::uint64_t size) {
        const auto taken = take(size);
        if (size == 0 || size > sizeof(std::int64_t)) return 0;
        const bool negative = (std::to_integer<unsigned>(taken.back()) & 0x80U) != 0;
        std::uint64_t bits = negative ? ~std::uint64_t{0} : 0;
        for (std::size_t i = taken.size(); i-- > 0;)
            bits = bits << 8 | std::to_integer<std::uint64_t>(taken[i]);
        return static_cast<std::int64_t>(bits);
    }

    // ---- stack
    PickleRef add(PickleObject object) {
        if (pickle_.objects.size() >= most_objects) fail("it has too many objects");
        pickle_.objects.push_back(std::move(object));
        return static_cast<PickleRef>(pickle_.objects.size() - 1);
    }
    void push(PickleRef ref) { stack_.push_back(ref); }
    void push(PickleObject object) { push(add(std::move(object))); }
    std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
    PickleRef pop() {
        if (stack_.size() <= floor()) fail("its stack is empty");
        const PickleRef ref = stack_.back();
        stack_.pop_back();
        return ref;
    }
    PickleObject& top() {
        if (stack_.size() <= floor()) fail("its stack is empty");
        return pickle_.objects[stack_.back()];
    }
    Refs pop_mark() {
        if (marks_.empty()) fail("a mark is missing");
        const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
        Refs items(begin, stack_.end());
        stack_.erase(begin, stack_.end());
        marks_.pop_back();
        return items;
    }
    Refs pop_some(std::size_t count) {
        Refs items(count);
        for (std::size_t i = count; i-- > 0;)
            items[i] = pop();
        return items;
    }

    // ---- objects
    void push_text(std::uint64_t size) { push({.kind = Kind::text, .text = text(size)}); }
    void push_integer(std::int64_t value) { push({.kind = Kind::integer, .integer = value}); }
    void push_items(Kind kind, Refs items) { push({.kind = kind, .items = std::move(items)}); }
    void push_call(PickleRef function, PickleRef arguments) { push_items(Kind::call, {function, arguments}); }
    void append(const Refs& items) {
        PickleObject& list = top();
        if (list.kind != Kind::list && list.kind != Kind::call) fail("it appends to no list");
        Refs& to = list.kind == Kind::list ? list.items : list.more;
        to.insert(to.end(), items.begin(), items.end());
    }
    void set(const Refs& items) {
        PickleObject& dictionary = top();
        if (dictionary.kind != Kind::dictionary && dictionary.kind != Kind::call)
            fail("it sets a key of no dictionary");
        if (items.size() % 2 != 0) fail("a value is missing");
        for (std::size_t i = 0; i < items.size(); i += 2)
            dictionary.pairs.emplace_back(items[i], items[i + 1]);
    }
    void push_dictionary(const Refs& items) {
        push({.kind = Kind::dictionary});
        set(items);
    }
    void push_global() {
        const PickleRef name = pop(), module = pop();
        push({.kind = Kind::global, .text = pickle_[module].text + "." + pickle_[name].text});
    }
    void memoize(std::uint64_t key) {
        top();
        memo_[key] = stack_.back();
    }
    void recall(std::uint64_t key) {
        const auto found = memo_.find(key);
        if (found == memo_.end()) fail("it recalls what it did not store");
        push(found->second);
    }

    void run(std::uint8_t opcode) {
        if (run_value(opcode) || run_collection(opcode) || run_stack(opcode)) return;
        switch (opcode) {
            case 0x80:  // PROTO
                take(1);
                return;
            case 0x95:  // FRAME
                take(sizeof(std::uint64_t));
                return;
            case 'c': {  // GLOBAL
                std::string module = line();
                push({.kind = Kind::global, .text = std::move(module) + "." + line()});
                return;
            }
            case 0x93:  // STACK_GLOBAL
                return push_global();
            case 'R':     // REDUCE
            case 0x81: {  // NEWOBJ
                const PickleRef arguments = pop(), function = pop();
                return push_call(function, arguments);
            }
            case 0x92: {  // NEWOBJ_EX
                pop();
                const PickleRef arguments = pop(), function = pop();
                return push_call(function, arguments);
            }
            case 'b': {  // BUILD
                const PickleRef state = pop();
                top().state = state;
                return;
            }
            case 'Q':  // BINPERSID
                return push_items(Kind::persistent, {pop()});
            default:
                fail("it has an opcode that torch.save() does not write, " + std::to_string(opcode));
        }
    }

    bool run_value(std::uint8_t opcode) {
        switch (opcode) {
            case 'N':
                push(PickleObject{});
                return true;
            case 0x88:
            case 0x89:
                push({.kind = Kind::boolean, .boolean = opcode == 0x88});
                return true;
            case 'J':
                push_integer(number<std::int32_t>());
                return true;
            case 'K':
                push_integer(number<std::uint8_t>());
                return true;
            case 'M':
                push_integer(number<std::uint16_t>());
                return true;
            case 0x8a:
                push_integer(long_integer(number<std::uint8_t>()));
                return true;
            case 'G':
                push({.kind = Kind::real, .real = big_endian_real()});
                return true;
            case 'X':  // texts, then bytes
            case 'B':
            case 'T':
                push_text(number<std::uint32_t>());
                return true;
            case 0x8c:
            case 'C':
            case 'U':
                push_text(number<std::uint8_t>());
                return true;
            case 0x8d:
            case 0x8e:
                push_text(number<std::uint64_t>());
                return true;
            default:
                return false;
        }
    }

    bool run_collection(std::uint8_t opcode) {
        switch (opcode) {
            case ']':
            case 0x8f:  // EMPTY_SET
                push_items(Kind::list, {});
                return true;
            case '}':
                push({.kind = Kind::dictionary});
                return true;
            case ')':
                push_items(Kind::tuple, {});
                return true;
            case 0x85:
            case 0x86:
            case 0x87:
                push_items(Kind::tuple, pop_some(opcode - 0x84U));
                return true;
            case 't':
                push_items(Kind::tuple, pop_mark());
                return true;
            case 'l':
            case 0x91:  // FROZENSET
                push_items(Kind::list, pop_mark());
                return true;
            case 'd':
                push_dictionary(pop_mark());
                return true;
            case 'a':
                append({pop()});
                return true;
            case 'e':
            case 0x90:  // ADDITEMS
                append(pop_mark());
                return true;
            case 's':
                set(pop_some(2));
                return true;
            case 'u':
                set(pop_mark());
                return true;
            default:
                return false;
        }
    }

    bool run_stack(std::uint8_t opcode) {
        switch (opcode) {
            case '(':
                marks_.push_back(stack_.size());
                return true;
            case '0':
                pop();
                return true;
            case '1':
                pop_mark();
                return true;
            case '2':
                top();
                push(stack_.back());
                return true;
            case 'h':
                recall(number<std::uint8_t>());
                return true;
            case 'j':
                recall(number<std::uint32_t>());
                return true;
            case 'q':
                memoize(number<std::uint8_t>());
                return true;
            case 'r':
                memoize(number<std::uint32_t>());
                return true;
            case 0x94:  // MEMOIZE
                memoize(memo_.size());
                return true;
            default:
                return false;
        }
    }

    std::span<const std::byte> bytes_;
    const std::filesystem::path& path_;
    std::uint64_t at_ = 0;
    Pickle pickle_;
    Refs stack_;
    std::vector<std::size_t> marks_;
    std::unordered_map<std::uint64_t, PickleRef> memo_;
};

}  // namespace

const PickleObject* Pickle::find(const PickleObject& object, std::string_view key) const {
    for (const auto& [name, value] : object.pairs)
        if (objects[name].kind == Kind::text && objects[name].text == key) return &objects[value];
    return nullptr;
}

Pickle read_pickle(std::span<const std::byte> bytes, const std::filesystem::path& path) {
    return PickleReader(bytes, path).read();
}

}  // namespace bigbird::networks
