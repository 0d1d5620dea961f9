// Recordings of what extenders answered, so that a run repeats without them.
//
// A recording is JSON Lines: {"schema": "drasim.extender-calls/v1"}, then one object per call with
// `call` (from 1), `extender` (its urlPrefix), `verb`, `request` (the SHA-256 of the body), and
// `answer` (the body) or `error`.
#ifndef DRASIM_SIM_EXTENDER_EXTENDER_LOG_H_
#define DRASIM_SIM_EXTENDER_EXTENDER_LOG_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/extender/extender_channel.h"
#include "sim/scenario/kube_config.h"

namespace drasim {

struct ExtenderCall {
  std::string extender;
  std::string verb;
  std::string request_sha256;
  bool failed = false;
  std::string answer;  // or the error
  bool operator==(const ExtenderCall&) const = default;
};

// A recording's lines, with their line breaks.
std::string ExtenderLogHeader();
std::string ExtenderLogLine(size_t number, const ExtenderCall& call);
// Reads a recording. InvalidArgument, "FILE:LINE: ...", for anything else.
absl::StatusOr<std::vector<ExtenderCall>> ReadExtenderLog(absl::string_view text,
                                                          absl::string_view file);

// Passes calls on, and writes them down as they come.
class RecordingChannel : public ExtenderChannel {
 public:
  // To a file, which is replaced. `earlier`: the lines of the run so far, without the header, if it
  // goes on from a checkpoint. Unavailable or PermissionDenied if the file cannot be written.
  static absl::StatusOr<std::unique_ptr<RecordingChannel>> Open(
      const std::string& path, std::unique_ptr<ExtenderChannel> live,
      absl::string_view earlier = absl::string_view());
  // To a function, which gets each line but the header.
  RecordingChannel(std::unique_ptr<ExtenderChannel> live,
                   std::function<void(absl::string_view line)> write);
  ~RecordingChannel() override;

  absl::StatusOr<std::string> Call(const ExtenderSpec& extender, absl::string_view verb,
                                   absl::string_view body) override;
  void SkipTo(size_t calls) override;
  // The first error of writing, or that of the other channel.
  absl::Status status() const override;
  absl::Status Finish() override;
  // Calls of the run so far.
  size_t calls() const { return calls_; }

 private:
  struct File;

  std::unique_ptr<ExtenderChannel> live_;
  std::unique_ptr<File> file_;  // or null
  std::function<void(absl::string_view line)> write_;
  size_t calls_ = 0;
};

// Answers from a recording. A call that differs from the recorded one, is not in the recording, or
// is missing at the end is a divergence, FailedPrecondition: "extender call 3, filter of
// http://...: the request differs from the recorded one (...)".
class ReplayChannel : public ExtenderChannel {
 public:
  // `live` may be null. Otherwise it is asked as well, and an answer that differs from the recorded
  // one is a divergence.
  ReplayChannel(std::vector<ExtenderCall> recorded, std::unique_ptr<ExtenderChannel> live);

  absl::StatusOr<std::string> Call(const ExtenderSpec& extender, absl::string_view verb,
                                   absl::string_view body) override;
  void SkipTo(size_t calls) override { calls_ = calls; }
  // The first divergence.
  absl::Status status() const override { return divergence_; }
  absl::Status Finish() override;

 private:
  absl::Status Diverge(const ExtenderCall& call, absl::string_view what);

  std::vector<ExtenderCall> recorded_;
  std::unique_ptr<ExtenderChannel> live_;
  size_t calls_ = 0;
  absl::Status divergence_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_EXTENDER_EXTENDER_LOG_H_
