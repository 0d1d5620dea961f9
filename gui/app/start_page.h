// The page shown without a run, and the form to open or run another one: paths, recent files,
// embedded scenarios.
#ifndef DRASIM_GUI_APP_START_PAGE_H_
#define DRASIM_GUI_APP_START_PAGE_H_

#include <string>
#include <vector>

namespace drasim::gui {

class App;

class StartPage {
 public:
  // Fills the window of ImGui that is open. False once something was chosen.
  bool Draw(bool as_b, App* app);

 private:
  // A scenario that is part of the program.
  struct Embedded {
    std::string name;
    std::string description;
  };

  bool DrawOpen(bool as_b, App* app);
  bool DrawRun(bool as_b, App* app);
  bool Run(bool as_b, App* app);
  void ReadChoices();

  std::vector<Embedded> embedded_;
  std::vector<std::string> policies_;  // the first: as in the scenario
  std::vector<std::string> front_ends_;

  std::string path_;
  std::string scenario_;
  std::string seed_;
  int policy_ = 0;
  int front_end_ = 0;
  std::string error_;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_START_PAGE_H_
