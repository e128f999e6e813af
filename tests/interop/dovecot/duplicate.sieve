require "duplicate";

# RFC 7352: by Message-ID, for a day.
if duplicate :seconds 86400 {
    discard;
    stop;
}
