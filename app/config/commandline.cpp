#include "app/config/commandline.h"

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr int Columns = 80;

/// "  --flag VALUE   help …", the help wrapped to 80 columns.
QString optionHelp(const QString &flag, const QString &value, const QString &help)
{
    constexpr int Indent = 26;
    QString head = u"  --"_s + flag + (value.isEmpty() ? QString() : u' ' + value);
    QString text = head.size() < Indent - 1 ? head.leftJustified(Indent) : head + u'\n' + QString(Indent, u' ');
    int column = Indent;
    for (const QString &word : help.split(u' ')) {
        if (column + word.size() > Columns) {
            text += u'\n' + QString(Indent, u' ');
            column = Indent;
        }
        text += word + u' ';
        column += int(word.size()) + 1;
    }
    return text.trimmed().isEmpty() ? QString() : u"  "_s + text.mid(2).trimmed().replace(u" \n"_s, u"\n"_s) + u'\n';
}

} // namespace

CommandLine::CommandLine(QString name, QString summary, QStringList settings, QList<CommandOption> options,
                         QStringList examples)
    : m_name(std::move(name))
    , m_summary(std::move(summary))
    , m_settings(std::move(settings))
    , m_options(std::move(options))
    , m_examples(std::move(examples))
{
    m_options.append({u"help"_s, {}, {}, u"this text"_s});
}

Result<void> CommandLine::parse(const QStringList &words)
{
    const auto invalid = [this](const QString &text) {
        return Error{ErrorKind::Invalid, u"%1; see %2 --help"_s.arg(text, m_name), {}};
    };
    for (qsizetype i = 0; i < words.size(); ++i) {
        QString word = words[i];
        if (word == "-h"_L1)
            word = u"--help"_s;
        if (!word.startsWith("--"_L1) && !m_namesPlaceholder.isEmpty()) {
            m_names.append(word);
            continue;
        }
        if (!word.startsWith("--"_L1))
            return invalid(u"“%1” is not expected here"_s.arg(word));
        const qsizetype equals = word.indexOf(u'=');
        const QString flag = word.mid(2, equals < 0 ? -1 : equals - 2);
        QString placeholder;
        const auto option =
            std::find_if(m_options.cbegin(), m_options.cend(), [&flag](const auto &each) { return each.flag == flag; });
        const auto setting = std::find_if(allSettings().cbegin(), allSettings().cend(),
                                          [&flag](const auto &each) { return each.flag == flag; });
        if (option != m_options.cend())
            placeholder = option->value;
        else if (m_settings.contains(flag) && setting != allSettings().cend())
            placeholder = setting->value;
        else
            return invalid(u"--%1 is not an option of it"_s.arg(flag));
        QString value;
        if (placeholder.isEmpty()) {
            if (equals >= 0)
                return invalid(u"--%1 takes no value"_s.arg(flag));
        } else if (equals >= 0) {
            value = word.mid(equals + 1);
        } else if (i + 1 < words.size()) {
            value = words[++i];
        } else {
            return invalid(u"--%1 needs a value (%2)"_s.arg(flag, placeholder));
        }
        m_values.insert(flag, value);
        m_all[flag].append(value);
    }
    return {};
}

QString CommandLine::help() const
{
    const QString names = m_namesPlaceholder.isEmpty() ? QString() : u' ' + m_namesPlaceholder;
    QString text = u"%1: %2\n\nOptions\n"_s.arg(m_name + names, m_summary);
    for (const CommandOption &option : m_options)
        text +=
            optionHelp(option.flag, option.value,
                       option.help + (option.fallback.isEmpty() ? QString() : u" (default %1)"_s.arg(option.fallback)));
    if (!m_settings.isEmpty())
        text += u"\nSettings (a flag beats the environment, which beats the default)\n"_s;
    for (const Setting &setting : allSettings()) {
        if (!m_settings.contains(setting.flag))
            continue;
        const QString fallback = setting.fallback.isEmpty() ? QString() : u"; default: "_s + setting.fallback;
        text += optionHelp(setting.flag, setting.value,
                           u"%1 [%2]%3"_s.arg(setting.help, setting.environment.join(u", "_s), fallback));
    }
    if (!m_examples.isEmpty())
        text += u"\nExamples\n  "_s + m_examples.join(u"\n  "_s) + u'\n';
    return text;
}

QMap<QString, QString> CommandLine::settingFlags() const
{
    QMap<QString, QString> flags;
    for (const QString &flag : m_settings) {
        if (m_values.contains(flag))
            flags.insert(flag, m_values.value(flag));
    }
    return flags;
}

} // namespace sendonce
