//! What `SQLGetFunctions` returns.

use crate::abi::function;

/// The functions that the driver exports.
const EXPORTED: [u16; 75] = [
    function::ALLOCCONNECT,
    function::ALLOCENV,
    function::ALLOCSTMT,
    function::BINDCOL,
    function::CANCEL,
    function::COLATTRIBUTE,
    function::CONNECT,
    function::DESCRIBECOL,
    function::DISCONNECT,
    function::ERROR,
    function::EXECDIRECT,
    function::EXECUTE,
    function::FETCH,
    function::FREECONNECT,
    function::FREEENV,
    function::FREESTMT,
    function::GETCURSORNAME,
    function::NUMRESULTCOLS,
    function::PREPARE,
    function::ROWCOUNT,
    function::SETCURSORNAME,
    function::SETPARAM,
    function::TRANSACT,
    function::BULKOPERATIONS,
    function::COLUMNS,
    function::DRIVERCONNECT,
    function::GETCONNECTOPTION,
    function::GETDATA,
    function::GETFUNCTIONS,
    function::GETINFO,
    function::GETSTMTOPTION,
    function::GETTYPEINFO,
    function::PARAMDATA,
    function::PUTDATA,
    function::SETCONNECTOPTION,
    function::SETSTMTOPTION,
    function::SPECIALCOLUMNS,
    function::STATISTICS,
    function::TABLES,
    function::BROWSECONNECT,
    function::COLUMNPRIVILEGES,
    function::DESCRIBEPARAM,
    function::EXTENDEDFETCH,
    function::FOREIGNKEYS,
    function::MORERESULTS,
    function::NATIVESQL,
    function::NUMPARAMS,
    function::PARAMOPTIONS,
    function::PRIMARYKEYS,
    function::PROCEDURECOLUMNS,
    function::PROCEDURES,
    function::SETPOS,
    function::SETSCROLLOPTIONS,
    function::TABLEPRIVILEGES,
    function::BINDPARAMETER,
    function::ALLOCHANDLE,
    function::BINDPARAM,
    function::CLOSECURSOR,
    function::COPYDESC,
    function::ENDTRAN,
    function::FREEHANDLE,
    function::GETCONNECTATTR,
    function::GETDESCFIELD,
    function::GETDESCREC,
    function::GETDIAGFIELD,
    function::GETDIAGREC,
    function::GETENVATTR,
    function::GETSTMTATTR,
    function::SETCONNECTATTR,
    function::SETDESCFIELD,
    function::SETDESCREC,
    function::SETENVATTR,
    function::SETSTMTATTR,
    function::FETCHSCROLL,
    function::CANCELHANDLE,
];

/// Functions of the standard that are the driver manager's, or not there.
const OTHERS: [u16; 4] =
    [function::DATASOURCES, function::DRIVERS, function::ALLOCHANDLESTD, function::COMPLETEASYNC];

/// An answer, in the form that the question asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Functions {
    /// A word for each of the first 100 numbers, 1 or 0.
    Former(Vec<u16>),
    /// A bit for each number, in 250 words.
    All(Vec<u16>),
    One(bool),
}

/// Returns which functions there are: all, or the one with this number. `None` if the number is out of range (`HY095`).
pub(crate) fn answer(id: u16) -> Option<Functions> {
    Some(match id {
        function::ALL => {
            let mut words = vec![0; 100];
            for id in EXPORTED {
                if let Some(word) = words.get_mut(usize::from(id)) {
                    *word = 1;
                }
            }
            Functions::Former(words)
        }
        function::ODBC3_ALL => {
            let mut words = vec![0; 250];
            for id in EXPORTED {
                words[usize::from(id >> 4)] |= 1 << (id & 0xF);
            }
            Functions::All(words)
        }
        id if EXPORTED.contains(&id) => Functions::One(true),
        id if OTHERS.contains(&id) => Functions::One(false),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bitmap_agrees_with_single_answers() {
        let Some(Functions::All(bits)) = answer(function::ODBC3_ALL) else { panic!("a bitmap") };
        let Some(Functions::Former(words)) = answer(function::ALL) else { panic!("words") };
        for id in (1..4000).filter(|id| *id != function::ODBC3_ALL) {
            let single = answer(id) == Some(Functions::One(true));
            assert_eq!(bits[usize::from(id >> 4)] >> (id & 15) & 1 == 1, single, "{id}");
            if let Some(word) = words.get(usize::from(id)) {
                assert_eq!(*word == 1, single, "{id}");
            }
        }
        assert_eq!(words[0], 0);
        assert_eq!(bits.iter().map(|word| word.count_ones()).sum::<u32>(), 75);
        assert_eq!(answer(function::CANCELHANDLE), Some(Functions::One(true)));
        assert_eq!(answer(function::DRIVERS), Some(Functions::One(false)));
        for nonsense in [25, 39, 74, 199, 1000, 1013, 1015, 1024, u16::MAX] {
            assert_eq!(answer(nonsense), None, "{nonsense}");
        }
    }
}
