#pragma once

#include "worker/mail/mimemessage.h"

#include <QList>
#include <QPair>

namespace sendonce::world {

/// Mails that are hard to write so that everybody reads the same; with a name each.
inline QList<QPair<QByteArray, MailContent>> mailCases()
{
    using namespace Qt::StringLiterals;
    MailContent plain;
    plain.from = {u"Job Board"_s, u"no-reply@jobboard.example"_s};
    plain.to = {u"Dana Miller"_s, u"dana@example.org"_s};
    plain.subject = u"Your application moved to interview"_s;
    plain.text = u"Hello Dana,\n\nyour application is now in state interview.\n"_s;
    plain.eventId = u"23e48c51-96a5-4fd4-8a1c-0b6f0f7b7d52"_s;
    plain.date = QDateTime(QDate(2025, 9, 1), QTime(12, 0), Qt::UTC);

    QList<QPair<QByteArray, MailContent>> cases{{"plain", plain}};
    const auto add = [&](const QByteArray &name, auto change) {
        MailContent content = plain;
        change(content);
        cases.append({name, content});
    };
    add("html", [](MailContent &c) { c.html = u"<p>Hello <b>Dana</b> & co = fine</p>\n"_s; });
    add("umlauts", [](MailContent &c) {
        c.subject = u"Änderung"_s;
        c.to.name = u"Jürgen Straße"_s;
        c.text = u"Grüße\n"_s;
        c.html = u"<p>Grüße</p>\n"_s;
    });
    add("cyrillic, long", [](MailContent &c) {
        c.subject = u"Ваша заявка на должность инженера по надёжности переведена на этап собеседования"_s;
        c.to.name = u"Александра Константинопольская-Преображенская"_s;
        c.text = u"Здравствуйте, Александра! Ваша заявка переведена на следующий этап.\n"_s.repeated(20);
    });
    add("emoji and CJK", [](MailContent &c) {
        c.subject = u"面接のお知らせ 🎉"_s + u"👩‍💻"_s.repeated(12);
        c.to.name = u"山田 太郎"_s;
        c.text = u"山田様\n🎉\n"_s;
    });
    add("long ASCII subject", [](MailContent &c) { c.subject = u"Senior Engineer (m/f/d) "_s.repeated(12).trimmed(); });
    add("one long word in the subject", [](MailContent &c) { c.subject = QString(300, u'x'); });
    add("a subject that looks encoded", [](MailContent &c) { c.subject = u"=?utf-8?q?fake?= text"_s; });
    add("blanks in the subject", [](MailContent &c) { c.subject = u"  two  blanks   everywhere "_s; });
    add("double blanks where a long subject folds", [](MailContent &c) {
        c.subject = QString(60, u'a') + u"  "_s + QString(60, u'b') + u"   "_s + QString(60, u'c');
    });
    add("empty subject", [](MailContent &c) { c.subject.clear(); });
    add("specials in the name", [](MailContent &c) { c.to.name = u"O'Neil, \"Dana\" \\ (HR) <x@y>; z"_s; });
    add("a name that looks encoded", [](MailContent &c) { c.to.name = u"=?utf-8?b?Rm9v?="_s; });
    add("a long quoted name", [](MailContent &c) { c.to.name = u"Miller, "_s.repeated(20).trimmed(); });
    add("no names", [](MailContent &c) {
        c.from.name.clear();
        c.to.name.clear();
    });
    add("longest address", [](MailContent &c) {
        c.to.address =
            QString(64, u'a') + u'@' + QString(60, u'b') + u'.' + QString(60, u'c') + u'.' + QString(60, u'd');
    });
    add("international domain", [](MailContent &c) { c.to.address = u"dana@exämple.org"_s; });
    add("quoted local part", [](MailContent &c) { c.to.address = u"\"dana miller\"@example.org"_s; });
    add("dots and From at line starts", [](MailContent &c) {
        c.text = u".\n..\n.hidden\nFrom here\nFrom\n From there\nx From me\n"_s;
        c.html = u".\nFrom\n"_s;
    });
    add("blanks at line ends", [](MailContent &c) { c.text = u"a \nb\t\n \n\t\nend  \n"_s; });
    add("line ends of all kinds", [](MailContent &c) { c.text = u"a\r\nb\nc\rd\n\r\n"_s; });
    add("no line end", [](MailContent &c) { c.text = u"no line end"_s; });
    add("empty text", [](MailContent &c) { c.text.clear(); });
    add("long lines", [](MailContent &c) {
        c.text = (QString(75, u'a') + u'\n' + QString(76, u'b') + u'\n' + QString(77, u'c') + u'\n'
                  + QString(5000, u'd') + u'\n' + u"= "_s.repeated(500) + u'\n');
    });
    add("dots where a long line breaks",
        [](MailContent &c) { c.text = QString(300, u'.') + u"\nFrom "_s + u"From "_s.repeated(100); });
    add("control characters in the text", [](MailContent &c) {
        c.text = u"nul "_s + QChar(QChar::Null) + u" escape \u001b[2J bell \u0007 del \u007f tab\tend\n"_s;
    });
    add("the boundary in the text", [](MailContent &c) {
        c.text = u"--=_\n--=_0123456789abcdef\n"_s;
        c.html = u"--=_\n"_s;
    });
    add("event_id of 64", [](MailContent &c) { c.eventId = QString(64, u'e'); });
    add("event_id of 64 emoji", [](MailContent &c) { c.eventId = u"🎉"_s.repeated(64); });
    add("event_id with blanks", [](MailContent &c) { c.eventId = u"a  b c"_s; });
    add("event_id that looks encoded", [](MailContent &c) { c.eventId = u"=?utf-8?q?a?="_s; });
    return cases;
}

/// The text as a reader gets it: line ends are "\n", and the last line has one.
inline QString asRead(QString text)
{
    text.replace(QLatin1StringView("\r\n"), QLatin1StringView("\n")).replace(u'\r', u'\n');
    return text.endsWith(u'\n') ? text : text + u'\n';
}

} // namespace sendonce::world
