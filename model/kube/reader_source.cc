#include "model/kube/reader_source.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/check.h"
#include "model/kube/reader_json.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

constexpr absl::string_view kKubeBlanks = " \t\n\r";

// YamlTree drops the same bytes, so that positions stay the same.
std::string WithoutMarks(absl::string_view text) {
  while (absl::ConsumePrefix(&text, "\xEF\xBB\xBF")) {
  }
  if (!absl::StrContains(text, '\r')) return std::string(text);
  std::string clean;
  clean.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    clean.push_back(text[i]);
  }
  return clean;
}

bool IsDocumentMark(absl::string_view line) {
  return absl::ConsumePrefix(&line, "---") &&
         (line.empty() || absl::StrContains(" \t\n\r", line[0]));
}

// The next step of a path, which is cut off it: "spec", or "0" of "[0]".
absl::string_view NextKubeStep(absl::string_view* path) {
  const bool bracket = absl::ConsumePrefix(path, "[");
  if (!bracket) absl::ConsumePrefix(path, ".");
  const absl::string_view step =
      path->substr(0, bracket ? path->find(']') : path->find_first_of(".["));
  path->remove_prefix(step.size());
  if (bracket) absl::ConsumePrefix(path, "]");
  return step;
}

}  // namespace

const YamlNode* KubeMemberOf(const YamlNode& node, absl::string_view key) {
  if (node.kind != YamlNode::Kind::kMapping) return nullptr;
  for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
    if (node.children[i]->text == key) return node.children[i + 1];
  }
  return nullptr;
}

const YamlNode* KubeNodeAt(const YamlNode* node, absl::string_view path) {
  while (!path.empty()) {
    const absl::string_view step = NextKubeStep(&path);
    const YamlNode* next = nullptr;
    size_t index = 0;
    if (node->kind != YamlNode::Kind::kSequence) {
      next = KubeMemberOf(*node, step);
      // Paths are those of v1: older versions have a device's fields below "basic".
      if (next == nullptr && KubeMemberOf(*node, "basic") != nullptr) {
        next = KubeMemberOf(*KubeMemberOf(*node, "basic"), step);
      }
    } else if (absl::SimpleAtoi(step, &index) && index < node->children.size()) {
      next = node->children[index];
    }
    if (next == nullptr) break;
    node = next;
  }
  return node;
}

absl::StatusOr<KubeSource> KubeSource::Parse(absl::string_view text, absl::string_view file) {
  KubeSource source;
  source.file_ = std::string(file);
  source.text_ = WithoutMarks(text);
  const absl::string_view clean = source.text_;
  source.line_begins_.push_back(0);
  for (size_t i = clean.find('\n'); i != absl::string_view::npos; i = clean.find('\n', i + 1)) {
    source.line_begins_.push_back(i + 1);
  }
  size_t begin = 0;
  for (const size_t line : source.line_begins_) {
    if (line == 0 || !IsDocumentMark(clean.substr(line, 4))) continue;
    RETURN_IF_ERROR(source.ParsePart(begin, line));
    begin = line;
  }
  RETURN_IF_ERROR(source.ParsePart(begin, clean.size()));
  return source;
}

absl::Status KubeSource::ParsePart(size_t begin, size_t end) {
  const absl::string_view part = absl::string_view(text_).substr(begin, end - begin);
  absl::string_view content = part;
  if (IsDocumentMark(part.substr(0, 4))) content.remove_prefix(3);
  const size_t first = content.find_first_not_of(kKubeBlanks);
  if (first == absl::string_view::npos) return absl::OkStatus();
  if (content[first] != '{') return ParseYaml(begin, end);
  const size_t documents = documents_.size();
  const size_t content_begin = end - content.size() + first;
  absl::Status json = ParseJson(content_begin, end);
  if (json.ok()) return json;
  documents_.resize(documents);
  // YAML's own {a: b}, perhaps; if not, it is JSON that the file's author meant to write.
  return ParseYaml(begin, end).ok() ? absl::OkStatus() : json;
}

absl::Status KubeSource::ParseYaml(size_t begin, size_t end) {
  absl::StatusOr<YamlTree> tree =
      YamlTree::Parse(absl::string_view(text_).substr(begin, end - begin), "");
  if (!tree.ok()) return Relocated(tree.status().message(), begin);
  if (tree->root() == nullptr || tree->root()->kind == YamlNode::Kind::kNull) {
    return absl::OkStatus();
  }
  documents_.push_back({tree->root(), begin});
  trees_.push_back(*std::move(tree));  // its nodes keep their addresses
  return absl::OkStatus();
}

absl::Status KubeSource::ParseJson(size_t begin, size_t end) {
  const absl::string_view text = absl::string_view(text_).substr(0, end);
  size_t at = begin;
  while (at != absl::string_view::npos) {
    const JsonTree tree = ParseJsonTree(text, at, &json_nodes_);
    if (tree.root == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(Locate(tree.problem_position), ": not valid JSON: ", tree.problem));
    }
    if (tree.root->kind != YamlNode::Kind::kNull) documents_.push_back({tree.root, 0});
    at = text.find_first_not_of(kKubeBlanks, tree.end);
  }
  return absl::OkStatus();
}

// A message of YamlTree, ":LINE:COLUMN: ...", whose lines count from `begin`.
absl::Status KubeSource::Relocated(absl::string_view message, size_t begin) const {
  const std::vector<absl::string_view> parts = absl::StrSplit(message, absl::MaxSplits(':', 2));
  size_t line = 0;
  DRASIM_CHECK(parts.size() == 3 && absl::SimpleAtoi(parts[1], &line));
  return absl::InvalidArgumentError(
      absl::StrCat(file_, ":", line + LineOf(begin) - 1, ":", parts[2]));
}

size_t KubeSource::LineOf(size_t position) const {
  const auto after = std::upper_bound(line_begins_.begin(), line_begins_.end(), position);
  return static_cast<size_t>(after - line_begins_.begin());
}

std::string KubeSource::Locate(size_t position) const {
  position = std::min(position, text_.size());
  const size_t line = LineOf(position);
  const size_t line_begin = line_begins_[line - 1];
  const bool goes_on = last_position_ >= line_begin && last_position_ <= position;
  size_t column = goes_on ? last_column_ : 1;
  for (size_t i = goes_on ? last_position_ : line_begin; i < position; ++i) {
    if ((static_cast<unsigned char>(text_[i]) & 0xC0U) != 0x80U) ++column;
  }
  last_position_ = position;
  last_column_ = column;
  return absl::StrCat(file_, ":", line, ":", column);
}

bool KubeSource::IsPlain(size_t position) const {
  absl::string_view rest = absl::string_view(text_).substr(std::min(position, text_.size()));
  // The position of a value with an anchor is the anchor's.
  while (absl::StartsWith(rest, "&")) {
    rest.remove_prefix(std::min(rest.find_first_of(kKubeBlanks), rest.size()));
    while (!rest.empty() && absl::StrContains(" \t\n\r#", rest[0])) {
      const size_t skipped = rest[0] == '#' ? rest.find('\n') : 1;
      rest.remove_prefix(std::min(skipped, rest.size()));
    }
  }
  return rest.empty() || !absl::StrContains("\"'|>!", rest[0]);
}

}  // namespace drasim
