#pragma once

#include "worker/result.h"

namespace sendonce {

/// First thing in main(): files of ours are for us alone (umask 077), and memory with secrets in it is not dumped.
void keepPrivate();

/// Makes the data folder (0700) if it is missing; refuses one that is not ours, is open to others for writing, is a
/// link or no folder. Returns the absolute path. Error: Refused or Io, one line that names the folder and the remedy.
Result<QString> prepareDataDir(const QString &path);

} // namespace sendonce
