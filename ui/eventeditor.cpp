#include "ui/eventeditor.h"

#include "ui/displaytext.h"
#include "ui/theme.h"

#include <QEvent>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTextCursor>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {

EventEditor::EventEditor(QWidget *parent) : QPlainTextEdit(parent)
{
    setAccessibleName(tr("Event as JSON"));
    setTabChangesFocus(true);
    setFont(monospaceFont());
    m_rest.setSingleShot(true);
    m_rest.setInterval(120ms);
    connect(this, &QPlainTextEdit::textChanged, this, [this] {
        m_isStale = true;
        m_rest.start();
    });
    connect(&m_rest, &QTimer::timeout, this, [this] { Q_EMIT checked(check()); });
}

void EventEditor::setRules(const EventRules &rules)
{
    m_rules = rules;
    m_isStale = true;
    m_rest.start();
}

void EventEditor::setBody(const QByteArray &body)
{
    const QString laidOut = indentedJson(body);
    setPlainText(shownLines(laidOut.isNull() ? QString::fromUtf8(body) : laidOut));
}

const BodyCheck &EventEditor::check()
{
    if (m_isStale) {
        m_isStale = false;
        m_check = m_rules.check ? m_rules.check(body()) : BodyCheck{tr("the event types are not known yet"), {}, {}, 0};
    }
    return m_check;
}

bool EventEditor::setEventId(const QString &eventId)
{
    // Written as the JSON parser would write it; the value may hold escapes.
    static const QRegularExpression Member(uR"re("event_id"\s*:\s*("(?:[^"\\]|\\.)*"|[^,}\s]+))re"_s);
    const auto match = Member.match(toPlainText());
    if (!match.hasMatch())
        return false;
    QByteArray quoted = QJsonDocument(QJsonObject{{u"i"_s, eventId}}).toJson(QJsonDocument::Compact);
    quoted = quoted.mid(5, quoted.size() - 6); // {"i":"…"}
    QTextCursor cursor(document());
    cursor.setPosition(int(match.capturedStart(1)));
    cursor.setPosition(int(match.capturedEnd(1)), QTextCursor::KeepAnchor);
    cursor.insertText(QString::fromUtf8(quoted));
    return true;
}

void EventEditor::changeEvent(QEvent *event)
{
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::FontChange && font() != monospaceFont())
        setFont(monospaceFont());
}

} // namespace sendonce
