# What every target shares: the language level, Qt's strict defines, the warnings. Targets only, no directory-wide flags.

set(CMAKE_AUTOMOC ON)
set(CMAKE_AUTORCC ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Debug)
endif()
if(NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()

add_library(sendonce_options INTERFACE)
target_compile_features(sendonce_options INTERFACE cxx_std_20)
# Includes are written from the root of the tree ("worker/types.h"), so that a line shows which floor it reaches.
target_include_directories(sendonce_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(sendonce_options INTERFACE
    QT_NO_KEYWORDS QT_NO_CAST_FROM_ASCII QT_NO_CAST_TO_ASCII QT_NO_URL_CAST_FROM_STRING
    QT_NO_CAST_FROM_BYTEARRAY QT_NO_FOREACH
    QT_DISABLE_DEPRECATED_BEFORE=0x060400
    SENDONCE_VERSION="${PROJECT_VERSION}")
target_compile_options(sendonce_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wformat=2
    -Wimplicit-fallthrough -Wsuggest-override
    $<$<BOOL:${SENDONCE_WERROR}>:-Werror>)
if(SENDONCE_SANITIZE)
    target_compile_options(sendonce_options INTERFACE
        -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    target_link_options(sendonce_options INTERFACE -fsanitize=address,undefined)
endif()

# One precompiled header for everything: what nearly every file includes anyway. It halves a build, and is no licence to
# leave an include out: a file still names what it uses.
function(sendonce_precompile)
    add_library(sendonce_precompiled OBJECT ${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp)
    target_link_libraries(sendonce_precompiled PRIVATE sendonce_options Qt6::Core)
    target_precompile_headers(sendonce_precompiled PRIVATE
        <QByteArray> <QDateTime> <QDir> <QFile> <QHash> <QJsonArray> <QJsonDocument> <QJsonObject> <QList> <QMap> <QObject>
        <QRegularExpression> <QSet> <QString> <QStringList> <QTimer> <QUrl> <QVariant>
        <algorithm> <chrono> <functional> <memory> <optional> <variant>)
endfunction()

# sendonce_library(NAME SOURCES a.cpp … [PUBLIC lib …] [PRIVATE lib …]): one folder, one static library.
function(sendonce_library name)
    cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
    add_library(${name} STATIC ${arg_SOURCES})
    target_link_libraries(${name} PUBLIC sendonce_options ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
    target_precompile_headers(${name} REUSE_FROM sendonce_precompiled)
endfunction()
