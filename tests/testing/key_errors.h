// Comparisons of errors about scenario keys (model/key_error.h), which equal no error without key.
#ifndef DRASIM_TESTS_TESTING_KEY_ERRORS_H_
#define DRASIM_TESTS_TESTING_KEY_ERRORS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/key_error.h"

namespace drasim {

// The status without its key.
inline absl::Status WithoutKey(const absl::Status& status) {
  return absl::Status(status.code(), status.message());
}

// The same, for an error that must hold the key that its text begins with.
inline absl::Status WithoutCheckedKey(const absl::Status& status) {
  const absl::string_view text = status.message();
  EXPECT_EQ(KeyOfError(status), std::string(text.substr(0, text.find(": ")))) << status;
  return WithoutKey(status);
}

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_KEY_ERRORS_H_
