#include "ui/attributerows.h"

#include "ui/theme.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSet>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

constexpr int MostAttributes = 10; // sqs.md

} // namespace

struct AttributeRows::Row
{
    QString name, type, value;
};

AttributeRows::AttributeRows(QWidget *parent) : QWidget(parent), m_layout(new QVBoxLayout(this))
{
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(SpacingUnit / 2);
}

void AttributeRows::addRow()
{
    if (m_layout->count() >= MostAttributes)
        return;
    auto *row = new QWidget;
    auto *name = new QLineEdit;
    name->setObjectName(u"attributeName"_s);
    name->setPlaceholderText(tr("name"));
    name->setAccessibleName(tr("Attribute name"));
    auto *type = new QComboBox;
    type->setObjectName(u"attributeType"_s);
    type->addItems({u"String"_s, u"Number"_s, u"Binary"_s});
    type->setEditable(true); // "String.uuid" and the like
    type->setAccessibleName(tr("Attribute type"));
    auto *value = new QLineEdit;
    value->setObjectName(u"attributeValue"_s);
    value->setPlaceholderText(tr("value; binary as hex"));
    value->setAccessibleName(tr("Attribute value"));
    auto *remove = new QPushButton(tr("Remove"));
    remove->setAutoDefault(false);
    auto *layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(SpacingUnit / 2);
    layout->addWidget(name, 3);
    layout->addWidget(type, 2);
    layout->addWidget(value, 4);
    layout->addWidget(remove);
    m_layout->addWidget(row);
    connect(name, &QLineEdit::textChanged, this, &AttributeRows::changed);
    connect(value, &QLineEdit::textChanged, this, &AttributeRows::changed);
    connect(type, &QComboBox::currentTextChanged, this, &AttributeRows::changed);
    connect(remove, &QPushButton::clicked, this, [this, row] {
        m_layout->removeWidget(row);
        row->deleteLater();
        Q_EMIT changed();
    });
    name->setFocus();
    Q_EMIT changed();
}

QList<AttributeRows::Row> AttributeRows::rows() const
{
    QList<Row> rows;
    for (int i = 0; i < m_layout->count(); ++i) {
        const QWidget *row = m_layout->itemAt(i)->widget();
        const Row read{row->findChild<QLineEdit *>(u"attributeName"_s)->text().trimmed(),
                       row->findChild<QComboBox *>(u"attributeType"_s)->currentText().trimmed(),
                       row->findChild<QLineEdit *>(u"attributeValue"_s)->text()};
        if (!read.name.isEmpty())
            rows += read;
    }
    return rows;
}

MessageAttributes AttributeRows::attributes() const
{
    MessageAttributes attributes;
    for (const Row &row : rows()) {
        MessageAttribute attribute;
        attribute.dataType = row.type;
        if (row.type.startsWith("Binary"_L1))
            attribute.binaryValue = QByteArray::fromHex(row.value.toLatin1());
        else
            attribute.stringValue = row.value;
        attributes.insert(row.name, attribute);
    }
    return attributes;
}

QString AttributeRows::problem() const
{
    static const QRegularExpression Name(u"^(?!(?:AWS|Amazon)\\.)[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+)*$"_s,
                                         QRegularExpression::CaseInsensitiveOption);
    static const QRegularExpression Type(u"^(String|Number|Binary)(\\.[^\\s]+)?$"_s);
    static const QRegularExpression Hex(u"^([0-9a-fA-F]{2})+$"_s);
    static const QRegularExpression Number(u"^[+-]?(\\d+(\\.\\d*)?|\\.\\d+)([eE][+-]?\\d+)?$"_s);
    QSet<QString> names;
    for (const Row &row : rows()) {
        if (!Name.match(row.name).hasMatch() || row.name.size() > 256)
            return tr("attribute “%1”: letters, digits, - _ and single dots are accepted, no AWS. in front")
                .arg(row.name);
        if (names.contains(row.name))
            return tr("attribute “%1” is there twice").arg(row.name);
        names.insert(row.name);
        if (!Type.match(row.type).hasMatch())
            return tr("attribute “%1”: its type is String, Number or Binary, each with a .label or not").arg(row.name);
        if (row.value.isEmpty())
            return tr("attribute “%1” has no value").arg(row.name);
        if (row.type.startsWith("Binary"_L1) && !Hex.match(row.value).hasMatch())
            return tr("attribute “%1”: binary is written as pairs of hex digits").arg(row.name);
        if (row.type.startsWith("Number"_L1) && !Number.match(row.value).hasMatch())
            return tr("attribute “%1”: “%2” is no number").arg(row.name, row.value);
    }
    return {};
}

} // namespace sendonce
