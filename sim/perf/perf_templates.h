// The templates of a set of configurations: files below one folder, some of which another folder
// may replace.
#ifndef DRASIM_SIM_PERF_PERF_TEMPLATES_H_
#define DRASIM_SIM_PERF_PERF_TEMPLATES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/kube.pb.h"
#include "sim/perf/template_value.h"
#include "sim/perf/text_template.h"

namespace drasim::perf {

// The bytes of a file. Errors of OpenByteSource; InvalidArgument for more than 64 MiB.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

class PerfTemplates {
 public:
  // `overlay`: a folder whose files replace those of the same path below `root`; empty: none.
  PerfTemplates(std::string root, std::string overlay)
      : root_(std::move(root)), overlay_(std::move(overlay)) {}

  // The template `path`, which is relative to `folder`, itself relative to the root. Each file is
  // read once. NotFound for a missing file, InvalidArgument for a path that leaves the root and as
  // TextTemplate::Parse.
  absl::StatusOr<const TextTemplate*> Find(absl::string_view folder, absl::string_view path);

  // The texts of all files so far, by path below the root.
  const std::map<std::string, std::string>& texts() const { return texts_; }

 private:
  std::string root_;
  std::string overlay_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::unique_ptr<TextTemplate>> templates_;
};

// The kind that the text of an object states.
struct ObjectKind {
  std::string api_version;
  std::string kind;
};

// The objects that one operation makes of a template. A template without .Index is read once.
class ObjectSeries {
 public:
  using Params = std::vector<std::pair<std::string, TemplateValue>>;
  using Object = std::shared_ptr<const proto::kube::Object>;

  // The template must outlive the series.
  ObjectSeries(const TextTemplate* text, int64_t count, Params params);

  // Object number `index`, without the name that the API server would make of its generateName.
  // The errors of TextTemplate::Fill and ReadKubeObjects; Unimplemented for a kind or a field that
  // this program does not know.
  absl::StatusOr<Object> At(int64_t index);
  // The kind of the first.
  absl::StatusOr<ObjectKind> Kind() const;
  bool same_for_all() const { return !text_->uses_index(); }

 private:
  absl::StatusOr<std::string> Fill(int64_t index) const;

  const TextTemplate* text_;
  int64_t count_;
  Params params_;
  Object only_;  // with same_for_all(), once it is known
};

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_PERF_TEMPLATES_H_
