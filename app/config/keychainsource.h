#pragma once

#include "worker/mail/mailpassword.h"

#include <QUrl>

namespace sendonce {

/// "user@host": the key of a mail server's password in the keychain, whose service is "sendonce".
QString mailAccount(const QUrl &mailUrl);

/// The keychain, asked by a process of its own, `sendoncectl mail password --print` beside this program: a keychain
/// wants the main thread and GLib's event loop, and may wait for a person, or for ever.
MailPassword::Source keychainSource(const QUrl &mailUrl);

} // namespace sendonce
