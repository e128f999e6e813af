#pragma once

namespace sendonce {

/// From now on this thread and those it starts have the processor after all others of the process: what works behind a
/// window calls it, so that the window answers although both cores are busy. Linux, where each thread has a niceness of
/// its own that its children inherit (setpriority(2)); elsewhere nothing happens.
void stepBackstage();

} // namespace sendonce
