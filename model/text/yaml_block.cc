#include "model/text/yaml_block.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "model/text/utf8.h"

namespace drasim {
namespace {

// A key must be so short that a parser finds its colon.
constexpr size_t kMostKeyBytes = 1000;

bool IsNullWord(absl::string_view word) {
  return word == "~" || word == "null" || word == "Null" || word == "NULL";
}

absl::string_view WithoutTrailingBlanks(absl::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Whether a plain text, or the rest of one, has nothing in it that could be more than text.
bool IsSimple(absl::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const bool colon = text[i] == ':' && (i + 1 == text.size() || text[i + 1] == ' ');
    if (colon || (text[i] == '#' && i > 0 && text[i - 1] == ' ')) return false;
  }
  return true;
}

// Whether a plain text may begin so; what YAML allows beyond that is rare.
bool BeginsPlain(absl::string_view text) {
  if (text[0] == '-') return text.size() > 1 && text[1] != ' ';
  return !absl::StrContains("?:,[]{}#&*!|>'\"%@`", text[0]);
}

// BlockParser: moves from line to line. It gives up at unknown syntax.
class BlockParser {
 public:
  BlockParser(absl::string_view text, const YamlBlockLimits& limits, std::deque<YamlNode>* nodes)
      : text_(text), limits_(limits), nodes_(nodes) {}

  const YamlNode* Parse() {
    // A line separator or a mark within the text: too rare to be worth a thought.
    for (const char* rare : {"\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xEF\xBB\xBF"}) {
      if (absl::StrContains(text_, rare)) return nullptr;
    }
    next_ = 0;
    NextLine();
    if (!done_ && indent_ == 0 && line_ == "---") NextLine();
    if (done_) return nullptr;
    const bool flow = line_[0] == '{' || line_[0] == '[';
    const YamlNode* root = flow ? Value(/*least_indent=*/0, begin_ + indent_, /*depth=*/0)
                                : Block(/*column=*/indent_, /*depth=*/0);
    return failed_ || !done_ || root->kind == YamlNode::Kind::kScalar ? nullptr : root;
  }

 private:
  const YamlNode* Fail() {
    failed_ = true;
    return nullptr;
  }

  // The next line that is neither blank nor a comment: its text from the first character on.
  void NextLine() {
    while (next_ < text_.size()) {
      begin_ = next_;
      const size_t end = std::min(text_.find('\n', begin_), text_.size());
      next_ = end + 1;
      const absl::string_view whole = text_.substr(begin_, end - begin_);
      const size_t first = whole.find_first_not_of(' ');
      if (first == absl::string_view::npos || whole[first] == '#') continue;
      indent_ = first;
      line_ = WithoutTrailingBlanks(whole.substr(first));
      // Tabs, directives, marks of documents.
      const bool mark = first == 0 && (absl::StartsWith(line_, "---") ||
                                       absl::StartsWith(line_, "...") || line_[0] == '%');
      failed_ |= mark && (any_line_ || line_ != "---");
      failed_ |= absl::StrContains(line_, '\t');
      any_line_ = true;
      return;
    }
    done_ = true;
    indent_ = 0;
    line_ = absl::string_view();
  }

  bool Continues(size_t least_indent) const {
    return !done_ && !failed_ && indent_ >= least_indent;
  }

  YamlNode* NewNode(YamlNode::Kind kind, size_t position) {
    if (static_cast<int64_t>(nodes_->size()) >= limits_.values) failed_ = true;
    nodes_->emplace_back();
    nodes_->back().kind = kind;
    nodes_->back().position = position;
    return &nodes_->back();
  }

  static bool IsItem(absl::string_view line) {
    return !line.empty() && line[0] == '-' && (line.size() == 1 || line[1] == ' ');
  }

  // Parses the value that begins in the current line, whose text starts at `column`.
  const YamlNode* Block(size_t column, int depth) {
    if (depth >= limits_.depth) return Fail();
    if (IsItem(line_)) return Sequence(column, depth);
    if (KeyLength(line_) == absl::string_view::npos) return Fail();
    return Mapping(column, depth);
  }

  const YamlNode* Sequence(size_t column, int depth) {
    YamlNode* node = NewNode(YamlNode::Kind::kSequence, begin_ + column);
    while (!failed_ && !done_ && indent_ == column && IsItem(line_)) {
      const size_t skipped = std::min(line_.find_first_not_of(' ', 1), line_.size());
      const YamlNode* item = nullptr;
      if (skipped == line_.size()) {
        NextLine();
        // An item without a value stands where the sequence begins.
        item = Continues(column + 1) ? Block(indent_, depth + 1)
                                     : NewNode(YamlNode::Kind::kNull, node->position);
      } else {
        indent_ += skipped;
        line_.remove_prefix(skipped);
        item = IsItem(line_) || KeyLength(line_) != absl::string_view::npos
                   ? Block(indent_, depth + 1)
                   : Value(column + 1, begin_ + indent_, depth + 1);
      }
      if (failed_) return nullptr;
      node->children.push_back(item);
    }
    if (!failed_ && !done_ && indent_ > column) return Fail();
    return node;
  }

  // The bytes of a key, of which a colon follows; npos for a line without a key.
  static size_t KeyLength(absl::string_view line) {
    if (line.empty()) return absl::string_view::npos;
    size_t at = 0;
    if (line[0] == '"' || line[0] == '\'') {
      at = line.find(line[0], 1);
      // Escapes and doubled quotes are left to the whole parser.
      if (at == absl::string_view::npos || ++at == line.size() || line[at] != ':' ||
          absl::StrContains(line.substr(0, at), '\\')) {
        return absl::string_view::npos;
      }
    } else {
      if (!BeginsPlain(line)) return absl::string_view::npos;
      at = line.find(':');
      while (at != absl::string_view::npos && at + 1 < line.size() && line[at + 1] != ' ') {
        at = line.find(':', at + 1);
      }
      if (at == absl::string_view::npos || line[at - 1] == ' ' ||
          absl::StrContains(line.substr(0, at), " #")) {
        return absl::string_view::npos;
      }
    }
    const bool ends = at + 1 == line.size() || line[at + 1] == ' ';
    return ends && at <= kMostKeyBytes ? at : absl::string_view::npos;
  }

  const YamlNode* Mapping(size_t column, int depth) {
    YamlNode* node = NewNode(YamlNode::Kind::kMapping, begin_ + column);
    while (!failed_ && !done_ && indent_ == column) {
      const size_t length = KeyLength(line_);
      if (length == absl::string_view::npos) return Fail();
      const absl::string_view written = line_.substr(0, length);
      const bool quoted = written[0] == '"' || written[0] == '\'';
      const bool is_null = !quoted && IsNullWord(written);
      YamlNode* key =
          NewNode(is_null ? YamlNode::Kind::kNull : YamlNode::Kind::kScalar, begin_ + column);
      if (!is_null) key->text = std::string(quoted ? written.substr(1, length - 2) : written);
      node->children.push_back(key);
      const size_t skipped = std::min(line_.find_first_not_of(' ', length + 1), line_.size());
      const YamlNode* value = nullptr;
      if (skipped == line_.size()) {
        NextLine();
        const bool below = Continues(column + 1);
        const bool beside = Continues(column) && indent_ == column && IsItem(line_);
        // A key without a value stands for it.
        value = below || beside ? NestedValue(column, depth + 1)
                                : NewNode(YamlNode::Kind::kNull, key->position);
      } else {
        indent_ += skipped;
        line_.remove_prefix(skipped);
        value = Value(column + 1, begin_ + indent_, depth + 1);
      }
      if (failed_) return nullptr;
      node->children.push_back(value);
    }
    if (!failed_ && !done_ && indent_ > column) return Fail();
    return node;
  }

  // The value of a key, on lines of its own.
  const YamlNode* NestedValue(size_t column, int depth) {
    if (IsItem(line_) || KeyLength(line_) != absl::string_view::npos) return Block(indent_, depth);
    return Value(column + 1, begin_ + indent_, depth);
  }

  // A value that begins in the present line and is no mapping or sequence in blocks. Lines that
  // continue it are indented by `least_indent` or more.
  const YamlNode* Value(size_t least_indent, size_t position, int depth) {
    const char first = line_[0];
    if (first == '{' || first == '[') {
      size_t at = 0;
      const YamlNode* flow = Flow(position, &at, depth);
      if (at != line_.size()) return Fail();
      NextLine();
      return flow;
    }
    YamlNode* node = NewNode(YamlNode::Kind::kScalar, position);
    if (first == '|') {
      Literal(least_indent, node);
    } else if (first == '\'' || first == '"') {
      Quoted(least_indent, position, &node->text);
    } else {
      Plain(least_indent, node);
    }
    return node;
  }

  // --- {a: b} and [a, b], in one line ---

  // The value at line_[*at], which stands at `base` + *at in the text; leaves *at behind it.
  const YamlNode* Flow(size_t base, size_t* at, int depth) {
    if (*at >= line_.size()) return Fail();
    const char first = line_[*at];
    if (first != '{' && first != '[') return FlowText(base, at);
    if (depth >= limits_.depth) return Fail();
    const bool is_mapping = first == '{';
    const char last = is_mapping ? '}' : ']';
    YamlNode* node =
        NewNode(is_mapping ? YamlNode::Kind::kMapping : YamlNode::Kind::kSequence, base + *at);
    ++*at;
    SkipBlanks(at);
    if (*at < line_.size() && line_[*at] == last) {
      ++*at;
      return node;
    }
    while (!failed_) {
      SkipBlanks(at);
      if (is_mapping) {
        if (*at >= line_.size() || line_[*at] == '{' || line_[*at] == '[') return Fail();
        const YamlNode* key = FlowText(base, at);
        // The blank tells a colon from a part of the text.
        if (failed_ || *at + 1 >= line_.size() || line_[*at] != ':' || line_[*at + 1] != ' ') {
          return Fail();
        }
        node->children.push_back(key);
        ++*at;
        SkipBlanks(at);
      }
      const YamlNode* value = Flow(base, at, depth + 1);
      if (failed_) return nullptr;
      node->children.push_back(value);
      SkipBlanks(at);
      if (*at >= line_.size() || (line_[*at] != ',' && line_[*at] != last)) return Fail();
      if (line_[(*at)++] == last) return node;
    }
    return nullptr;
  }

  void SkipBlanks(size_t* at) const {
    *at = std::min(line_.find_first_not_of(' ', *at), line_.size());
  }

  YamlNode* FlowText(size_t base, size_t* at) {
    const size_t begin = *at;
    const absl::string_view rest = line_.substr(begin);
    YamlNode* node = NewNode(YamlNode::Kind::kScalar, base + begin);
    if (rest[0] == '"' || rest[0] == '\'') {
      const size_t end = rest.find(rest[0], 1);
      const absl::string_view inner =
          rest.substr(1, end == absl::string_view::npos ? end : end - 1);
      const bool doubled =
          end != absl::string_view::npos && end + 1 < rest.size() && rest[end + 1] == rest[0];
      if (end == absl::string_view::npos || doubled || absl::StrContains(inner, '\\')) {
        failed_ = true;
        return node;
      }
      node->text = std::string(inner);
      *at = begin + end + 1;
      return node;
    }
    size_t end = 0;
    while (end < rest.size() && !absl::StrContains(",[]{}", rest[end])) {
      const bool ends = end + 1 == rest.size() || absl::StrContains(" ,[]{}", rest[end + 1]);
      if (rest[end] == ':' && ends) break;
      ++end;
    }
    const absl::string_view text = WithoutTrailingBlanks(rest.substr(0, end));
    const bool blank_before = text.size() != end && end < rest.size() && rest[end] == ':';
    if (text.empty() || !BeginsPlain(text) || absl::StrContains(text, " #") || blank_before ||
        text.size() > kMostKeyBytes) {
      failed_ = true;
      return node;
    }
    *at = begin + text.size();
    if (IsNullWord(text)) {
      node->kind = YamlNode::Kind::kNull;
    } else {
      node->text = std::string(text);
    }
    return node;
  }

  // --- Texts ---

  void Plain(size_t least_indent, YamlNode* node) {
    if (!BeginsPlain(line_) || !IsSimple(line_)) {
      Fail();
      return;
    }
    node->text = std::string(line_);
    bool folded = false;
    size_t end = next_;
    for (NextLine(); Continues(least_indent); NextLine()) {
      // A blank line or a comment between them means more than a blank.
      if (begin_ != end || !IsSimple(line_) || line_[0] == '#') {
        Fail();
        return;
      }
      folded = true;
      node->text.push_back(' ');
      node->text.append(line_.data(), line_.size());
      end = next_;
    }
    if (folded || !IsNullWord(node->text)) return;
    node->kind = YamlNode::Kind::kNull;
    node->text.clear();
  }

  // From the opening quote at `position` to the end of the line of the closing one.
  void Quoted(size_t least_indent, size_t position, std::string* out) {
    const char quote = text_[position];
    size_t at = position + 1;
    while (!failed_) {
      if (at >= text_.size()) {
        Fail();
        return;
      }
      const char c = text_[at];
      if (c == '\n') {
        at = Fold(at, least_indent, out);
      } else if (c == quote && quote == '\'' && at + 1 < text_.size() && text_[at + 1] == quote) {
        out->push_back(quote);
        at += 2;
      } else if (c == quote) {
        break;
      } else if (c == '\\' && quote == '"') {
        at = Escape(at + 1, least_indent, out);
      } else {
        const size_t run = text_.find_first_of(quote == '"' ? "\"\\\n" : "'\n", at);
        const size_t end = std::min(run, text_.size());
        out->append(text_.data() + at, end - at);
        at = end;
      }
    }
    if (failed_) return;
    const size_t end = std::min(text_.find('\n', at), text_.size());
    if (!WithoutTrailingBlanks(text_.substr(at + 1, end - at - 1)).empty()) Fail();
    next_ = end + 1;
    NextLine();
  }

  // Past the line break at `at` and the blanks around it, which make one blank.
  size_t Fold(size_t at, size_t least_indent, std::string* out) {
    size_t blanks = 0;
    while (text_[at - blanks - 1] == ' ') ++blanks;
    const char before = text_[at - blanks - 1];
    if (before == '\t' || before == '\\') Fail();  // white space of more than one kind
    out->resize(out->size() - std::min(blanks, out->size()));
    out->push_back(' ');
    return SkipIndent(at + 1, least_indent);
  }

  // Past the indent of a line within quotes.
  size_t SkipIndent(size_t at, size_t least_indent) {
    const size_t first = text_.find_first_not_of(' ', at);
    // Blank lines mean line breaks; too little indent, an error.
    if (first == absl::string_view::npos || text_[first] == '\n' || text_[first] == '\t' ||
        first - at < least_indent) {
      Fail();
      return text_.size();
    }
    return first;
  }

  // `at`: behind the backslash.
  size_t Escape(size_t at, size_t least_indent, std::string* out) {
    if (at >= text_.size()) {
      Fail();
      return at;
    }
    const char c = text_[at];
    if (c == '\n') return SkipIndent(at + 1, least_indent);
    static constexpr absl::string_view kLetters = "\"\\/ ntr";
    static constexpr absl::string_view kMeanings = "\"\\/ \n\t\r";
    const size_t letter = kLetters.find(c);
    if (letter != absl::string_view::npos) {
      out->push_back(kMeanings[letter]);
      return at + 1;
    }
    const size_t digits = c == 'u' ? 4 : 2;
    if ((c != 'u' && c != 'x') || at + digits >= text_.size()) {
      Fail();
      return at;
    }
    uint32_t code = 0;
    for (size_t i = 1; i <= digits; ++i) {
      const size_t value = absl::string_view("0123456789abcdef").find(Lower(text_[at + i]));
      if (value == absl::string_view::npos) {
        Fail();
        return at;
      }
      code = code * 16 + static_cast<uint32_t>(value);
    }
    if (code == 0 || (code >= 0xD800U && code < 0xE000U)) {
      Fail();
    } else {
      AppendUtf8(code, out);
    }
    return at + 1 + digits;
  }

  static char Lower(char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; }

  // | or |-: the lines below as they stand, without the indent of the first.
  void Literal(size_t least_indent, YamlNode* node) {
    const bool strip = line_ == "|-";
    if (!strip && line_ != "|") {
      Fail();
      return;
    }
    size_t indent = 0;
    size_t breaks = 0;  // of blank lines, which count if text follows
    for (;;) {
      if (next_ >= text_.size()) break;
      const size_t end = std::min(text_.find('\n', next_), text_.size());
      const absl::string_view whole = text_.substr(next_, end - next_);
      const size_t first = whole.find_first_not_of(' ');
      if (first == absl::string_view::npos) {
        // Blanks beyond the indent are text.
        if (indent == 0 ? !whole.empty() : whole.size() > indent) {
          Fail();
          return;
        }
        ++breaks;
        next_ = end + 1;
        continue;
      }
      if (first < least_indent) break;
      if (indent == 0) indent = first;
      if (first < indent || whole[first] == '\t' || end == text_.size()) {
        Fail();
        return;
      }
      node->text.append(breaks, '\n');
      breaks = 0;
      node->text.append(whole.data() + indent, whole.size() - indent);
      node->text.push_back('\n');
      next_ = end + 1;
    }
    if (indent == 0) Fail();  // without text: rare
    if (strip && !node->text.empty()) node->text.pop_back();
    NextLine();
  }

  absl::string_view text_;
  YamlBlockLimits limits_;
  std::deque<YamlNode>* nodes_;
  absl::string_view line_;  // the rest of the present line, without blanks at its end
  size_t begin_ = 0;        // of the present line
  size_t indent_ = 0;       // of line_ in it
  size_t next_ = 0;         // the beginning of the next line
  bool any_line_ = false;   // has been read: a document mark may only be the first
  bool done_ = false;
  bool failed_ = false;
};

}  // namespace

const YamlNode* ParseYamlBlocks(absl::string_view text, const YamlBlockLimits& limits,
                                std::deque<YamlNode>* nodes) {
  return BlockParser(text, limits, nodes).Parse();
}

}  // namespace drasim
