#include "model/text/yaml_tree.h"

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/check.h"
#include "model/status_macros.h"
#include "model/text/utf8.h"
#include "model/text/yaml_block.h"

namespace drasim {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 20U;
constexpr int64_t kMaxValues = 1'000'000;
constexpr int kMaxDepth = 64;

size_t LineOfPosition(absl::string_view text, size_t position) {
  const absl::string_view before = text.substr(0, std::min(position, text.size()));
  return static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
}

std::string LocateIn(absl::string_view file, absl::string_view text, size_t position) {
  const absl::string_view before = text.substr(0, std::min(position, text.size()));
  const size_t newline = before.rfind('\n');
  const absl::string_view line =
      newline == absl::string_view::npos ? before : before.substr(newline + 1);
  size_t column = 1;
  for (const char c : line) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U)
      ++column;  // continuation bytes are no characters
  }
  return absl::StrCat(file, ":", LineOfPosition(text, position), ":", column);
}

// Copies `text` without byte order mark and carriage returns to *clean.
// yaml-cpp takes byte 0x04 for the end of its input and zero bytes for a sign of UTF-16; YAML
// allows neither, so they are refused here rather than silently cutting the text short.
absl::Status CleanText(absl::string_view text, absl::string_view file, std::string* clean) {
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":1:1: found ", text.size(), " bytes, expected at most ", kMaxBytes));
  }
  absl::ConsumePrefix(&text, "\xEF\xBB\xBF");
  clean->reserve(text.size());
  size_t position = 0;
  const auto is_plain = [](char c) { return (c >= ' ' && c < '\x7F') || c == '\n' || c == '\t'; };
  while (position < text.size()) {
    const size_t start = position;
    while (position < text.size() && is_plain(text[position])) ++position;
    clean->append(text.data() + start, position - start);
    if (position > start) continue;
    char32_t c = 0;
    if (!DecodeUtf8(text, &position, &c)) {
      const auto byte = static_cast<unsigned char>(text[start]);
      return absl::InvalidArgumentError(
          absl::StrCat(LocateIn(file, *clean, clean->size()), ": found the byte 0x",
                       absl::Hex(byte, absl::kZeroPad2), ", expected UTF-8 text"));
    }
    if (c == U'\r' && position < text.size() && text[position] == '\n') continue;
    if ((c < U' ' && c != U'\t' && c != U'\n') || c == U'\x7F') {
      return absl::InvalidArgumentError(
          absl::StrCat(LocateIn(file, *clean, clean->size()), ": found the control character 0x",
                       absl::Hex(static_cast<uint32_t>(c), absl::kZeroPad2), ", expected text"));
    }
    clean->append(text.data() + start, position - start);
  }
  return absl::OkStatus();
}

// yaml-cpp's messages name its own parser states; the frequent ones in words for people who write
// files.
std::string Explain(const std::string& message) {
  struct Hint {
    const char* original;
    const char* words;
  };
  const Hint hints[] = {
      {YAML::ErrorMsg::EOF_IN_SCALAR, "a quoted text is not closed"},
      {YAML::ErrorMsg::MAP_VALUE,
       "unexpected ':' (is a ':' missing above, a tab used to indent, or a text with ': ' not "
       "quoted?)"},
      {YAML::ErrorMsg::END_OF_MAP_FLOW, "expected ',' or '}'"},
      {YAML::ErrorMsg::END_OF_SEQ_FLOW, "expected ',' or ']'"},
      {YAML::ErrorMsg::END_OF_MAP, "expected the next key (is the indentation right?)"},
      {YAML::ErrorMsg::END_OF_SEQ, "expected the next '-' (is the indentation right?)"},
      {YAML::ErrorMsg::FLOW_END, "unexpected closing bracket"},
      {YAML::ErrorMsg::BLOCK_ENTRY, "unexpected '-'"},
      {YAML::ErrorMsg::TAB_IN_INDENTATION, "a tab is used to indent, expected spaces"},
      {YAML::ErrorMsg::UNKNOWN_ANCHOR, "the alias refers to no anchor above it"},
      {YAML::ErrorMsg::UNKNOWN_TOKEN,
       "unexpected character (a text that begins with it needs quotes)"},
  };
  for (const Hint& hint : hints) {
    if (absl::StartsWith(message, hint.original)) return hint.words;
  }
  return message;
}

// Receives the parser's events and builds the tree. After the first problem it ignores the rest:
// yaml-cpp has no other way to stop it than an exception.
class Builder final : public YAML::EventHandler {
 public:
  Builder(absl::string_view text, std::deque<YamlNode>* nodes) : text_(text), nodes_(nodes) {}

  bool failed() const { return failed_; }
  size_t problem_position() const { return problem_position_; }
  const std::string& problem() const { return problem_; }
  const YamlNode* root() const { return root_; }

  void Fail(size_t position, absl::string_view what) {
    if (failed_) return;
    failed_ = true;
    problem_position_ = position;
    problem_ = std::string(what);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 1) return;
    const size_t position = PositionOf(mark);
    if (absl::StartsWith(text_.substr(std::min(position, text_.size())), "---")) {
      Fail(position, "found a second document, expected only one");
    } else {
      Fail(position,
           "found text after the end of the document, expected only one (is a line indented less "
           "than the first?)");
    }
  }

  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    AddLeaf(YamlNode::Kind::kNull, NullPosition(PositionOf(mark)), anchor, std::string());
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    CheckTag(mark, tag);
    AddLeaf(YamlNode::Kind::kScalar, PositionOf(mark), anchor, value);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    CheckTag(mark, tag);
    Open(YamlNode::Kind::kSequence, PositionOf(mark), anchor);
  }

  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    CheckTag(mark, tag);
    Open(YamlNode::Kind::kMapping, PositionOf(mark), anchor);
  }

  void OnMapEnd() override { Close(); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (failed_) return;
    const size_t position = PositionOf(mark);
    const auto target = anchors_.find(anchor);
    if (target == anchors_.end() || target->second.open) {
      Fail(position, "the alias stands inside the value it refers to");
      return;
    }
    Place(position, target->second.node, target->second.values, target->second.height);
  }

 private:
  // The weight of an alias to a node: its values with all aliases inside counted, and how many
  // levels of mappings and sequences it has.
  struct Anchored {
    const YamlNode* node = nullptr;
    int64_t values = 1;
    int height = 0;
    bool open = false;
  };

  struct Frame {
    YamlNode* node = nullptr;
    YAML::anchor_t anchor = YAML::NullAnchor;
    int64_t values_before = 0;
    int height = 1;
  };

  // CleanText bounds the text, so that yaml-cpp's int positions do not overflow; the null mark is
  // negative.
  static size_t PositionOf(const YAML::Mark& mark) {
    return mark.pos < 0 ? 0 : static_cast<size_t>(mark.pos);
  }

  // yaml-cpp reports an unwritten null at whatever comes next, be it lines below. The key, or else
  // the sequence, that lacks the value is the better place to look.
  size_t NullPosition(size_t position) const {
    if (open_.empty() || IsNullWord(position)) return position;
    const YamlNode& parent = *open_.back().node;
    if (parent.kind == YamlNode::Kind::kSequence) return parent.position;
    return parent.children.size() % 2 == 1 ? parent.children.back()->position : position;
  }

  bool IsNullWord(size_t position) const {
    const absl::string_view rest = text_.substr(std::min(position, text_.size()));
    const absl::string_view word = rest.substr(0, rest.find_first_of(" \t\n,]}:"));
    const bool key = absl::StartsWith(rest.substr(word.size()), ":");
    return !key && (word == "~" || word == "null" || word == "Null" || word == "NULL");
  }

  // Plain values carry "?", quoted ones "!".
  void CheckTag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    Fail(PositionOf(mark),
         absl::StrCat("found the tag '", tag, "', expected a value without a tag"));
  }

  bool Place(size_t position, const YamlNode* node, int64_t values, int height) {
    values_ += values;
    if (values_ > kMaxValues) {
      Fail(position, absl::StrCat("found more than ", kMaxValues,
                                  " values, expected fewer (aliases count in full)"));
      return false;
    }
    if (static_cast<int>(open_.size()) + height > kMaxDepth) {
      Fail(position, absl::StrCat("found values nested more than ", kMaxDepth,
                                  " deep, expected fewer levels"));
      return false;
    }
    if (open_.empty()) {
      root_ = node;
      return true;
    }
    open_.back().node->children.push_back(node);
    open_.back().height = std::max(open_.back().height, height + 1);
    return true;
  }

  YamlNode* NewNode(YamlNode::Kind kind, size_t position) {
    nodes_->emplace_back();
    nodes_->back().kind = kind;
    nodes_->back().position = position;
    return &nodes_->back();
  }

  void AddLeaf(YamlNode::Kind kind, size_t position, YAML::anchor_t anchor,
               const std::string& text) {
    if (failed_) return;
    YamlNode* node = NewNode(kind, position);
    node->text = text;
    if (!Place(position, node, 1, 0)) return;
    if (anchor == YAML::NullAnchor) return;
    Anchored& anchored = anchors_[anchor];
    anchored = Anchored();
    anchored.node = node;
  }

  void Open(YamlNode::Kind kind, size_t position, YAML::anchor_t anchor) {
    if (failed_) return;
    Frame frame;
    frame.node = NewNode(kind, position);
    frame.anchor = anchor;
    frame.values_before = values_;
    if (!Place(position, frame.node, 1, 1)) return;
    open_.push_back(frame);
    if (anchor == YAML::NullAnchor) return;
    Anchored& anchored = anchors_[anchor];
    anchored = Anchored();
    anchored.node = frame.node;
    anchored.open = true;
  }

  void Close() {
    if (failed_) return;
    DRASIM_CHECK(!open_.empty());
    const Frame frame = open_.back();
    open_.pop_back();
    if (!open_.empty()) open_.back().height = std::max(open_.back().height, frame.height + 1);
    if (frame.anchor == YAML::NullAnchor) return;
    Anchored& anchored = anchors_[frame.anchor];
    anchored.values = values_ - frame.values_before;
    anchored.height = frame.height;
    anchored.open = false;
  }

  absl::string_view text_;
  std::deque<YamlNode>* nodes_;
  const YamlNode* root_ = nullptr;
  std::vector<Frame> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  int64_t values_ = 0;
  int documents_ = 0;
  bool failed_ = false;
  size_t problem_position_ = 0;
  std::string problem_;
};

void RunParser(const std::string& text, Builder* builder) {
  std::string input = text;
  // yaml-cpp overlooks an open quote when the text ends with a line break; a comment in the last
  // line shows it.
  if (absl::EndsWith(input, "\n")) input.push_back('#');
  std::istringstream stream(input);
  try {
    YAML::Parser parser(stream);
    const bool any = parser.HandleNextDocument(*builder);
    if (any && !builder->failed()) parser.HandleNextDocument(*builder);
  } catch (const YAML::Exception& error) {
    const size_t position = error.mark.pos < 0 ? 0 : static_cast<size_t>(error.mark.pos);
    builder->Fail(position, absl::StrCat("not valid YAML: ", Explain(error.msg)));
  }
}

}  // namespace

absl::StatusOr<YamlTree> YamlTree::Parse(absl::string_view text, absl::string_view file) {
  YamlTree tree;
  tree.file_ = std::string(file);
  RETURN_IF_ERROR(CleanText(text, file, &tree.text_));
  tree.root_ = ParseYamlBlocks(tree.text_, {kMaxValues, kMaxDepth}, &tree.nodes_);
  if (tree.root_ != nullptr) return tree;
  tree.nodes_.clear();
  Builder builder(tree.text_, &tree.nodes_);
  RunParser(tree.text_, &builder);
  if (builder.failed()) {
    return absl::InvalidArgumentError(
        absl::StrCat(tree.Locate(builder.problem_position()), ": ", builder.problem()));
  }
  tree.root_ = builder.root();
  return tree;
}

std::string YamlTree::Locate(size_t position) const { return LocateIn(file_, text_, position); }

size_t YamlTree::LineOf(size_t position) const { return LineOfPosition(text_, position); }

}  // namespace drasim
