#!/bin/sh
# Runs a Windows program under Wine, in the folder that WINEPREFIX names. A test binary that hangs fails after half an hour.
# Wine takes the code page from the locale: for Hindi it is UTF-8, which the tests' narrow text is in. FIREARROW_WINE_LOCALE names another.
export LC_ALL=${FIREARROW_WINE_LOCALE:-hi_IN.UTF-8}
WINEDEBUG=-all exec timeout --foreground 1800 wine "$@"
