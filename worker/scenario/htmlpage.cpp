#include "worker/scenario/htmlpage.h"

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr auto Style = R"(
:root { color-scheme: light dark; --back: #f4f5f7; --panel: #ffffff; --line: #d9dde3; --text: #1d2430; --muted: #5b6472;
  --good: #1a7a42; --bad: #b3261e; --other: #8a5300; }
@media (prefers-color-scheme: dark) {
  :root { --back: #1b1e24; --panel: #23272f; --line: #363c47; --text: #e6e9ef; --muted: #a3adbb; --good: #4cc27e;
    --bad: #f0776c; --other: #f0b04e; }
}
body { margin: 0 auto; padding: 24px; max-width: 1100px; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 22px; } h2 { font-size: 17px; margin: 0; } h3 { font-size: 14px; margin: 16px 0 4px; }
section { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 16px; margin: 16px 0; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
pre { overflow-x: auto; margin: 0; font: 12px/1.5 ui-monospace, monospace; white-space: pre-wrap; }
.muted { color: var(--muted); } .good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
.other { color: var(--other); }
.wide { overflow-x: auto; } .wide th[scope=col] { writing-mode: vertical-rl; transform: rotate(180deg); padding: 8px 4px;
  font-weight: 500; text-align: left; vertical-align: bottom; } .wide td, .wide th[scope=row] { padding: 6px 8px; }
body:has(.wide) { max-width: none; }
@media print { section { break-inside: avoid; } body { max-width: none; } }
)"_L1;

} // namespace

QString inXml(const QString &text)
{
    QString clean;
    clean.reserve(text.size());
    for (const uint c : text.toUcs4()) {
        const bool isChar = c == '\t' || c == '\n' || (c >= 0x20 && c < 0xd800) || (c >= 0xe000 && c < 0xfffe)
            || (c >= 0x10000 && c <= 0x10ffff);
        clean += isChar ? QString::fromUcs4(reinterpret_cast<const char32_t *>(&c), 1)
                        : u"\\u%1"_s.arg(c, 4, 16, QChar(u'0'));
    }
    return clean;
}

QString escaped(const QString &text)
{
    return inXml(text).toHtmlEscaped(); // the same characters cannot be written
}

QByteArray htmlPageOf(const QString &title, const QString &body)
{
    const QString html = u"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                         "style-src 'unsafe-inline'\">\n<title>"_s
        + escaped(title) + u"</title>\n<style>"_s + Style + u"</style>\n</head>\n<body>\n<h1>"_s + escaped(title)
        + u"</h1>\n"_s + body + u"</body>\n</html>\n"_s;
    return html.toUtf8();
}

} // namespace sendonce
