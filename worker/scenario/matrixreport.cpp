#include "worker/scenario/matrixreport.h"

#include "worker/scenario/htmlpage.h"

#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonValue>
#include <QSaveFile>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

using Mark = MatrixCell::Mark;

QString markName(Mark mark)
{
    switch (mark) {
    case Mark::Calm:
        return u"calm"_s;
    case Mark::Warning:
        return u"warning"_s;
    case Mark::Alarm:
        return u"alarm"_s;
    case Mark::Unknown:
        return u"unknown"_s;
    }
    return {};
}

const MatrixCell *find(const QList<MatrixCell> &cells, const QString &design, const QString &hazard)
{
    const auto found = std::find_if(cells.cbegin(), cells.cend(), [&](const MatrixCell &cell) {
        return cell.design == design && cell.hazard == hazard;
    });
    return found == cells.cend() ? nullptr : &*found;
}

/// A repeated one may well come out differently: its rate says so.
bool isUnexpected(const MatrixCell &cell)
{
    return cell.runs == 1 && cell.mails >= 0 && cell.expected >= 0 && cell.mails != cell.expected;
}

QString cssClass(Mark mark)
{
    switch (mark) {
    case Mark::Calm:
        return u"good"_s;
    case Mark::Warning:
        return u"other"_s;
    case Mark::Alarm:
        return u"bad"_s;
    case Mark::Unknown:
        return u"muted"_s;
    }
    return {};
}

QString htmlCell(const MatrixCell *cell)
{
    if (!cell)
        return u"<td class=\"muted\">not run</td>"_s;
    QString html = u"<td class=\"%1\" title=\""_s.arg(cssClass(cell->mark)) + escaped(cell->text) + u"\">"_s
        + escaped(cellWords(*cell));
    if (isUnexpected(*cell))
        html += u"<br><span class=\"bad\">expected %1</span>"_s.arg(cell->expected);
    return html + u"</td>"_s;
}

/// "2 of 238 cells are not as theory has them."
QString summary(const QList<MatrixCell> &cells)
{
    qsizetype runs = 0;
    for (const MatrixCell &cell : cells)
        runs += cell.runs;
    const bool isByChance = std::any_of(cells.cbegin(), cells.cend(),
                                        [](const MatrixCell &cell) { return cell.mails >= 0 && cell.expected < 0; });
    if (runs > cells.size() || isByChance) // whatever theory has: rates
        return u"%1 cells, %2 runs."_s.arg(cells.size()).arg(runs);
    const auto unexpected = std::count_if(cells.cbegin(), cells.cend(), isUnexpected);
    const auto unknown =
        std::count_if(cells.cbegin(), cells.cend(), [](const MatrixCell &cell) { return cell.mails < 0; });
    QString text = unexpected == 0 ? u"All of %1 cells are as theory has them"_s.arg(cells.size() - unknown)
                                   : u"%1 of %2 cells are not as theory has them"_s.arg(unexpected).arg(cells.size());
    if (unknown > 0)
        text += u"; %1 could not be measured"_s.arg(unknown);
    return text + u'.';
}

const QString Legend =
    u"A figure is how many e-mails the candidate got: ok, one; doubled, more and nobody is told; told, "
    "more and announced as possibly mailed twice; lost, none and nobody is told; held, in doubt and "
    "waiting for a person's decision."_s;

/// Words as lines of at most so many characters.
QStringList wrapped(const QString &text, qsizetype width)
{
    QStringList lines{QString()};
    for (const QString &word : text.split(u' ')) {
        if (!lines.last().isEmpty() && lines.last().size() + 1 + word.size() > width)
            lines.append(QString());
        lines.last() += lines.last().isEmpty() ? word : u' ' + word;
    }
    return lines;
}

QString textTable(const QList<MatrixDesign> &designs, const MatrixShape &shape, const QList<MatrixCell> &cells)
{
    constexpr int First = 33;
    constexpr int Column = 15;
    QList<QStringList> headings;
    qsizetype height = 0;
    for (const MatrixDesign &design : designs) {
        headings.append(wrapped(design.title, Column - 2));
        height = std::max(height, headings.last().size());
    }
    QString text;
    const auto end = [&text] {
        while (text.endsWith(u' '))
            text.chop(1);
        text += u'\n';
    };
    for (qsizetype line = 0; line < height; ++line) {
        text += QString(First, u' ');
        for (const QStringList &heading : std::as_const(headings))
            text += heading.value(line).leftJustified(Column);
        end();
    }
    for (const MatrixHazard &hazard : shape.hazards) {
        const auto isOfIt = [&hazard](const MatrixCell &cell) { return cell.hazard == hazard.id; };
        if (std::none_of(cells.cbegin(), cells.cend(), isOfIt))
            continue;
        text += hazard.title.leftJustified(First);
        for (const MatrixDesign &design : designs) {
            const MatrixCell *cell = find(cells, design.id, hazard.id);
            QString words = cell ? cellWords(*cell) : u"-"_s;
            if (cell && isUnexpected(*cell))
                words += u" (not %1)"_s.arg(cell->expected);
            text += words.leftJustified(Column);
        }
        end();
    }
    return text;
}

} // namespace

QString cellWords(const MatrixCell &cell)
{
    if (cell.mails < 0)
        return u"? not measured"_s;
    if (cell.runs > 1)
        return cell.text;
    const QString word = cell.held ? u"held"_s
        : cell.mails == 0          ? u"lost"_s
        : cell.mails == 1          ? u"ok"_s
        : cell.announced > 0       ? u"told"_s
                                   : u"doubled"_s;
    return u"%1 %2"_s.arg(QString::number(cell.mails), word);
}

QJsonObject toJson(const MatrixCell &cell)
{
    return {{u"design"_s, cell.design},
            {u"hazard"_s, cell.hazard},
            {u"mails"_s, cell.mails < 0 ? QJsonValue() : QJsonValue(cell.mails)},
            {u"expected"_s, cell.expected < 0 ? QJsonValue() : QJsonValue(cell.expected)},
            {u"announced"_s, cell.announced},
            {u"held"_s, cell.held},
            {u"mark"_s, markName(cell.mark)},
            {u"text"_s, cell.text},
            {u"seconds"_s, cell.seconds},
            {u"runs"_s, cell.runs},
            {u"other"_s, cell.other},
            {u"folder"_s, cell.folder}};
}

QByteArray matrixJsonLines(const QList<MatrixCell> &cells)
{
    QByteArray lines;
    for (const MatrixCell &cell : cells)
        lines += QJsonDocument(toJson(cell)).toJson(QJsonDocument::Compact) + '\n';
    return lines;
}

QByteArray matrixHtml(const MatrixShape &shape, const QList<MatrixCell> &cells)
{
    QString html = u"<p>"_s + escaped(summary(cells)) + u"</p>\n<p class=\"muted\">"_s + escaped(Legend)
        + u"</p>\n<div class=\"wide\"><table><thead><tr><th>Design</th>"_s;
    for (const MatrixHazard &hazard : shape.hazards)
        html += u"<th scope=\"col\" title=\""_s + escaped(hazard.explanation) + u"\">"_s + escaped(hazard.title)
            + u"</th>"_s;
    html += u"</tr></thead><tbody>\n"_s;
    for (const MatrixDesign &design : shape.designs) {
        html += u"<tr><th scope=\"row\">"_s + escaped(design.title)
            + (design.production ? u" <span class=\"muted\">(production)</span>"_s : QString())
            + (design.suppressing ? u"<br><span class=\"muted\">receiver drops copies</span>"_s : QString())
            + u"</th>"_s;
        for (const MatrixHazard &hazard : shape.hazards)
            html += htmlCell(find(cells, design.id, hazard.id));
        html += u"</tr>\n"_s;
    }
    html += u"</tbody></table></div>\n<h3>What goes wrong</h3>\n<table><tbody>\n"_s;
    for (const MatrixHazard &hazard : shape.hazards)
        html +=
            u"<tr><td>"_s + escaped(hazard.title) + u"</td><td>"_s + escaped(hazard.explanation) + u"</td></tr>\n"_s;
    return htmlPageOf(u"Sendonce: guarantee matrix"_s, html + u"</tbody></table>\n"_s);
}

QString matrixText(const MatrixShape &shape, const QList<MatrixCell> &cells)
{
    QString text;
    for (const bool suppressing : {false, true}) {
        QList<MatrixDesign> designs;
        for (const MatrixDesign &design : shape.designs) {
            const auto isOfIt = [&design](const MatrixCell &cell) { return cell.design == design.id; };
            if (design.suppressing == suppressing && std::any_of(cells.cbegin(), cells.cend(), isOfIt))
                designs.append(design);
        }
        if (designs.isEmpty())
            continue;
        text += suppressing ? u"E-mails in the mailbox of a receiver that drops copies (same Message-ID and Date)\n\n"_s
                            : u"E-mails in the mailbox of a receiver that keeps all\n\n"_s;
        text += textTable(designs, shape, cells) + u'\n';
    }
    return text + wrapped(Legend, 118).join(u'\n') + u'\n' + summary(cells);
}

Result<void> writeMatrix(const MatrixShape &shape, const QList<MatrixCell> &cells, const QString &path)
{
    const QString ending = QFileInfo(path).suffix().toLower();
    QByteArray content;
    if (ending == "html"_L1 || ending == "htm"_L1)
        content = matrixHtml(shape, cells);
    else if (ending == "json"_L1 || ending == "jsonl"_L1)
        content = matrixJsonLines(cells);
    else
        return Error{ErrorKind::Invalid,
                     u"the file %1 has no ending that says its form; .html, .json and .jsonl are accepted"_s.arg(path),
                     {}};
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size() || !file.commit())
        return Error{ErrorKind::Io, u"%1 cannot be written: %2"_s.arg(path, file.errorString()), {}};
    return {};
}

} // namespace sendonce
