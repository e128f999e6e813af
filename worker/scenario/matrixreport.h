#pragma once

#include "worker/result.h"
#include "worker/scenario/scenariotypes.h"

#include <QByteArray>
#include <QJsonObject>
#include <QList>
#include <QString>

namespace sendonce {

/// {"design":…,"hazard":…,"mails":1,"expected":1,"announced":0,"held":false,"mark":"calm","text":"1 e-mail",
/// "seconds":1.2,"runs":1,"other":0,"folder":…}; mails is null when it was not measured, expected where repeats leave
/// the timing to chance.
QJsonObject toJson(const MatrixCell &cell);
QByteArray matrixJsonLines(const QList<MatrixCell> &cells);
/// One self-contained page; figures and words, not colour alone.
QByteArray matrixHtml(const MatrixShape &shape, const QList<MatrixCell> &cells);
/// For a terminal: a line for each hazard, a column for each design, first for receivers that keep all.
QString matrixText(const MatrixShape &shape, const QList<MatrixCell> &cells);
/// By its ending HTML or JSON lines (.json, .jsonl): Invalid for another ending, Io when it cannot be written.
Result<void> writeMatrix(const MatrixShape &shape, const QList<MatrixCell> &cells, const QString &path);

/// "2 told": a cell's figure and the shortest word for it, with the rate of repeated runs.
QString cellWords(const MatrixCell &cell);

} // namespace sendonce
