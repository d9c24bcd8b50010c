# RODBC: narrow functions, columns bound by row arrays.

library(RODBC)

equal <- function(found, expected, what) {
    if (!isTRUE(all.equal(found, expected, tolerance = 0))) {
        stop(what, ": ", paste(found, collapse = " "), " found, ", paste(expected, collapse = " "), " expected")
    }
}

db <- odbcConnect("fb")
equal(unname(odbcGetInfo(db)["DBMS_Name"]), "Firebird", "name")
rows <- sqlQuery(db, "SELECT ID, I16, I32, F64, N18, V, B, DT, TS FROM KINDS WHERE ID IN (1, 4, 5) ORDER BY ID",
    stringsAsFactors = FALSE)
equal(rows$ID, c(1L, 4L, 5L), "ID")
equal(rows$I32, c(-70000L, NA, 0L), "I32")
equal(rows$F64, c(3.141592653589793, NA, 0), "F64")
equal(rows$N18, c(-1234.5678, NA, 0), "N18")
equal(rows$V, c("Zoë €😀", NA, ""), "V")
equal(as.character(rows$DT), c("2024-02-29", NA, "2000-01-01"), "DT")
equal(format(rows$TS[1], "%Y-%m-%d %H:%M:%OS4"), "2024-02-29 01:02:03.4567", "TS")
exact <- sqlQuery(db, "SELECT I64, N18 FROM KINDS WHERE ID = 2", as.is = TRUE)
equal(exact$I64, "9223372036854775807", "I64")
equal(exact$N18, "922337203685477.5807", "N18")

many <- sqlQuery(db, "WITH RECURSIVE N AS (SELECT 0 I FROM RDB$DATABASE UNION ALL SELECT I + 1 FROM N WHERE I < 99)
    SELECT CAST(A.I * 100 + B.I AS INTEGER) AS V FROM N A, N B ORDER BY 1", rows_at_time = 1000)
equal(many$V, 0:9999, "many rows")

frame <- data.frame(N = c(1, 2, 3), V = c("aé", "b", "c"), stringsAsFactors = FALSE)
equal(sqlSave(db, frame, "FRAME", rownames = FALSE, varTypes = c(V = "varchar(20) character set utf8")), 1L, "saved")
equal(sqlFetch(db, "FRAME", stringsAsFactors = FALSE)$V, frame$V, "fetched")
equal("KINDS" %in% sqlTables(db, tableType = "TABLE")$TABLE_NAME, TRUE, "tables")
equal(sqlColumns(db, "PARENT")$COLUMN_NAME, c("ID", "NAME"), "columns")
equal(as.character(sqlPrimaryKeys(db, "PARENT")$COLUMN_NAME), "ID", "key")

failed <- sqlQuery(db, "SELECT * FROM NOWHERE")
equal(any(grepl("42S02", failed)), TRUE, "error")

odbcSetAutoCommit(db, FALSE)
sqlQuery(db, "INSERT INTO PARENT VALUES (1, 'lost')")
odbcEndTran(db, FALSE)
odbcSetAutoCommit(db, TRUE)
equal(sqlQuery(db, "SELECT COUNT(*) AS C FROM PARENT")$C, 0, "rolled back")
odbcClose(db)
cat("ok\n")
