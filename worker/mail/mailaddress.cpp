#include "worker/mail/headertext.h"
#include "worker/mail/mimemessage.h"

#include <QHostAddress>
#include <QStringList>
#include <QUrl>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

// RFC 5321, 4.5.3.1, in octets; a path has 256 with its brackets.
constexpr qsizetype MaxLocalPart = 64;
constexpr qsizetype MaxDomain = 255;
constexpr qsizetype MaxAddress = 254;
constexpr qsizetype MaxLabel = 63;

bool isLetterOrDigit(QChar c)
{
    return (c >= u'0' && c <= u'9') || (c >= u'A' && c <= u'Z') || (c >= u'a' && c <= u'z');
}

bool isAtomText(QChar c)
{
    return isLetterOrDigit(c) || QStringView(u"!#$%&'*+-/=?^_`{|}~").contains(c);
}

bool isAscii(QStringView text)
{
    return std::all_of(text.cbegin(), text.cend(), [](QChar c) { return c.unicode() < 0x80; });
}

/// Characters beyond ASCII (RFC 6531) that are visible and no blank.
bool isUnicodeText(QStringView text, qsizetype *position)
{
    const qsizetype i = *position;
    if (text[i].unicode() < 0x80)
        return false;
    uint point = text[i].unicode();
    if (text[i].isHighSurrogate() && i + 1 < text.size() && text[i + 1].isLowSurrogate()) {
        point = QChar::surrogateToUcs4(text[i], text[i + 1]);
        ++*position;
    }
    return QChar::isPrint(point) && !QChar::isSpace(point);
}

/// Where the @ in front of the domain is; -1: nowhere. A quoted local part may hold others.
qsizetype separator(const QString &address)
{
    return address.lastIndexOf(u'@');
}

QString notAllowed(QChar c, const QString &where)
{
    const QString code = QString::number(c.unicode(), 16).toUpper().rightJustified(4, u'0');
    const QString shown = c.isPrint() && !c.isSpace() ? u"“%1”"_s.arg(c) : u"U+"_s + code;
    return u"the character %1 is not allowed %2 the @"_s.arg(shown, where);
}

QString quotedLocalError(QStringView local)
{
    if (local.size() < 2 || !local.endsWith(u'"'))
        return u"the quotes before the @ do not close"_s;
    for (qsizetype i = 1; i < local.size() - 1; ++i) {
        const bool escaped = local[i] == u'\\';
        if (local[i] == u'"' || (escaped && ++i == local.size() - 1))
            return u"the quotes before the @ do not close"_s;
        const bool ascii = local[i] >= u' ' && local[i] <= u'~';
        if (!ascii && (escaped || !isUnicodeText(local, &i))) // a backslash is for ASCII (RFC 5321, 4.1.2)
            return notAllowed(local[i], u"before"_s);
    }
    return {};
}

QString localError(QStringView local)
{
    if (local.isEmpty())
        return u"nothing stands before the @"_s;
    if (local.toUtf8().size() > MaxLocalPart)
        return u"more than %1 octets stand before the @"_s.arg(MaxLocalPart);
    if (local.startsWith(u'"'))
        return quotedLocalError(local);
    if (local.startsWith(u'.') || local.endsWith(u'.') || local.contains(".."_L1))
        return u"a dot before the @ stands at an end or beside another"_s;
    for (qsizetype i = 0; i < local.size(); ++i) {
        if (local[i] != u'.' && !isAtomText(local[i]) && !isUnicodeText(local, &i))
            return notAllowed(local[i], u"before"_s);
    }
    return {};
}

/// RFC 5321, 4.1.3: [192.0.2.1] and [IPv6:2001:db8::1].
QString literalError(QStringView literal)
{
    QHostAddress parsed;
    const QStringView text = literal.endsWith(u']') ? literal.sliced(1).chopped(1) : QStringView();
    if (text.startsWith("IPv6:"_L1, Qt::CaseInsensitive)) {
        if (!text.contains(u'%') && parsed.setAddress(text.sliced(5).toString())
            && parsed.protocol() == QAbstractSocket::IPv6Protocol)
            return {};
    } else if (text.count(u'.') == 3 && parsed.setAddress(text.toString())
               && parsed.protocol() == QAbstractSocket::IPv4Protocol && parsed.toString() == text) {
        return {};
    }
    return u"the brackets behind the @ hold no IP address"_s;
}

QString domainError(QStringView domain)
{
    if (domain.isEmpty())
        return u"nothing stands behind the @"_s;
    if (domain.startsWith(u'['))
        return literalError(domain);
    QString ascii = domain.toString();
    if (!isAscii(domain)) {
        for (qsizetype i = 0; i < domain.size(); ++i) {
            if (domain[i].unicode() >= 0x80 && !isUnicodeText(domain, &i))
                return notAllowed(domain[i], u"behind"_s);
        }
        ascii = QString::fromLatin1(QUrl::toAce(ascii));
        if (ascii.isEmpty())
            return u"the domain behind the @ is no valid international name"_s;
    }
    if (ascii.size() > MaxDomain)
        return u"more than %1 octets stand behind the @"_s.arg(MaxDomain);
    for (const QStringView label : QStringView(ascii).tokenize(u'.')) {
        if (label.isEmpty())
            return u"a dot behind the @ stands at an end or beside another"_s;
        if (label.size() > MaxLabel)
            return u"a part of the domain has more than %1 characters"_s.arg(MaxLabel);
        if (label.startsWith(u'-') || label.endsWith(u'-'))
            return u"a part of the domain begins or ends with a hyphen"_s;
        if (!std::all_of(label.cbegin(), label.cend(), [](QChar c) { return isLetterOrDigit(c) || c == u'-'; }))
            return u"only letters, digits, hyphens and dots are allowed behind the @"_s;
    }
    return {};
}

QString toWire(const QString &address)
{
    const qsizetype at = separator(address);
    const QString domain = address.sliced(at + 1);
    return isAscii(domain) ? address : address.first(at + 1) + QString::fromLatin1(QUrl::toAce(domain));
}

QString addressError(const QString &address)
{
    if (address.isEmpty())
        return u"it is empty"_s;
    if (const QString refused = refusedInHeader(u"it"_s, address); !refused.isEmpty())
        return refused;
    const qsizetype at = separator(address);
    if (at < 0)
        return u"it has no @"_s;
    QString error = localError(QStringView(address).first(at));
    if (error.isEmpty())
        error = domainError(QStringView(address).sliced(at + 1));
    if (error.isEmpty() && toWire(address).toUtf8().size() > MaxAddress)
        error = u"it has more than %1 octets"_s.arg(MaxAddress);
    return error;
}

/// As an error shows it: control characters would reach logs, and the whole may be a megabyte.
QString shown(const QString &text)
{
    QString cut = text.first(std::min<qsizetype>(text.size(), 80));
    for (QChar &c : cut) {
        if (!c.isPrint() && !c.isSurrogate())
            c = u'\ufffd';
    }
    return cut.size() < text.size() ? cut + u"…"_s : cut;
}

Error noAddress(const QString &text, const QString &why)
{
    return {ErrorKind::Invalid, u"“%1” is no e-mail address: %2"_s.arg(shown(text), why), {}};
}

/// The words in front of <address>: one quoted string, or text without RFC 5322's special characters.
Result<QString> displayName(const QString &text)
{
    if (!text.startsWith(u'"')) {
        for (const QChar c : text) {
            if (QStringView(u"()<>[]:;@\\,\"").contains(c))
                return Error{ErrorKind::Invalid, u"a name with “%1” must stand in quotes"_s.arg(c), {}};
        }
        return text;
    }
    QString name;
    for (qsizetype i = 1; i < text.size(); ++i) {
        if (text[i] == u'"')
            return i == text.size() - 1 ? Result<QString>(name)
                                        : Error{ErrorKind::Invalid, u"something stands behind the quoted name"_s, {}};
        if (text[i] == u'\\' && ++i == text.size())
            break;
        name += text[i];
    }
    return Error{ErrorKind::Invalid, u"the quotes of the name do not close"_s, {}};
}

} // namespace

Result<MailAddress> MailAddress::fromAddress(const QString &address, const QString &name)
{
    if (const QString error = addressError(address); !error.isEmpty())
        return noAddress(address, error);
    if (!refusedInHeader(u"it"_s, name).isEmpty())
        return Error{ErrorKind::Invalid, refusedInHeader(u"the name of %1"_s.arg(address), name), {}};
    return MailAddress{name, address};
}

Result<MailAddress> MailAddress::parse(const QString &text)
{
    if (const QString refused = refusedInHeader(u"it"_s, text); !refused.isEmpty())
        return noAddress(text, refused);
    if (!text.endsWith(u'>'))
        return fromAddress(text);
    // A quoted name may hold a bracket: the address begins at the first one outside quotes.
    bool quoted = false;
    qsizetype open = -1;
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (quoted && text[i] == u'\\')
            ++i;
        else if (text[i] == u'"')
            quoted = !quoted;
        else if (!quoted && text[i] == u'<' && open < 0)
            open = i;
    }
    if (open < 0)
        return noAddress(text, u"a “<” is missing"_s);
    const Result<QString> name = displayName(text.first(open).trimmed());
    if (!name)
        return noAddress(text, name.error().text);
    return fromAddress(text.sliced(open + 1).chopped(1), name.value());
}

QString MailAddress::domain() const
{
    return address.sliced(separator(address) + 1);
}

QString MailAddress::wireAddress() const
{
    return toWire(address);
}

} // namespace sendonce
