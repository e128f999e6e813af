#pragma once

#include "ui/scenariowords.h"
#include "worker/scenario/scenariotypes.h"

#include <QAbstractTableModel>
#include <QHash>

namespace sendonce {

/// How a cell is told: mark by glyph, tone and word, and the figure.
struct MatrixLook
{
    QString figure; ///< e-mails; "–" while not measured
    QString word; ///< "once", "twice, told", "lost", "held", "37 of 100"
    QString glyph;
    Tone tone = Tone::Muted;
    bool isOff = false; ///< not what the design promises
};
MatrixLook lookOf(const MatrixCell &cell);

/// The guarantee matrix: designs as rows, what goes wrong as columns, e-mails that the candidate got as cells.
class MatrixModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    void setShape(const MatrixShape &shape);
    void clear(); ///< as not measured
    void takeCells(const QList<MatrixCell> &cells);

    const MatrixDesign &design(int row) const { return m_shape.designs.at(row); }
    const MatrixHazard &hazard(int column) const { return m_shape.hazards.at(column); }
    MatrixCell cell(const QModelIndex &index) const; ///< not measured: mails is -1
    int count(MatrixCell::Mark mark) const; ///< of what was measured
    int countOff() const; ///< that are not as the design promises

private:
    static QString keyOf(const MatrixDesign &design);
    QString keyOf(int row, int column) const;

    MatrixShape m_shape;
    QHash<QString, MatrixCell> m_cells; ///< by design and hazard
};

} // namespace sendonce
