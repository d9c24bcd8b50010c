"""The library, loaded without a driver manager, used, unloaded and loaded again, also by several threads."""

import _ctypes
import ctypes
import sys
import threading

ENV, DBC, STMT = 1, 2, 3
NTS = -3
LIBRARY, STRING = sys.argv[1:3]


def opened():
    library = ctypes.CDLL(LIBRARY)
    pointer = ctypes.c_void_p
    library.SQLAllocHandle.argtypes = [ctypes.c_short, pointer, ctypes.POINTER(pointer)]
    library.SQLFreeHandle.argtypes = [ctypes.c_short, pointer]
    library.SQLSetEnvAttr.argtypes = [pointer, ctypes.c_int, pointer, ctypes.c_int]
    library.SQLSetStmtAttr.argtypes = [pointer, ctypes.c_int, pointer, ctypes.c_int]
    short, text = ctypes.c_short, ctypes.c_char_p
    library.SQLDriverConnect.argtypes = [pointer, pointer, text, short, text, short, pointer, ctypes.c_ushort]
    library.SQLDisconnect.argtypes = [pointer]
    library.SQLExecDirect.argtypes = [pointer, text, ctypes.c_int]
    library.SQLFetch.argtypes = [pointer]
    library.SQLGetData.argtypes = [pointer, ctypes.c_ushort, short, pointer, ctypes.c_ssize_t, pointer]
    for name in dir(library):
        if name.startswith("SQL"):
            getattr(library, name).restype = short
    return library


def allocated(library, kind, parent):
    handle = ctypes.c_void_p()
    assert library.SQLAllocHandle(kind, parent, ctypes.byref(handle)) == 0
    return handle


def use(library):
    environment = allocated(library, ENV, None)
    assert library.SQLSetEnvAttr(environment, 200, 3, 0) == 0
    connection = allocated(library, DBC, environment)
    assert library.SQLDriverConnect(connection, None, STRING.encode(), NTS, None, 0, None, 0) in (0, 1)
    statement = allocated(library, STMT, connection)
    # A time limit has a thread of the library watch the time.
    assert library.SQLSetStmtAttr(statement, 0, 30, 0) == 0
    assert library.SQLExecDirect(statement, b"SELECT 42 FROM RDB$DATABASE", NTS) == 0
    assert library.SQLFetch(statement) == 0
    value = ctypes.c_int()
    assert library.SQLGetData(statement, 1, 4, ctypes.byref(value), 0, None) == 0
    assert value.value == 42
    for kind, handle in (STMT, statement), (DBC, connection), (ENV, environment):
        if kind == DBC:
            assert library.SQLDisconnect(handle) == 0
        assert library.SQLFreeHandle(kind, handle) == 0


for _ in range(10):
    library = opened()
    use(library)
    threads = [threading.Thread(target=use, args=(library,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _ctypes.dlclose(library._handle)
print("ok")
