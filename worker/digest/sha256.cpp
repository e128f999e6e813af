#include "worker/digest/sha256.h"

#include <QCryptographicHash>

#include <openssl/evp.h>

#include <memory>

namespace sendonce {

namespace {

struct Free
{
    void operator()(EVP_MD *algorithm) const { EVP_MD_free(algorithm); }
    void operator()(EVP_MD_CTX *context) const { EVP_MD_CTX_free(context); }
};

} // namespace

QByteArray sha256(QByteArrayView data)
{
    // Looking the algorithm up takes longer than a short hash.
    static const std::unique_ptr<EVP_MD, Free> algorithm(EVP_MD_fetch(nullptr, "SHA256", nullptr));
    thread_local const std::unique_ptr<EVP_MD_CTX, Free> context(EVP_MD_CTX_new());
    QByteArray hash(32, Qt::Uninitialized);
    const bool isDone = algorithm && context && EVP_DigestInit_ex2(context.get(), algorithm.get(), nullptr) == 1
        && EVP_DigestUpdate(context.get(), data.data(), size_t(data.size())) == 1
        && EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char *>(hash.data()), nullptr) == 1;
    // A library that was configured to offer nothing is no reason to send no mail.
    return isDone ? hash : QCryptographicHash::hash(data.toByteArray(), QCryptographicHash::Sha256);
}

} // namespace sendonce
