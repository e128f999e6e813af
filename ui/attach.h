#pragma once

namespace sendonce {

class MainWindow;
class Scenarios;
class Worker;

/// Joins window and worker in both directions by queued connections; the worker lives in another thread. A
/// connection ends with either of them. When the person closes the window, the worker's closed() lets it go.
void attach(MainWindow &window, Worker &worker);

/// So too with what runs scenarios and measures the matrix, in a thread of its own.
void attach(MainWindow &window, Scenarios &scenarios);

} // namespace sendonce
