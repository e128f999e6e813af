#pragma once

namespace sendonce {

/// From now on this thread and those it starts get a smaller share of a busy processor than the others of the process:
/// what works behind a window calls it, so that the window is served first. Linux, where each thread has a niceness of
/// its own that the threads it starts inherit (setpriority(2)); elsewhere nothing happens.
void stepBackstage();

} // namespace sendonce
