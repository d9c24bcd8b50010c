#!/bin/sh
# Runs a Windows program under Wine, in the folder that WINEPREFIX names. A test binary that hangs fails after half an hour.
WINEDEBUG=-all exec timeout --foreground 1800 wine "$@"
