#include "tests/docs/key_reference.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"

namespace drasim {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// A message with more places than this is called by its name.
constexpr size_t kMostPlaces = 5;

// A comment without its tags, and the tags.
struct ParsedComment {
  std::vector<std::string> lines;
  std::string type;
  std::string fallback;
};

bool StartsTags(absl::string_view line) {
  return absl::StartsWith(line, "Type: ") || absl::StartsWith(line, "Default: ") ||
         line == "Required.";
}

// "Type: duration. Default: 10s."
void ParseTags(std::string tags, ParsedComment* comment) {
  absl::string_view rest = tags;
  if (absl::ConsumePrefix(&rest, "Type: ")) {
    const size_t end = std::min(rest.find(". Default: "), rest.find(". Required."));
    if (end == absl::string_view::npos) {
      comment->type = std::string(absl::StripSuffix(rest, "."));
      return;
    }
    comment->type = std::string(rest.substr(0, end));
    rest.remove_prefix(end + 2);
  }
  if (absl::ConsumePrefix(&rest, "Default: ")) {
    comment->fallback = std::string(absl::StripSuffix(rest, "."));
  } else if (rest == "Required.") {
    comment->fallback = "required";
  }
}

// `text` as protobuf keeps a comment: lines that begin with the blank behind the slashes.
ParsedComment ParseComment(absl::string_view text) {
  ParsedComment comment;
  std::string tags;
  for (absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    absl::ConsumePrefix(&line, " ");
    if (!tags.empty() || StartsTags(line)) {
      absl::StrAppend(&tags, tags.empty() ? "" : " ", line);
    } else if (!line.empty() || !comment.lines.empty()) {
      comment.lines.emplace_back(line);
    }
  }
  ParseTags(std::move(tags), &comment);
  return comment;
}

// The lines as one cell of a table.
std::string CellOf(const std::vector<std::string>& lines) {
  std::string cell;
  for (const std::string& line : lines) {
    absl::string_view text = absl::StripAsciiWhitespace(line);
    const bool item = absl::ConsumePrefix(&text, "* ");
    if (!cell.empty()) absl::StrAppend(&cell, item || text.empty() ? "<br>" : " ");
    absl::StrAppend(&cell, item ? "- " : "", text);
  }
  return absl::StrReplaceAll(cell, {{"|", "\\|"}});
}

template <typename D>
ParsedComment CommentOf(const D& descriptor) {
  google::protobuf::SourceLocation location;
  if (!descriptor.GetSourceLocation(&location)) return {};
  return ParseComment(location.leading_comments);
}

// As GitHub makes it.
std::string AnchorOf(absl::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-') {
      anchor += absl::ascii_tolower(static_cast<unsigned char>(c));
    } else if (c == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

// Whether the message of the field has a section of its own.
bool HasSection(const FieldDescriptor& field) {
  return field.message_type() != nullptr && !field.is_map() &&
         field.message_type()->file()->package() == field.file()->package();
}

class ReferenceReader {
 public:
  absl::StatusOr<KeyReference> Read(const Descriptor& root) {
    FindPlaces(root, "");
    KeyReference reference;
    for (const Descriptor* message : order_) reference.sections.push_back(SectionOf(*message));
    if (!missing_.empty()) return absl::InvalidArgumentError(absl::StrJoin(missing_, "\n"));
    return reference;
  }

 private:
  static std::string Under(const std::string& place, const FieldDescriptor& field) {
    return absl::StrCat(place, place.empty() ? "" : ".", field.name());
  }

  void FindPlaces(const Descriptor& message, const std::string& place) {
    std::vector<std::string>& places = places_[message.full_name()];
    places.push_back(place);
    if (places.size() > 1) return;
    order_.push_back(&message);
    for (int i = 0; i < message.field_count(); ++i) {
      const FieldDescriptor& field = *message.field(i);
      if (!HasSection(field)) continue;
      FindPlaces(*field.message_type(),
                 absl::StrCat(Under(place, field), field.is_repeated() ? "[]" : ""));
    }
  }

  std::string HeadingOf(const Descriptor& message) const {
    const std::vector<std::string>& places = places_.at(message.full_name());
    return places.size() > kMostPlaces ? message.name() : places.front();
  }

  ReferenceSection SectionOf(const Descriptor& message) {
    ReferenceSection section;
    section.heading = HeadingOf(message);
    section.places = places_.at(message.full_name());
    const ParsedComment comment = CommentOf(message);
    section.intro = absl::StrJoin(comment.lines, "\n");
    if (section.intro.empty()) Miss(message.full_name(), "a comment");
    const std::string prefix = section.places.size() > kMostPlaces ? "" : section.places.front();
    for (int i = 0; i < message.field_count(); ++i) {
      section.keys.push_back(KeyOf(*message.field(i), prefix));
    }
    return section;
  }

  ReferenceKey KeyOf(const FieldDescriptor& field, const std::string& prefix) {
    const ParsedComment comment = CommentOf(field);
    ReferenceKey key;
    key.path = Under(prefix, field);
    key.meaning = CellOf(comment.lines);
    key.fallback = comment.fallback;
    key.type = comment.type.empty() ? TypeOf(field, comment) : comment.type;
    if (key.meaning.empty()) Miss(field.full_name(), "its meaning");
    if (key.type.empty()) Miss(field.full_name(), "its type");
    if (key.fallback.empty() && (!HasSection(field) || field.is_repeated())) {
      Miss(field.full_name(), "its default");
    }
    return key;
  }

  // For a field whose comment names no type.
  std::string TypeOf(const FieldDescriptor& field, const ParsedComment& comment) const {
    const bool list = field.is_repeated();
    if (HasSection(field)) {
      const Descriptor& message = *field.message_type();
      const bool named = places_.at(message.full_name()).size() > kMostPlaces;
      return absl::StrCat("[",
                          named  ? absl::AsciiStrToLower(message.name())
                          : list ? "list"
                                 : "section",
                          "](#", AnchorOf(HeadingOf(message)), ")");
    }
    if (field.is_map()) return "map of texts";
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING: {
        const bool choice =
            std::any_of(comment.lines.begin(), comment.lines.end(),
                        [](const std::string& line) { return absl::StartsWith(line, "* `"); });
        return list ? "list of texts" : choice ? "choice" : "text";
      }
      case FieldDescriptor::CPPTYPE_BOOL:
        return "true or false";
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return list ? "list of numbers" : "number";
      case FieldDescriptor::CPPTYPE_INT32:
      case FieldDescriptor::CPPTYPE_INT64:
      case FieldDescriptor::CPPTYPE_UINT32:
      case FieldDescriptor::CPPTYPE_UINT64:
        return list ? "list of whole numbers" : "whole number";
      default:
        return "";
    }
  }

  void Miss(absl::string_view name, absl::string_view what) {
    missing_.push_back(absl::StrCat(name, ": the comment lacks ", what));
  }

  std::vector<const Descriptor*> order_;
  std::map<std::string, std::vector<std::string>> places_;  // by the message's full name
  std::vector<std::string> missing_;
};

}  // namespace

const std::vector<ReferencePage>& ReferencePages() {
  static const auto* const pages = new std::vector<ReferencePage>{
      {"scenario_keys.md", "drasim.proto.Scenario", "Scenario keys", "model/proto/scenario.proto",
       "All keys of a scenario file. [scenarios.md](scenarios.md) explains how they work "
       "together."},
      {"mapping_keys.md", "drasim.proto.TableMapping", "Keys of a mapping file",
       "model/proto/mapping.proto",
       "All keys of a mapping file. [traces.md](traces.md) has the formats and an example."},
  };
  return *pages;
}

absl::StatusOr<KeyReference> ReadKeyReference(absl::string_view descriptor_set,
                                              absl::string_view message) {
  google::protobuf::FileDescriptorSet files;
  if (!files.ParseFromString(std::string(descriptor_set))) {
    return absl::InvalidArgumentError("not a FileDescriptorSet");
  }
  google::protobuf::DescriptorPool pool;
  for (const google::protobuf::FileDescriptorProto& file : files.file()) {
    if (pool.BuildFile(file) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(file.name(), ": cannot be built"));
    }
  }
  const Descriptor* const root = pool.FindMessageTypeByName(std::string(message));
  if (root == nullptr) return absl::NotFoundError(absl::StrCat(message, ": no such message"));
  return ReferenceReader().Read(*root);
}

std::string ReferencePageText(const KeyReference& reference, const ReferencePage& page) {
  std::string text =
      absl::StrCat("# ", page.title, "\n\n", page.intro, "\n\n<!-- Written by `make docs` from ",
                   page.schema, ": edit the comments there. -->\n");
  for (const ReferenceSection& section : reference.sections) {
    const bool whole = section.heading.empty();
    if (whole) {
      absl::StrAppend(&text, "\n", section.intro, "\n\n## Top level\n");
    } else {
      const bool deep = absl::StrContains(section.heading, '.');
      absl::StrAppend(&text, "\n", deep ? "###" : "##", " ", section.heading, "\n\n", section.intro,
                      "\n");
      if (section.places.size() > 1) {
        absl::StrAppend(&text, "\nThese keys belong to ",
                        absl::StrJoin(section.places, ", ",
                                      [](std::string* out, const std::string& place) {
                                        absl::StrAppend(out, "`", place, "`");
                                      }),
                        ".\n");
      }
    }
    absl::StrAppend(&text, "\n| Key | Type | Default | Meaning |\n|---|---|---|---|\n");
    for (const ReferenceKey& key : section.keys) {
      absl::StrAppend(&text, "| ", key.path, " | ", key.type, " | ", key.fallback,
                      key.fallback.empty() ? "" : " ", "| ", key.meaning, " |\n");
    }
  }
  return text;
}

}  // namespace drasim
