#include "sim/run/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/number_text.h"

namespace drasim {
namespace {

constexpr size_t kWidth = 32;
constexpr double kBarEveryS = 0.1;
constexpr double kLineEveryS = 10;

double WallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Progress::Style StyleOf(uint64_t total, bool quiet) {
  if (quiet || total == 0) return Progress::Style::kSilent;
  return isatty(STDERR_FILENO) == 1 ? Progress::Style::kBar : Progress::Style::kLines;
}

}  // namespace

Progress::Progress(std::string label, uint64_t total, bool quiet)
    : Progress(std::move(label), total, StyleOf(total, quiet), stderr, WallSeconds) {}

Progress::Progress(std::string label, uint64_t total, Style style, std::FILE* out,
                   std::function<double()> seconds)
    : label_(std::move(label)),
      total_(total),
      style_(style),
      out_(out),
      seconds_(std::move(seconds)),
      start_s_(seconds_()),
      next_s_(style == Style::kLines ? start_s_ + kLineEveryS : start_s_) {}

void Progress::Update(uint64_t done, const std::function<std::string()>& rest) {
  if (style_ == Style::kSilent) return;
  const double now_s = seconds_();
  if (now_s < next_s_) return;
  next_s_ = now_s + (style_ == Style::kBar ? kBarEveryS : kLineEveryS);
  const double share = static_cast<double>(std::min(done, total_)) / static_cast<double>(total_);
  const double elapsed_s = now_s - start_s_;
  std::string state;
  if (done < total_) {
    state = absl::StrCat(done * 100 / total_, " %");  // rounded down: 100 % is all
    if (done > 0) {
      absl::StrAppend(&state, ", ", FixedText(elapsed_s * (1 - share) / share, 0), " s left");
    }
  } else {
    state = rest ? rest() : "finishing";
    absl::StrAppend(&state, ", ", FixedText(elapsed_s, 0), " s so far");
  }
  if (style_ == Style::kBar) {
    const auto filled = static_cast<size_t>(share * static_cast<double>(kWidth));
    std::fprintf(out_, "\r%s [%s%s] %s\033[K", label_.c_str(), std::string(filled, '#').c_str(),
                 std::string(kWidth - filled, '.').c_str(), state.c_str());
    drawn_ = true;
  } else {
    std::fprintf(out_, "drasim: %s: %s\n", label_.c_str(), state.c_str());
  }
  std::fflush(out_);
}

void Progress::Clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", out_);
  std::fflush(out_);
  drawn_ = false;
}

RunsProgress::RunsProgress(std::string label, size_t runs, bool quiet)
    : parts_(runs), progress_(std::move(label), runs * kParts, quiet) {}

void RunsProgress::Update(size_t run, double share) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto parts =
      static_cast<uint64_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(kParts));
  if (parts > parts_[run]) {
    done_ += parts - parts_[run];
    parts_[run] = parts;
  }
  progress_.Update(done_);
}

void RunsProgress::Clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  progress_.Clear();
}

}  // namespace drasim
