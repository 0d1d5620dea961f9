// F1: the table of keys.
#ifndef DRASIM_GUI_APP_KEY_HELP_H_
#define DRASIM_GUI_APP_KEY_HELP_H_

namespace drasim::gui {

class App;

void DrawKeyHelp(bool is_new, App* app);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_KEY_HELP_H_
