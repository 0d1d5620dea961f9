// JSON of Kubernetes objects inside case files, to and from messages of model/proto.
//
// Names are the JSON names of the schema; unknown ones are passed over. Numbers keep all of their
// digits, and FORMAT_JSON fields their JSON text.
#ifndef DRASIM_SIM_SDRA_JSON_MESSAGE_H_
#define DRASIM_SIM_SDRA_JSON_MESSAGE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/text/json_writer.h"
#include "model/text/yaml_node.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace drasim {

// Null unless `object` is an object with that member.
const YamlNode* JsonMember(const YamlNode& object, absl::string_view name);

// "name: expected a list".
absl::Status WrongJsonMember(absl::string_view name, absl::string_view expected);

// Puts `place`, such as "spec" or "[2]", in front of the path with which the error begins, if any.
absl::Status AtJsonPlace(absl::string_view place, const absl::Status& status);

// Merges `node`, a value of the JSON text `text`, into `message`. InvalidArgument for values of a
// wrong type; the error begins with the path: "spec.devices[2].name: expected a single value".
// O(value).
absl::Status MergeJson(absl::string_view text, const YamlNode& node,
                       google::protobuf::Message* message);

enum class QuantityForm : uint8_t {
  kAsWritten,
  kNumber,  // equal amounts are equal texts
};

// Fields that are set, in the order of the schema; maps in the order of their keys.
void WriteJson(const google::protobuf::Message& message, QuantityForm quantities, JsonWriter* json);

}  // namespace drasim

#endif  // DRASIM_SIM_SDRA_JSON_MESSAGE_H_
