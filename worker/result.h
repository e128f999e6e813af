#pragma once

#include <QString>

#include <utility>
#include <variant>

namespace sendonce {

/// What kind of thing went wrong; each value says what the caller does next.
enum class ErrorKind {
    Invalid, ///< the input or a setting is wrong: trying again unchanged is useless
    NotFound, ///< the thing named does not exist
    Refused, ///< the other side understood and said no (permission, state, policy)
    Throttled, ///< the other side is busy: the same later, more slowly
    Busy, ///< held by somebody else just now (a lock, a claim in work): given back, no failure
    Unreachable, ///< no connection, or no answer in time: retry with back-off
    Protocol, ///< an answer came that is not of the protocol
    Io, ///< a file or a database failed
    Aborted, ///< we were told to stop
};

/// An error as a value: a kind for the program, the other side's own code if it gave one, a line of text for people.
/// The text never holds a secret.
struct Error
{
    ErrorKind kind = ErrorKind::Io;
    QString text;
    QString code;

    bool operator==(const Error &) const = default;
};

/// Either a value or an Error. No exceptions cross a signal (style.md, habit 12).
template <typename T>
class [[nodiscard]] Result
{
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) { }
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) { }

    bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }
    const T &value() const & { return std::get<0>(m_state); }
    T &value() & { return std::get<0>(m_state); }
    T take() { return std::move(std::get<0>(m_state)); }
    const T *operator->() const { return &std::get<0>(m_state); }
    T *operator->() { return &std::get<0>(m_state); }
    const Error &error() const { return std::get<1>(m_state); }

private:
    std::variant<T, Error> m_state;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void>
{
public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)), m_ok(false) { }

    bool ok() const { return m_ok; }
    explicit operator bool() const { return m_ok; }
    const Error &error() const { return m_error; }

private:
    Error m_error;
    bool m_ok = true;
};

} // namespace sendonce
