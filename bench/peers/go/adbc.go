package main

import (
	"context"
	"fmt"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-adbc/go/adbc/drivermgr"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// driverManager is any ADBC driver, by arrow-adbc's driver manager.
type driverManager struct {
	job        Job
	database   adbc.Database
	connection adbc.Connection
	statement  adbc.Statement
	reader     array.RecordReader
}

func newDriverManager(job Job) (Contestant, string, error) {
	options := map[string]string{"driver": job.Library}
	for key, value := range job.ADBC {
		options[key] = value
	}
	if job.Entrypoint != "" {
		options["entrypoint"] = job.Entrypoint
	}
	var driver drivermgr.Driver
	database, err := driver.NewDatabase(options)
	if err != nil {
		return nil, "", err
	}
	return &driverManager{job: job, database: database}, "drivermgr " + version("github.com/apache/arrow-adbc/go/adbc"), nil
}

func (c *driverManager) Connect() (err error) {
	c.connection, err = c.database.Open(context.Background())
	return err
}

func (c *driverManager) Execute() (err error) {
	if c.statement, err = c.connection.NewStatement(); err != nil {
		return err
	}
	if err = c.statement.SetSqlQuery(c.job.SQL); err != nil {
		return err
	}
	c.reader, _, err = c.statement.ExecuteQuery(context.Background())
	return err
}

func (c *driverManager) Drain(sums []uint64) (count int64, err error) {
	for c.reader.Next() {
		batch := c.reader.RecordBatch()
		if int(batch.NumCols()) != len(sums) {
			return count, fmt.Errorf("%d columns, not %d", batch.NumCols(), len(sums))
		}
		for at, column := range c.job.Columns {
			sum, err := ofColumn(batch.Column(at), column)
			if err != nil {
				return count, err
			}
			sums[at] += sum
		}
		count += batch.NumRows()
	}
	return count, c.reader.Err()
}

func (c *driverManager) Release() error {
	c.reader.Release()
	if err := c.statement.Close(); err != nil {
		return err
	}
	return c.connection.Close()
}

// ofColumn returns the sum of the hashes of a column's values.
func ofColumn(values arrow.Array, column Column) (uint64, error) {
	switch values := values.(type) {
	case *array.Int16:
		return sumOf(values, func(at int) uint64 { return integer(int64(values.Value(at))) }), nil
	case *array.Int32:
		return sumOf(values, func(at int) uint64 { return integer(int64(values.Value(at))) }), nil
	case *array.Int64:
		return sumOf(values, func(at int) uint64 { return integer(values.Value(at)) }), nil
	case *array.Float32:
		return sumOf(values, func(at int) uint64 { return float(float64(values.Value(at))) }), nil
	case *array.Float64:
		return sumOf(values, func(at int) uint64 { return float(values.Value(at)) }), nil
	case *array.Boolean:
		return sumOf(values, func(at int) uint64 { return boolean(values.Value(at)) }), nil
	case *array.Decimal128:
		return sumOf(values, func(at int) uint64 {
			value := values.Value(at)
			return number(value.LowBits(), uint64(value.HighBits()), column.Scale)
		}), nil
	case *array.Timestamp:
		if unit := values.DataType().(*arrow.TimestampType).Unit; unit != arrow.Microsecond {
			return 0, fmt.Errorf("column %s counts %s, which are not hashed here", column.Name, unit)
		}
		return sumOf(values, func(at int) uint64 { return timestamp(int64(values.Value(at))) }), nil
	case *array.Date32:
		return sumOf(values, func(at int) uint64 { return date(int64(values.Value(at))) }), nil
	case *array.String:
		return sumOf(values, func(at int) uint64 { return text([]byte(values.Value(at))) }), nil
	case *array.LargeString:
		return sumOf(values, func(at int) uint64 { return text([]byte(values.Value(at))) }), nil
	case *array.Binary:
		return sumOf(values, func(at int) uint64 { return words(values.Value(at), 9) }), nil
	}
	return 0, fmt.Errorf("column %s is %s, which is not hashed here", column.Name, values.DataType())
}

func sumOf(values arrow.Array, hash func(at int) uint64) (sum uint64) {
	for at := range values.Len() {
		if values.IsNull(at) {
			sum += null
		} else {
			sum += hash(at)
		}
	}
	return sum
}
