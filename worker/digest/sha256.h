#pragma once

#include <QByteArray>
#include <QByteArrayView>

namespace sendonce {

/// SHA-256 (FIPS 180-4): 32 bytes. From any thread. By libcrypto, which uses the processor's own instructions for it
/// and takes a tenth of the time of QCryptographicHash; each mail is hashed whole before its final dot.
QByteArray sha256(QByteArrayView data);

} // namespace sendonce
