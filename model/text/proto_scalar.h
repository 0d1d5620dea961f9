// Scalar protobuf fields from and to text, by reflection. The text is plain: YAML's quotes are the
// caller's business.
//
// Not for fields of type bytes, which have no text form here: a schema that wants one is a defect
// (DRASIM_CHECK).
#ifndef DRASIM_MODEL_TEXT_PROTO_SCALAR_H_
#define DRASIM_MODEL_TEXT_PROTO_SCALAR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace drasim {

// `text` as error messages show it: control characters and quotes escaped, cut after 60 bytes with
// "...".
std::string Shorten(absl::string_view text);

// The values that a scalar field takes, for messages: "a whole number from 0 to 4294967295", "a
// finite number", "true or false", "one of fifo, priority", "a text".
std::string ExpectedScalar(const google::protobuf::FieldDescriptor& field);

// Reads `text` as one value of the scalar `field`: sets a singular field, appends to a repeated
// one. Whole numbers are decimal, without leading zeros. Numbers are decimal with an optional
// exponent. Enum values are named in lower case, without the prefix that the style guide gives them
// (QUEUE_KIND_FIFO of QueueKind is "fifo"). Errors (InvalidArgument): "found 'x', expected ..."
// (see ExpectedScalar); the message is then unchanged.
absl::Status StoreScalar(absl::string_view text, const google::protobuf::FieldDescriptor& field,
                         google::protobuf::Message* message);

inline constexpr int kSingular = -1;  // the index of the value of a field that is not repeated

// The value of scalar `field`, item `index` of a repeated one: the text that StoreScalar reads back
// to the same value. Floating-point numbers take the fewest digits that do so. A number that is not
// finite or an enum value that the schema does not know is a defect (DRASIM_CHECK).
std::string ScalarText(const google::protobuf::Message& message,
                       const google::protobuf::FieldDescriptor& field, int index);

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_PROTO_SCALAR_H_
