#include "sim/scenario/scenario_paths.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/proto/scenario.pb.h"
#include "traces/embedded.h"
#include "traces/formats.h"

namespace drasim {
namespace {

namespace fs = std::filesystem;

namespace pb = google::protobuf;

// Names of built-in tables or formats, as opposed to paths.
enum class BuiltInNames : uint8_t { kNone, kFormats, kTables };

struct PathKey {
  absl::string_view key;
  BuiltInNames names = BuiltInNames::kNone;
};

// The keys of paths, without indices of lists. The key of a map stands for its values.
constexpr PathKey kPathKeys[] = {
    {"cluster.path"},
    {"cluster.format", BuiltInNames::kFormats},
    {"cluster.manifests"},
    {"cluster.mig.config_file"},
    {"workload.trace.path"},
    {"workload.trace.format", BuiltInNames::kFormats},
    {"workload.trace.tables"},
    {"workload.generated.table", BuiltInNames::kTables},
    {"workload.manifests"},
    {"front_end.dra.objects"},
    {"front_end.structured.slices"},
    {"front_end.structured.drivers.slices"},
    {"scheduler.kube_config"},
    {"scheduler.others.kube_config"},
    {"quotas.path"},
    {"output.dir"},
};

bool IsBuiltIn(BuiltInNames names, const std::string& text) {
  switch (names) {
    case BuiltInNames::kNone:
      return false;
    case BuiltInNames::kFormats:
      return FindSpecialFormat(text) != nullptr || !EmbeddedMapping(text).empty();
    case BuiltInNames::kTables:
      return text == "openb-like";
  }
  return false;
}

bool HasParentStep(const fs::path& path) {
  return std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
}

// The base folder of paths, and the texts that are not rewritten.
struct Rebase {
  fs::path base;
  BuiltInNames names = BuiltInNames::kNone;

  std::string operator()(const std::string& text) const {
    if (text.empty() || text == "-" || IsBuiltIn(names, text)) return text;
    const fs::path path(text);
    if (path.is_absolute()) return text;
    const fs::path joined = base / path;
    // Keeps "..": after a symbolic link it leads elsewhere than its text suggests.
    return HasParentStep(joined) ? joined.string() : joined.lexically_normal().string();
  }
};

using Rewrite = absl::FunctionRef<std::string(const std::string&)>;

// Rewrites the values at `keys`, where they are set.
void RebaseField(Rewrite rebase, absl::Span<const std::string> keys, pb::Message* message) {
  const pb::FieldDescriptor* const field = message->GetDescriptor()->FindFieldByName(keys[0]);
  DRASIM_CHECK(field != nullptr);  // kPathKeys are keys of the schema
  const pb::Reflection& reflection = *message->GetReflection();
  const absl::Span<const std::string> rest = keys.subspan(1);
  if (field->is_map()) {
    const pb::FieldDescriptor* const value = field->message_type()->map_value();
    for (int i = 0; i < reflection.FieldSize(*message, field); ++i) {
      pb::Message* const entry = reflection.MutableRepeatedMessage(message, field, i);
      const pb::Reflection& of_entry = *entry->GetReflection();
      of_entry.SetString(entry, value, rebase(of_entry.GetString(*entry, value)));
    }
  } else if (field->is_repeated()) {
    for (int i = 0; i < reflection.FieldSize(*message, field); ++i) {
      if (!rest.empty()) {
        RebaseField(rebase, rest, reflection.MutableRepeatedMessage(message, field, i));
        continue;
      }
      reflection.SetRepeatedString(message, field, i,
                                   rebase(reflection.GetRepeatedString(*message, field, i)));
    }
  } else if (reflection.HasField(*message, field)) {
    if (!rest.empty()) {
      RebaseField(rebase, rest, reflection.MutableMessage(message, field));
      return;
    }
    reflection.SetString(message, field, rebase(reflection.GetString(*message, field)));
  }
}

// Null when the key, in the notation of --set, holds no path.
const PathKey* FindPathKey(absl::string_view key) {
  std::vector<std::string> parts = absl::StrSplit(key, '.');
  const auto is_number = [](const std::string& part) {
    return !part.empty() && absl::ascii_isdigit(static_cast<unsigned char>(part[0]));
  };
  parts.erase(std::remove_if(parts.begin(), parts.end(), is_number), parts.end());
  const std::string plain = absl::StrJoin(parts, ".");
  const auto* const it =
      std::find_if(std::begin(kPathKeys), std::end(kPathKeys), [&plain](const PathKey& known) {
        // A text has no fields, so the rest of the key is an entry of a map.
        return plain == known.key || absl::StartsWith(plain, absl::StrCat(known.key, "."));
      });
  return it == std::end(kPathKeys) ? nullptr : it;
}

// Rebases the value of "KEY=VALUE". Commas separate items of a list, as in --set.
void RebaseSetting(const fs::path& base, std::string* setting) {
  const size_t equals = setting->find('=');
  if (equals == std::string::npos) return;
  const std::string key = setting->substr(0, equals);
  const PathKey* const known = FindPathKey(key);
  if (known == nullptr) return;
  const Rebase rebase{base, known->names};
  std::vector<std::string> paths = absl::StrSplit(setting->substr(equals + 1), ',');
  for (std::string& path : paths) {
    absl::StripAsciiWhitespace(&path);
    path = rebase(path);
  }
  *setting = absl::StrCat(key, "=", absl::StrJoin(paths, ","));
}

void RebaseAll(const fs::path& base, proto::Scenario* scenario) {
  for (const PathKey& known : kPathKeys) {
    const std::vector<std::string> keys = absl::StrSplit(known.key, '.');
    RebaseField(Rebase{base, known.names}, keys, scenario);
  }
  if (!scenario->has_comparison()) return;
  for (proto::Axis& axis : *scenario->mutable_comparison()->mutable_axes()) {
    for (proto::AxisValue& value : *axis.mutable_values()) {
      for (std::string& setting : *value.mutable_set()) RebaseSetting(base, &setting);
    }
  }
}

}  // namespace

void AnchorPaths(absl::string_view file, proto::Scenario* scenario) {
  if (file == "-") return;
  const fs::path folder = fs::path(std::string(file)).parent_path();
  if (!folder.empty()) RebaseAll(folder, scenario);
}

std::vector<std::string> InputPaths(const proto::Scenario& scenario) {
  std::vector<std::string> paths;
  proto::Scenario copy = scenario;
  copy.clear_output();
  for (const PathKey& known : kPathKeys) {
    const auto collect = [&](const std::string& text) {
      if (!text.empty() && text != "-" && !IsBuiltIn(known.names, text)) paths.push_back(text);
      return text;
    };
    const std::vector<std::string> keys = absl::StrSplit(known.key, '.');
    RebaseField(collect, keys, &copy);
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

void MakePathsAbsolute(proto::Scenario* scenario) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  // Without a working directory, relative paths stay as they are.
  if (!error) RebaseAll(here, scenario);
}

}  // namespace drasim
