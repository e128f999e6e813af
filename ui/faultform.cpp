#include "ui/faultform.h"

#include "ui/consolestyle.h"
#include "ui/displaytext.h"
#include "ui/faultwords.h"
#include "ui/flowgrid.h"
#include "ui/icons.h"
#include "ui/plainlabel.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardItemModel>

#include <limits>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {
namespace {

using Effect = FaultEffect;
using std::chrono::milliseconds;

enum Often { NextOnes, EveryTime, OneIn };

constexpr double LongestSeconds = 24 * 3600;
constexpr int MostTimes = 1'000'000;
constexpr int AnyCode = 451;
constexpr int ClosingCode = 421; ///< all a server may say between two mails

bool takesDelay(Effect effect)
{
    return effect == Effect::Delay || effect == Effect::ShortVisibility || effect == Effect::Hang
        || effect == Effect::Slow || effect == Effect::ClockJump;
}

QDoubleSpinBox *secondsField(const QString &name, const QString &accessibleName, double value)
{
    auto *field = new QDoubleSpinBox;
    field->setObjectName(name);
    field->setAccessibleName(accessibleName);
    field->setRange(0, LongestSeconds);
    field->setDecimals(1);
    field->setSuffix(FaultForm::tr(" s"));
    field->setValue(value);
    return field;
}

QSpinBox *countField(const QString &name, const QString &accessibleName, int least, int most, int value)
{
    auto *field = new QSpinBox;
    field->setObjectName(name);
    field->setAccessibleName(accessibleName);
    field->setRange(least, most);
    field->setValue(value);
    return field;
}

QLineEdit *patternField(const QString &name, const QString &accessibleName, const QString &example)
{
    auto *field = new QLineEdit;
    field->setObjectName(name);
    field->setAccessibleName(accessibleName);
    field->setPlaceholderText(FaultForm::tr("all; or such as %1").arg(example));
    field->setToolTip(toolTipText(FaultForm::tr("* stands for any characters, ? for one")));
    return field;
}

qint64 msecOf(const QDoubleSpinBox *field)
{
    return qRound64(field->value() * 1000);
}

double secondsOf(milliseconds time)
{
    return double(time.count()) / 1000;
}

PlainLabel *explanation()
{
    auto *label = new PlainLabel({}, PlainLabel::Role::Caption);
    label->setWordWrap(true);
    label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    return label;
}

QHBoxLayout *beside(const QList<QWidget *> &widgets)
{
    auto *row = new QHBoxLayout;
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(SpacingUnit);
    for (QWidget *widget : widgets)
        row->addWidget(widget);
    row->addStretch(1);
    return row;
}

} // namespace

FaultForm::FaultForm(QWidget *parent)
    : QWidget(parent)
    , m_where(new QComboBox)
    , m_whereText(explanation())
    , m_what(new QComboBox)
    , m_whatText(explanation())
    , m_form(new QFormLayout)
    , m_whom(new QFormLayout)
    , m_code(countField(u"faultCode"_s, tr("SMTP reply code"), 400, 599, AnyCode))
    , m_text(new QLineEdit)
    , m_delay(secondsField(u"faultDelay"_s, tr("How long"), 3))
    , m_count(countField(u"faultCount"_s, tr("Mails in each span"), 1, MostTimes, 5))
    , m_window(secondsField(u"faultWindow"_s, tr("Span"), 10))
    , m_rate(new QWidget)
    , m_often(new QComboBox)
    , m_times(countField(u"faultTimes"_s, tr("How many times"), 1, MostTimes, 1))
    , m_oneIn(countField(u"faultOneIn"_s, tr("One in"), 2, MostTimes, 3))
    , m_seed(countField(u"faultSeed"_s, tr("Seed"), 0, std::numeric_limits<int>::max(), 1))
    , m_event(patternField(u"faultEvent"_s, tr("Event id"), u"demo-*"_s))
    , m_recipient(patternField(u"faultRecipient"_s, tr("Recipient"), u"*@example.com"_s))
    , m_type(patternField(u"faultType"_s, tr("Event type"), u"*.received"_s))
    , m_lasts(secondsField(u"faultLasts"_s, tr("For how long"), 0))
    , m_problem(new PlainLabel)
    , m_arm(new QPushButton(icon(u"faults"_s, Tone::OnAccent), tr("&Arm")))
{
    m_where->setObjectName(u"faultWhere"_s);
    m_where->setAccessibleName(tr("Where it strikes"));
    m_where->setMaxVisibleItems(30);
    m_what->setObjectName(u"faultWhat"_s);
    m_what->setAccessibleName(tr("What happens"));
    for (QComboBox *box : {m_where, m_what}) { // a long title must not make the panel wide
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box->setMinimumContentsLength(12);
        box->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    }
    m_text->setObjectName(u"faultText"_s);
    m_text->setAccessibleName(tr("Text of the reply"));
    m_text->setPlaceholderText(tr("one that says it is armed"));
    m_often->setObjectName(u"faultOften"_s);
    m_often->setAccessibleName(tr("How often"));
    m_often->addItems({tr("next"), tr("every time"), tr("one in")});
    m_lasts->setSpecialValueText(tr("until it is disarmed"));
    m_lasts->setToolTip(toolTipText(tr("After that it is over, whether it has struck or not")));
    m_seed->setToolTip(toolTipText(tr("The same seed strikes the same deliveries of the same events")));
    m_problem->setObjectName(u"faultProblem"_s);
    m_problem->setTone(Tone::Failed);
    m_problem->setWordWrap(true);
    m_arm->setObjectName(u"armFault"_s);
    setLook(m_arm, Look::Primary);

    m_rate->setLayout(beside({m_count, new PlainLabel(tr("mails in")), m_window}));
    for (QFormLayout *form : {m_form, m_whom}) {
        form->setContentsMargins(0, 0, 0, 0);
        form->setHorizontalSpacing(SpacingUnit);
        form->setVerticalSpacing(SpacingUnit / 2);
        form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    }
    m_form->addRow(tr("W&here"), m_where);
    m_form->addRow({}, m_whereText);
    m_form->addRow(tr("&Effect"), m_what);
    m_form->addRow({}, m_whatText);
    m_form->addRow(tr("&Code"), m_code);
    m_form->addRow(tr("Te&xt"), m_text);
    m_form->addRow(tr("T&ime"), m_delay);
    m_form->addRow(tr("&Rate"), m_rate);
    auto *often = new QLabel(tr("&How often"));
    often->setBuddy(m_often);
    m_whom->addRow(often, beside({m_often, m_times, m_oneIn}));
    m_whom->addRow(tr("&Seed"), m_seed);
    m_whom->addRow(tr("E&vent id"), m_event);
    m_whom->addRow(tr("Reci&pient"), m_recipient);
    m_whom->addRow(tr("T&ype"), m_type);
    m_whom->addRow(tr("For how &long"), m_lasts);
    auto *halves = new FlowGrid(2);
    for (QFormLayout *form : {m_form, m_whom}) {
        auto *half = new QWidget;
        half->setLayout(form);
        halves->add(half);
    }
    auto *end = new QHBoxLayout;
    end->setContentsMargins(2 * SpacingUnit, 0, 2 * SpacingUnit, SpacingUnit);
    end->setSpacing(2 * SpacingUnit);
    end->addWidget(m_arm, 0, Qt::AlignTop);
    end->addWidget(m_problem, 1);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(halves);
    layout->addLayout(end);
    layout->addStretch(1);

    fillPoints();
    connect(m_where, &QComboBox::currentIndexChanged, this, &FaultForm::followPoint);
    connect(m_what, &QComboBox::currentIndexChanged, this, &FaultForm::followEffect);
    connect(m_often, &QComboBox::currentIndexChanged, this, &FaultForm::followOften);
    for (QSpinBox *field : {m_code, m_count, m_times, m_oneIn, m_seed})
        connect(field, &QSpinBox::valueChanged, this, &FaultForm::check);
    for (QDoubleSpinBox *field : {m_delay, m_window, m_lasts})
        connect(field, &QDoubleSpinBox::valueChanged, this, &FaultForm::check);
    for (QLineEdit *field : {m_text, m_event, m_recipient, m_type})
        connect(field, &QLineEdit::textChanged, this, &FaultForm::check);
    connect(m_arm, &QPushButton::clicked, this, &FaultForm::arm);
    show(FaultRule());
}

Result<FaultRule> FaultForm::rule() const
{
    return faultRule(typed());
}

void FaultForm::show(const FaultRule &rule)
{
    m_where->setCurrentIndex(m_where->findData(int(rule.where)));
    followPoint();
    m_what->setCurrentIndex(m_what->findData(int(rule.what)));
    if (rule.what == Effect::Reply)
        m_code->setValue(rule.code);
    m_text->setText(rule.text);
    if (takesDelay(rule.what))
        m_delay->setValue(secondsOf(rule.delay));
    if (rule.what == Effect::RateLimit) {
        m_count->setValue(rule.count);
        m_window->setValue(secondsOf(rule.window));
    }
    m_often->setCurrentIndex(rule.oneIn > 1 ? OneIn : rule.times == 0 ? EveryTime : NextOnes);
    if (rule.times > 0)
        m_times->setValue(rule.times);
    if (rule.oneIn > 1) {
        m_oneIn->setValue(rule.oneIn);
        m_seed->setValue(int(rule.seed));
    }
    m_event->setText(rule.event);
    m_recipient->setText(rule.recipient);
    m_type->setText(rule.type);
    m_lasts->setValue(secondsOf(rule.lasts));
    followEffect();
    followOften();
}

void FaultForm::setOffered(bool offered)
{
    m_offered = offered;
    check();
}

void FaultForm::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        arm();
    else
        QWidget::keyPressEvent(event);
}

void FaultForm::fillPoints()
{
    auto *model = new QStandardItemModel(m_where);
    std::optional<FaultPlace> place;
    for (int i = 0; i < FaultPointCount; ++i) {
        const auto point = FaultPoint(i);
        if (place != faultPlaceOf(point)) {
            place = faultPlaceOf(point);
            auto *heading = new QStandardItem(faultPlaceTitle(*place));
            heading->setFlags(Qt::NoItemFlags); // said, not chosen
            heading->setFont(headingFont());
            model->appendRow(heading);
        }
        auto *item = new QStandardItem(u"%1 · %2"_s.arg(faultPlaceTitle(*place), faultPointTitle(point)));
        item->setData(i, Qt::UserRole);
        item->setToolTip(toolTipText(faultPointText(point)));
        model->appendRow(item);
    }
    m_where->setModel(model);
}

void FaultForm::followPoint()
{
    m_whereText->setPlain(faultPointText(point()));
    const Effect before = effect();
    const QSignalBlocker quiet(m_what);
    m_what->clear();
    for (const Effect each : faultEffectsAt(point()))
        m_what->addItem(faultEffectTitle(each), int(each));
    m_what->setCurrentIndex(std::max(0, m_what->findData(int(before))));
    if ((point() == FaultPoint::MailNext) != (m_code->value() == ClosingCode))
        m_code->setValue(point() == FaultPoint::MailNext ? ClosingCode : AnyCode);
    followEffect();
}

void FaultForm::followEffect()
{
    const Effect what = effect();
    m_whatText->setPlain(faultEffectText(what));
    m_form->setRowVisible(m_code, what == Effect::Reply);
    m_form->setRowVisible(m_text, what == Effect::Reply);
    m_form->setRowVisible(m_delay, takesDelay(what));
    m_form->setRowVisible(m_rate, what == Effect::RateLimit);
    m_delay->setSpecialValueText(what == Effect::Hang ? tr("until it is stopped") : QString());
    check();
}

void FaultForm::followOften()
{
    const int often = m_often->currentIndex();
    m_times->setVisible(often == NextOnes);
    m_oneIn->setVisible(often == OneIn);
    m_whom->setRowVisible(m_seed, often == OneIn);
    check();
}

void FaultForm::check()
{
    const auto checked = rule();
    m_problem->setPlain(checked ? QString() : checked.error().text);
    m_arm->setEnabled(m_offered && checked);
}

void FaultForm::arm()
{
    if (!m_arm->isEnabled())
        return;
    if (const auto checked = rule())
        Q_EMIT armWanted(checked.value());
}

QJsonObject FaultForm::typed() const
{
    QJsonObject object{{u"where"_s, faultPointName(point())}, {u"what"_s, faultEffectName(effect())}};
    const auto putText = [&object](const QString &member, const QLineEdit *field) {
        if (!field->text().isEmpty())
            object.insert(member, field->text());
    };
    if (effect() == Effect::Reply) {
        object.insert(u"code"_s, m_code->value());
        putText(u"text"_s, m_text);
    }
    if (takesDelay(effect()))
        object.insert(u"delayMs"_s, msecOf(m_delay));
    if (effect() == Effect::RateLimit) {
        object.insert(u"count"_s, m_count->value());
        object.insert(u"windowMs"_s, msecOf(m_window));
    }
    object.insert(u"times"_s, m_often->currentIndex() == NextOnes ? m_times->value() : 0);
    if (m_often->currentIndex() == OneIn) {
        object.insert(u"oneIn"_s, m_oneIn->value());
        object.insert(u"seed"_s, m_seed->value());
    }
    putText(u"event"_s, m_event);
    putText(u"recipient"_s, m_recipient);
    putText(u"type"_s, m_type);
    if (m_lasts->value() > 0)
        object.insert(u"lastsMs"_s, msecOf(m_lasts));
    return object;
}

FaultPoint FaultForm::point() const
{
    return FaultPoint(m_where->currentData().toInt());
}

FaultEffect FaultForm::effect() const
{
    return FaultEffect(m_what->currentData().toInt());
}

} // namespace sendonce
