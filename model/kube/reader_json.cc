#include "model/kube/reader_json.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/text/proto_scalar.h"
#include "model/text/utf8.h"

namespace drasim {
namespace {

constexpr int kMaxJsonDepth = 64;

class JsonTreeParser {
 public:
  JsonTreeParser(absl::string_view text, size_t begin, std::deque<YamlNode>* nodes)
      : text_(text), at_(begin), nodes_(nodes) {}

  JsonTree Parse() {
    JsonTree tree;
    const YamlNode* root = Value(0);
    tree.end = at_;
    if (problem_.empty()) {
      tree.root = root;
    } else {
      tree.problem = problem_;
      tree.problem_position = problem_position_;
    }
    return tree;
  }

 private:
  void Fail(size_t position, absl::string_view problem) {
    if (!problem_.empty()) return;
    problem_ = std::string(problem);
    problem_position_ = position;
  }

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool Take(char c) {
    if (Peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }

  void SkipBlanks() {
    const auto is_blank = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; };
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  YamlNode* NewNode(YamlNode::Kind kind) {
    nodes_->emplace_back();
    nodes_->back().kind = kind;
    nodes_->back().position = at_;
    return &nodes_->back();
  }

  // Null after a failure.
  const YamlNode* Value(int depth) {
    SkipBlanks();
    const char c = Peek();
    if (c == '"') return Text();
    if (c != '{' && c != '[') return Word();
    if (depth == kMaxJsonDepth) {
      Fail(at_, absl::StrCat("found values nested more than ", kMaxJsonDepth,
                             " deep, expected fewer levels"));
      return nullptr;
    }
    return c == '{' ? Object(depth + 1) : Array(depth + 1);
  }

  const YamlNode* Object(int depth) {
    YamlNode* node = NewNode(YamlNode::Kind::kMapping);
    ++at_;
    SkipBlanks();
    if (Take('}')) return node;
    while (problem_.empty()) {
      SkipBlanks();
      if (Peek() != '"') {
        Fail(at_, "expected a key in quotes");
        break;
      }
      node->children.push_back(Text());
      SkipBlanks();
      if (!Take(':')) Fail(at_, "expected ':'");
      if (!problem_.empty()) break;
      node->children.push_back(Value(depth));
      SkipBlanks();
      if (Take('}')) return node;
      if (!Take(',')) Fail(at_, "expected ',' or '}'");
    }
    return nullptr;
  }

  const YamlNode* Array(int depth) {
    YamlNode* node = NewNode(YamlNode::Kind::kSequence);
    ++at_;
    SkipBlanks();
    if (Take(']')) return node;
    while (problem_.empty()) {
      node->children.push_back(Value(depth));
      SkipBlanks();
      if (Take(']')) return node;
      if (!Take(',')) Fail(at_, "expected ',' or ']'");
    }
    return nullptr;
  }

  const YamlNode* Word() {
    const size_t begin = at_;
    YamlNode* node = NewNode(YamlNode::Kind::kScalar);
    while (at_ < text_.size() && (absl::ascii_isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  absl::StrContains("+-.", text_[at_]))) {
      ++at_;
    }
    node->text = std::string(text_.substr(begin, at_ - begin));
    if (node->text == "null") {
      node->kind = YamlNode::Kind::kNull;
    } else if (node->text != "true" && node->text != "false" && !IsNumber(node->text)) {
      Fail(begin,
           absl::StrCat("found '", Shorten(text_.substr(begin, at_ == begin ? 1 : at_ - begin)),
                        "', expected a value"));
      return nullptr;
    }
    return node;
  }

  static size_t Digits(absl::string_view* text) {
    size_t count = 0;
    while (count < text->size() && absl::ascii_isdigit(static_cast<unsigned char>((*text)[count])))
      ++count;
    text->remove_prefix(count);
    return count;
  }

  static bool IsNumber(absl::string_view text) {
    if (!text.empty() && text[0] == '-') text.remove_prefix(1);
    const bool zero = absl::StartsWith(text, "0");
    const size_t whole = Digits(&text);
    if (whole == 0 || (zero && whole > 1)) return false;
    if (!text.empty() && text[0] == '.') {
      text.remove_prefix(1);
      if (Digits(&text) == 0) return false;
    }
    if (!text.empty() && (text[0] == 'e' || text[0] == 'E')) {
      text.remove_prefix(1);
      if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
      if (Digits(&text) == 0) return false;
    }
    return text.empty();
  }

  const YamlNode* Text() {
    YamlNode* node = NewNode(YamlNode::Kind::kScalar);
    ++at_;
    const auto is_plain = [](char c) { return c >= ' ' && c < '\x7F' && c != '"' && c != '\\'; };
    while (problem_.empty()) {
      const size_t run = at_;
      while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
      node->text.append(text_.data() + run, at_ - run);
      if (at_ == text_.size()) {
        Fail(node->position, "a quoted text is not closed");
        break;
      }
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return node;
      }
      if (c == '\\') {
        Escape(&node->text);
      } else if (static_cast<unsigned char>(c) < 0x20) {
        Fail(at_, "found a control character in a text, expected an escape");
      } else {
        const size_t begin = at_;
        char32_t ignored = 0;
        if (!DecodeUtf8(text_, &at_, &ignored)) Fail(at_, "found bytes that are not UTF-8");
        node->text.append(text_.data() + begin, at_ - begin);
      }
    }
    return nullptr;
  }

  void Escape(std::string* out) {
    const size_t begin = at_++;
    static constexpr char kLetters[] = "\"\\/bfnrt";
    static constexpr char kMeanings[] = "\"\\/\b\f\n\r\t";
    const size_t letter = absl::string_view(kLetters).find(Peek());
    if (letter != absl::string_view::npos && at_ < text_.size()) {
      out->push_back(kMeanings[letter]);
      ++at_;
      return;
    }
    uint32_t code = 0;
    if (!Hex4(&code)) return Fail(begin, "found an unknown escape in a text");
    if (code >= 0xD800U && code < 0xDC00U) {
      uint32_t low = 0;
      const bool pair = Take('\\') && Hex4(&low) && low >= 0xDC00U && low < 0xE000U;
      if (!pair) return Fail(begin, "found half a surrogate pair in a text");
      code = 0x10000U + ((code - 0xD800U) << 10U) + (low - 0xDC00U);
    } else if (code >= 0xDC00U && code < 0xE000U) {
      return Fail(begin, "found half a surrogate pair in a text");
    }
    AppendUtf8(code, out);
  }

  // u and four digits.
  bool Hex4(uint32_t* code) {
    if (!Take('u')) return false;
    *code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = absl::ascii_tolower(static_cast<unsigned char>(Peek()));
      if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return false;
      *code = *code * 16 + static_cast<uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
      ++at_;
    }
    return true;
  }

  absl::string_view text_;
  size_t at_;
  std::deque<YamlNode>* nodes_;
  std::string problem_;
  size_t problem_position_ = 0;
};

}  // namespace

JsonTree ParseJsonTree(absl::string_view text, size_t begin, std::deque<YamlNode>* nodes) {
  return JsonTreeParser(text, begin, nodes).Parse();
}

}  // namespace drasim
