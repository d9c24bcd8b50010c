// Wine 8 lacks bcryptprimitives.dll, which Rust's standard library takes random numbers from. Windows has had it since Windows 7.
#include <windows.h>

// RtlGenRandom, by the name that advapi32.dll exports it under.
BOOLEAN WINAPI SystemFunction036(PVOID data, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
    while (length > 0) {
        ULONG part = length < 0x10000000 ? (ULONG)length : 0x10000000;
        if (!SystemFunction036(data, part)) return FALSE;
        data += part;
        length -= part;
    }
    return TRUE;
}
