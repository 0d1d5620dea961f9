#include "sim/extender/extender_log.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <openssl/evp.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/check.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "traces/file_ptr.h"

namespace drasim {
namespace {

std::string Sha256Of(absl::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  DRASIM_CHECK_EQ(EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr), 1);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

ExtenderCall CallOf(const ExtenderSpec& extender, absl::string_view verb, absl::string_view body) {
  ExtenderCall call;
  call.extender = extender.url_prefix;
  call.verb = std::string(verb);
  call.request_sha256 = Sha256Of(body);
  return call;
}

void SetAnswer(absl::StatusOr<std::string>&& answer, ExtenderCall* call) {
  call->failed = !answer.ok();
  call->answer = answer.ok() ? *std::move(answer) : std::string(answer.status().message());
}

absl::StatusOr<std::string> AnswerOf(const ExtenderCall& call) {
  if (call.failed) return absl::UnavailableError(call.answer);
  return call.answer;
}

absl::StatusOr<google::protobuf::Struct> ParseLine(absl::string_view line) {
  google::protobuf::Struct read;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(line.data(), line.size()), &read);
  if (!status.ok()) return absl::InvalidArgumentError("no JSON object");
  return read;
}

// False: there is no such text.
bool TextMember(const google::protobuf::Struct& object, const char* key, std::string* text) {
  const auto found = object.fields().find(key);
  if (found == object.fields().end()) return false;
  if (found->second.kind_case() != google::protobuf::Value::kStringValue) return false;
  *text = found->second.string_value();
  return true;
}

}  // namespace

// --- The format ---

std::string ExtenderLogHeader() {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  json.BeginDocument("extender-calls").EndObject();
  return json.text();
}

std::string ExtenderLogLine(size_t number, const ExtenderCall& call) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  json.BeginObject();
  json.Key("call").Uint(number);
  json.Key("extender").String(call.extender);
  json.Key("verb").String(call.verb);
  json.Key("request").String(call.request_sha256);
  json.Key(call.failed ? "error" : "answer").String(call.answer);
  json.EndObject();
  return json.text();
}

absl::StatusOr<std::vector<ExtenderCall>> ReadExtenderLog(absl::string_view text,
                                                          absl::string_view file) {
  std::vector<ExtenderCall> calls;
  size_t number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const auto error = [&](absl::string_view what) {
      return absl::InvalidArgumentError(absl::StrCat(file, ":", number, ": ", what));
    };
    if (line.empty() && number > 1) continue;
    const absl::StatusOr<google::protobuf::Struct> read = ParseLine(line);
    if (!read.ok()) return error(read.status().message());
    std::string schema;
    if (number == 1) {
      if (TextMember(*read, "schema", &schema) && schema == SchemaName("extender-calls")) continue;
      return error("no recording of calls to extenders");
    }
    ExtenderCall& call = calls.emplace_back();
    call.failed = TextMember(*read, "error", &call.answer);
    const bool complete = TextMember(*read, "extender", &call.extender) &&
                          TextMember(*read, "verb", &call.verb) &&
                          TextMember(*read, "request", &call.request_sha256) &&
                          (call.failed || TextMember(*read, "answer", &call.answer));
    if (!complete) return error("no call with extender, verb, request, and answer or error");
    const auto place = read->fields().find("call");
    if (place == read->fields().end() ||
        place->second.number_value() != static_cast<double>(calls.size())) {
      return error(absl::StrCat("call ", calls.size(), " is missing"));
    }
  }
  return calls;
}

// --- Recording ---

struct RecordingChannel::File {
  std::string path;
  FilePtr stream;
  absl::Status status;

  void Write(absl::string_view text) {
    if (!status.ok()) return;
    if (std::fwrite(text.data(), 1, text.size(), stream.get()) == text.size() &&
        std::fflush(stream.get()) == 0) {
      return;
    }
    status = LostBytesError(errno, path);
  }
};

RecordingChannel::RecordingChannel(std::unique_ptr<ExtenderChannel> live,
                                   std::function<void(absl::string_view line)> write)
    : live_(std::move(live)), write_(std::move(write)) {}

RecordingChannel::~RecordingChannel() = default;

absl::StatusOr<std::unique_ptr<RecordingChannel>> RecordingChannel::Open(
    const std::string& path, std::unique_ptr<ExtenderChannel> live, absl::string_view earlier) {
  auto file = std::make_unique<File>();
  file->path = path;
  file->stream.reset(std::fopen(path.c_str(), "wb"));
  if (file->stream == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  }
  file->Write(ExtenderLogHeader());
  file->Write(earlier);
  RETURN_IF_ERROR(file->status);
  auto channel = std::make_unique<RecordingChannel>(
      std::move(live), [to = file.get()](absl::string_view line) { to->Write(line); });
  channel->file_ = std::move(file);
  return channel;
}

absl::StatusOr<std::string> RecordingChannel::Call(const ExtenderSpec& extender,
                                                   absl::string_view verb, absl::string_view body) {
  ExtenderCall call = CallOf(extender, verb, body);
  SetAnswer(live_->Call(extender, verb, body), &call);
  write_(ExtenderLogLine(++calls_, call));
  return AnswerOf(call);
}

void RecordingChannel::SkipTo(size_t calls) {
  calls_ = calls;
  live_->SkipTo(calls);
}

absl::Status RecordingChannel::status() const {
  RETURN_IF_ERROR(live_->status());
  return file_ == nullptr ? absl::OkStatus() : file_->status;
}

absl::Status RecordingChannel::Finish() {
  RETURN_IF_ERROR(live_->Finish());
  RETURN_IF_ERROR(status());
  if (file_ == nullptr || file_->stream == nullptr) return absl::OkStatus();
  if (std::fclose(file_->stream.release()) == 0) return absl::OkStatus();
  file_->status = LostBytesError(errno, file_->path);
  return file_->status;
}

// --- Replay ---

ReplayChannel::ReplayChannel(std::vector<ExtenderCall> recorded,
                             std::unique_ptr<ExtenderChannel> live)
    : recorded_(std::move(recorded)), live_(std::move(live)) {}

absl::Status ReplayChannel::Diverge(const ExtenderCall& call, absl::string_view what) {
  const absl::Status error = absl::FailedPreconditionError(
      absl::StrCat("extender call ", calls_, ", ", call.verb, " of ", call.extender, ": ", what));
  if (divergence_.ok()) divergence_ = error;
  return error;
}

absl::StatusOr<std::string> ReplayChannel::Call(const ExtenderSpec& extender,
                                                absl::string_view verb, absl::string_view body) {
  // After a divergence, nothing that follows can be trusted.
  if (!divergence_.ok()) return divergence_;
  ExtenderCall call = CallOf(extender, verb, body);
  ++calls_;
  if (calls_ > recorded_.size()) {
    return Diverge(call, absl::StrCat("the recording ends after ", recorded_.size(), " calls"));
  }
  const ExtenderCall& recorded = recorded_[calls_ - 1];
  if (recorded.extender != call.extender || recorded.verb != call.verb) {
    return Diverge(call,
                   absl::StrCat("the recorded call is ", recorded.verb, " of ", recorded.extender));
  }
  if (recorded.request_sha256 != call.request_sha256) {
    return Diverge(call,
                   absl::StrCat("the request differs from the recorded one (SHA-256 ",
                                call.request_sha256, ", recorded ", recorded.request_sha256, ")"));
  }
  if (live_ != nullptr) {
    SetAnswer(live_->Call(extender, verb, body), &call);
    if (call != recorded) {
      const auto shown = [](const ExtenderCall& c) {
        return absl::StrCat(c.failed ? "error " : "answer ", c.answer.substr(0, 200));
      };
      return Diverge(call, absl::StrCat("the extender answers differently: ", shown(call),
                                        "; recorded: ", shown(recorded)));
    }
  }
  return AnswerOf(recorded);
}

absl::Status ReplayChannel::Finish() {
  RETURN_IF_ERROR(divergence_);
  if (calls_ == recorded_.size()) return absl::OkStatus();
  ++calls_;
  return Diverge(recorded_[calls_ - 1],
                 absl::StrCat("not made; the recording has ", recorded_.size(), " calls"));
}

}  // namespace drasim
