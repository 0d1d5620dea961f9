// Errors about the value of a scenario key, which hold the key as data: the text is for the reader.
//
//   return KeyError("scheduler.cache", "expected true or false");
//   ...
//   const std::string key = KeyOfError(status);  // "scheduler.cache"
#ifndef DRASIM_MODEL_KEY_ERROR_H_
#define DRASIM_MODEL_KEY_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace drasim {

// InvalidArgument with the text "KEY: WHAT". Items of lists stand in either notation, as
// "cluster.events[0].at" or "workload.jobs.0.cpu".
absl::Status KeyError(absl::string_view key, absl::string_view what);

// The same error about `key`, in place of any other. OK stays OK.
absl::Status WithKey(absl::string_view key, absl::Status status);

// An error about the key K as one about PARENT.K, and one about no key as one about `parent`. OK
// stays OK.
absl::Status BelowKey(absl::string_view parent, const absl::Status& status);

// The key that the error is about; empty if it is about none.
std::string KeyOfError(const absl::Status& status);

}  // namespace drasim

#endif  // DRASIM_MODEL_KEY_ERROR_H_
