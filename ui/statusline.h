#pragma once

#include "worker/types.h"

#include <QStatusBar>

namespace sendonce {

class PlainLabel;
class ServiceLight;

/// The line at the bottom: the three services, and what the worker has done since it started.
class StatusLine : public QStatusBar
{
    Q_OBJECT
public:
    explicit StatusLine(QWidget *parent = nullptr);

    void showService(const sendonce::ServiceStatus &status);
    void showCounters(const sendonce::Counters &counters);
    QString countersText() const;

    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    ServiceLight *m_queue;
    ServiceLight *m_database;
    ServiceLight *m_mail;
    PlainLabel *m_counters;
    PlainLabel *m_twice;
};

} // namespace sendonce
