// A message type with a field of every kind, made at run time: the tests need more kinds than the
// real schemas use.
//
//   enum QueueKind { QUEUE_KIND_FIFO = 0; QUEUE_KIND_PRIORITY = 1; ODD = 2; }
//   message All {
//     bool flag; int32 small; int64 big; uint32 count; uint64 total; double ratio; float part;
//     string label; QueueKind kind; All child; repeated int32 numbers; repeated QueueKind kinds;
//     repeated All children; map<string, int64> counts; map<int32, string> by_number; map<string,
//     All> named; repeated string labels; repeated bool flags; repeated double ratios; map<bool,
//     QueueKind> by_flag;
//   }
#ifndef DRASIM_TESTS_MODEL_TEXT_ANY_SCHEMA_H_
#define DRASIM_TESTS_MODEL_TEXT_ANY_SCHEMA_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>

#include "model/check.h"

namespace drasim {

// Messages made by it must not outlive it.
class AnySchema {
 public:
  using FieldProto = google::protobuf::FieldDescriptorProto;
  using MessageProto = google::protobuf::DescriptorProto;

  AnySchema() {
    google::protobuf::FileDescriptorProto file;
    file.set_name("any.proto");
    file.set_package("any");
    file.set_syntax("proto3");
    AddEnum(&file);
    AddMessage(file.add_message_type());
    const google::protobuf::FileDescriptor* built = pool_.BuildFile(file);
    DRASIM_CHECK(built != nullptr);
    type_ = built->FindMessageTypeByName("All");
    DRASIM_CHECK(type_ != nullptr);
  }

  std::unique_ptr<google::protobuf::Message> New() {
    return std::unique_ptr<google::protobuf::Message>(factory_.GetPrototype(type_)->New());
  }

 private:
  static void AddEnum(google::protobuf::FileDescriptorProto* file) {
    google::protobuf::EnumDescriptorProto* kind = file->add_enum_type();
    kind->set_name("QueueKind");
    int number = 0;
    for (const char* name : {"QUEUE_KIND_FIFO", "QUEUE_KIND_PRIORITY", "ODD"}) {
      google::protobuf::EnumValueDescriptorProto* value = kind->add_value();
      value->set_name(name);
      value->set_number(number++);
    }
  }

  static void AddMessage(MessageProto* all) {
    all->set_name("All");
    AddField(all, "flag", FieldProto::TYPE_BOOL, false, "");
    AddField(all, "small", FieldProto::TYPE_INT32, false, "");
    AddField(all, "big", FieldProto::TYPE_INT64, false, "");
    AddField(all, "count", FieldProto::TYPE_UINT32, false, "");
    AddField(all, "total", FieldProto::TYPE_UINT64, false, "");
    AddField(all, "ratio", FieldProto::TYPE_DOUBLE, false, "");
    AddField(all, "part", FieldProto::TYPE_FLOAT, false, "");
    AddField(all, "label", FieldProto::TYPE_STRING, false, "");
    AddField(all, "kind", FieldProto::TYPE_ENUM, false, ".any.QueueKind");
    AddField(all, "child", FieldProto::TYPE_MESSAGE, false, ".any.All");
    AddField(all, "numbers", FieldProto::TYPE_INT32, true, "");
    AddField(all, "kinds", FieldProto::TYPE_ENUM, true, ".any.QueueKind");
    AddField(all, "children", FieldProto::TYPE_MESSAGE, true, ".any.All");
    AddMap(all, "counts", "CountsEntry", FieldProto::TYPE_STRING, FieldProto::TYPE_INT64, "");
    AddMap(all, "by_number", "ByNumberEntry", FieldProto::TYPE_INT32, FieldProto::TYPE_STRING, "");
    AddMap(all, "named", "NamedEntry", FieldProto::TYPE_STRING, FieldProto::TYPE_MESSAGE,
           ".any.All");
    AddField(all, "labels", FieldProto::TYPE_STRING, true, "");
    AddField(all, "flags", FieldProto::TYPE_BOOL, true, "");
    AddField(all, "ratios", FieldProto::TYPE_DOUBLE, true, "");
    AddMap(all, "by_flag", "ByFlagEntry", FieldProto::TYPE_BOOL, FieldProto::TYPE_ENUM,
           ".any.QueueKind");
  }

  static void AddField(MessageProto* message, const std::string& name, FieldProto::Type type,
                       bool repeated, const std::string& type_name) {
    FieldProto* field = message->add_field();
    field->set_name(name);
    field->set_number(message->field_size());
    field->set_label(repeated ? FieldProto::LABEL_REPEATED : FieldProto::LABEL_OPTIONAL);
    field->set_type(type);
    if (!type_name.empty()) field->set_type_name(type_name);
  }

  static void AddMap(MessageProto* message, const std::string& name, const std::string& entry,
                     FieldProto::Type key, FieldProto::Type value, const std::string& value_type) {
    MessageProto* nested = message->add_nested_type();
    nested->set_name(entry);
    AddField(nested, "key", key, false, "");
    AddField(nested, "value", value, false, value_type);
    nested->mutable_options()->set_map_entry(true);
    AddField(message, name, FieldProto::TYPE_MESSAGE, true, ".any.All." + entry);
  }

  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
  const google::protobuf::Descriptor* type_ = nullptr;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_MODEL_TEXT_ANY_SCHEMA_H_
