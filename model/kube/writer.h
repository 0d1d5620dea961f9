// Kubernetes objects as `kubectl get -o yaml` and `-o json` print them.
//
// YAML: keys in the order of kubectl's printer (letters after other characters, runs of digits by
// their value: mig-1g.5gb before mig-1g.10gb), lists not indented below their key, quotes as that
// printer sets them, texts folded after 80 columns, texts of several lines as literal blocks. JSON:
// keys by their bytes, four spaces per level, <, > and & escaped as Go does.
//
// Differences from kubectl, none of which concerns texts that Kubernetes accepts: line and
// paragraph separators (U+2028, U+2029) stand in double quotes, as do keys of several lines and the
// key <<; in the order of keys, all characters beyond ASCII count as letters; U+0085 and U+FEFF are
// kept.
#ifndef DRASIM_MODEL_KUBE_WRITER_H_
#define DRASIM_MODEL_KUBE_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/proto/kube.pb.h"

namespace drasim {

enum class KubeTextFormat : uint8_t { kYaml, kJson };

// One object, with its set fields. An object without apiVersion or kind gets those of the newest
// version that ReadKubeObjects reads. ReadKubeObjects, without validation, reads an equal object
// back, provided that its quantities and times are valid. Byte-stable.
//
// Requires (DRASIM_CHECK): one kind is set; strings are UTF-8.
std::string PrintKubeObject(const proto::kube::Object& object, KubeTextFormat format);

// The objects, none of them null, in a `kind: List`, as kubectl prints any number but one.
std::string PrintKubeList(absl::Span<const proto::kube::Object* const> objects,
                          KubeTextFormat format);

// A list of any length as YAML, in pieces: kKubeListHead, KubeListItem for each object (there must
// be one), kKubeListTail. Together they are PrintKubeList's text.
inline constexpr absl::string_view kKubeListHead = "apiVersion: v1\nitems:\n";
inline constexpr absl::string_view kKubeListTail =
    "kind: List\nmetadata:\n  resourceVersion: \"\"\n";
std::string KubeListItem(const proto::kube::Object& object);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_WRITER_H_
