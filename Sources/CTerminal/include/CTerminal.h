#ifndef PEERCONNECT_CTERMINAL_H
#define PEERCONNECT_CTERMINAL_H

#include <stdbool.h>

// Raw mode with its way back. One terminal at a time, since signal handlers belong to the whole process; they are in C
// because only async-signal-safe calls (signal-safety(7)) may be made in them.

enum {
    /// The window has another size.
    PCT_RESIZED = 1,
    /// The process was continued after a stop; raw mode is on again if it is in the foreground.
    PCT_CONTINUED = 2,
};

/// Saves the terminal's modes, enters raw mode and installs the handlers; 0, or the error number.
int pct_begin(int input, int output);
/// Restores the modes and the handlers that were there before.
void pct_end(void);
/// Restores the modes at once; async-signal-safe, and harmless when nothing is to be restored.
void pct_restore(void);
/// Whether raw mode is on.
bool pct_is_raw(void);
/// Whether a read would take from the terminal and not from who is in its foreground.
bool pct_is_foreground(void);
/// Enters raw mode again when a stop has ended it and the process is in the foreground: shells send no signal to a job
/// that runs in the background when they take it to the foreground.
void pct_return(void);
/// How many rows stand below the cursor, so that a way out in a hurry does not end in the middle of them; -1 for
/// nothing.
void pct_set_rows_below(int rows);
/// A descriptor that becomes readable with news or by `pct_wake`; never closed, so that no handler can hit another
/// file.
int pct_wake_descriptor(void);
void pct_wake(void);
/// Makes the wake descriptor unreadable and gives the news since the last time.
unsigned pct_take_news(void);
/// Columns and rows; false when they cannot be told.
bool pct_size(int descriptor, int *columns, int *rows);

#endif
