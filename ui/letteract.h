#pragma once

#include <QMetaType>

namespace sendonce {

/// What a person can do about dead letters. A panel says the act and the letters it is about; DeadLetterActs asks what
/// has to be asked, and has it done.
enum class LetterAct {
    Replay, ///< the letters named, as a set that is frozen at the confirmation
    Canary, ///< the same, one of them first
    EditAndReplay, ///< one letter
    Delete, ///< copies are kept
    Purge, ///< the whole queue, whatever was named; nothing is kept
    Export, ///< those named
    Import, ///< names none
    ForgetClaim, ///< of one letter's event, or of one that is typed
    KeptCopies, ///< names none: copies of deleted letters, to be put back
    MoveAll, ///< the whole queue by a message move task, whatever was named
    Runs, ///< names none: the replays, those that were interrupted too
};

} // namespace sendonce

Q_DECLARE_METATYPE(sendonce::LetterAct)
