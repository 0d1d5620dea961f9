// YAML text into any protobuf message, by reflection. yaml_writer.h goes the other way.
//
//   proto::Scenario scenario;
//   RETURN_IF_ERROR(MergeYaml(text, "s.yaml", &scenario));
//   RETURN_IF_ERROR(SetField("workload.tuning.ratio", "1.3", "--set", &scenario));
//
// One schema (the .proto) serves files, --set flags and output. Keys are the proto's field names
// (snake_case). Nested messages, repeated fields, maps, optional fields and all scalar types but
// bytes are supported; a field of type bytes is a defect of the schema (DRASIM_CHECK on use).
//
// Field paths, in errors and for SetField, join keys with dots: "scheduler.score.0.weight" is the
// weight of the first item of the list score, "pods.qos.values.LS" the entry LS of the map values.
#ifndef DRASIM_MODEL_TEXT_YAML_PROTO_H_
#define DRASIM_MODEL_TEXT_YAML_PROTO_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace drasim {

// Merges the single YAML document `text` into `message`. `file` is used in errors only.
//
// Messages and maps merge key by key; a list replaces what the field held. A null (nothing written,
// ~ or null) sets nothing: the field stays as it was; inside lists and as a map's value it is an
// error. Empty text leaves the message as it was. The field's type, not YAML's guess, decides how a
// scalar is read: `name: 42` is the text "42", and quotes make no difference except that "" and
// "null" are texts. A map with the option FORMAT_WORDS also takes lists as values. Booleans are
// true and false only. Enum fields take the value's name in lower case without prefix. Aliases
// work; tags and merge keys (<<) do not.
//
// Errors (InvalidArgument): "FILE:LINE:COLUMN: field.path: what was found, what was expected",
// without the path when it is the text as a whole that is wrong. Lines and columns begin at 1,
// columns count characters. Unknown keys get a "did you mean". Duplicate keys are errors, as are
// more than 64 MiB of text, more than 64 levels and more than 1,000,000 values (aliases counted in
// full). On an error the message is unchanged.
//
// Cost: linear in the text and in the message, which is copied once.
absl::Status MergeYaml(absl::string_view text, absl::string_view file,
                       google::protobuf::Message* message);

// The place at which YAML text gives the field of that dotted path: "FILE:LINE:COLUMN", or the
// empty text when it does not (or does not parse). A field that an item of a list lacks is placed
// at the item. For complaints about a value that only make sense once the whole message is known.
std::string LocateField(absl::string_view text, absl::string_view file, absl::string_view path);

// Sets one field by its dotted path, as `--set workload.tuning.ratio=1.3` does: path
// "workload.tuning.ratio", value "1.3".
//
// Messages on the way are made as needed. A repeated scalar field takes a comma-separated list,
// which replaces what it held; blanks around the commas do not count and the empty value is the
// empty list. An item of a repeated message field is named by its number; the number after the last
// adds an item. The rest of a path behind a map of scalars is one key, dots included. A message as
// a whole, a map or a repeated message field cannot be set. There is no null: "null" is a text.
//
// Errors (InvalidArgument): "ORIGIN: field.path: what was found, what was expected", where `origin`
// names the source (for example "--set"). On an error the message is unchanged. The message is
// copied once.
absl::Status SetField(absl::string_view path, absl::string_view value, absl::string_view origin,
                      google::protobuf::Message* message);

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_YAML_PROTO_H_
