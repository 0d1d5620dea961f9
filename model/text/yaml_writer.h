// Any protobuf message as YAML text, by reflection. yaml_proto.h goes the other way.
#ifndef DRASIM_MODEL_TEXT_YAML_WRITER_H_
#define DRASIM_MODEL_TEXT_YAML_WRITER_H_

#include <string>

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace drasim {

// The message as YAML that MergeYaml reads back to an equal message: set fields only, in the
// schema's order, two-space indents, strings quoted when YAML would read them as something else.
// Maps are sorted by the bytes of their keys. Byte-stable: equal messages give equal text, on every
// machine. A message without set fields is the empty text.
//
// Requires (DRASIM_CHECK): strings are UTF-8, floating-point numbers are finite, enum values are in
// the schema. A message of more levels or values than MergeYaml takes is written, but cannot be
// read back.
std::string ToYaml(const google::protobuf::Message& message);

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_YAML_WRITER_H_
