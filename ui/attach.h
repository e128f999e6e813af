#pragma once

namespace sendonce {

class MainWindow;
class Worker;

/// Joins window and worker in both directions by queued connections; the worker lives in another thread. A
/// connection ends with either of them. When the person closes the window, the worker's closed() lets it go.
void attach(MainWindow &window, Worker &worker);

} // namespace sendonce
