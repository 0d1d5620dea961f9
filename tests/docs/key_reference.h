// The key reference of docs/: pages of keys, written from the comments of the schemas.
//
//   const absl::StatusOr<KeyReference> keys =
//       ReadKeyReference(descriptor_set, "drasim.proto.Scenario");
//   const std::string text = ReferencePageText(*keys, page);
//
// model/proto/scenario.proto tells how such comments are written.
#ifndef DRASIM_TESTS_DOCS_KEY_REFERENCE_H_
#define DRASIM_TESTS_DOCS_KEY_REFERENCE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim {

// One field of a schema. All texts are Markdown.
struct ReferenceKey {
  std::string path;      // "workload.jobs[].name"
  std::string type;      // "duration"
  std::string fallback;  // the default; "required"; empty for a section
  std::string meaning;   // one line; values are listed with <br>
};

// One message of a schema: a table of its fields.
struct ReferenceSection {
  std::string heading;              // "cluster.node"; empty for the whole file
  std::vector<std::string> places;  // every path that has these keys, in the schema's order
  std::string intro;                // may have several lines
  std::vector<ReferenceKey> keys;
};

struct KeyReference {
  std::vector<ReferenceSection> sections;  // parents before their children
};

// A page of docs/ and the message that it describes.
struct ReferencePage {
  const char* file;
  const char* message;
  const char* title;
  const char* schema;
  const char* intro;
};

// All pages that are written this way.
const std::vector<ReferencePage>& ReferencePages();

// Reads the keys of `message` and of the messages below it that are of the same schema.
// `descriptor_set` is a serialised FileDescriptorSet with imports and source information. Errors
// name every field whose comment lacks its meaning, its type or its default.
absl::StatusOr<KeyReference> ReadKeyReference(absl::string_view descriptor_set,
                                              absl::string_view message);

// The whole page.
std::string ReferencePageText(const KeyReference& reference, const ReferencePage& page);

}  // namespace drasim

#endif  // DRASIM_TESTS_DOCS_KEY_REFERENCE_H_
