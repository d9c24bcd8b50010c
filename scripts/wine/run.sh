#!/bin/sh
# Runs a Windows program under Wine, in the folder that WINEPREFIX names. A test binary that hangs fails after half an hour.
# In this locale the code page is UTF-8, which tests write narrow text in.
export LC_ALL=${FIREARROW_WINE_LOCALE:-hi_IN.UTF-8}
WINEDEBUG=-all exec timeout --foreground 1800 wine "$@"
