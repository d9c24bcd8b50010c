package main

import (
	"database/sql"
	"fmt"
	"math"
	"math/big"
	"net"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	_ "github.com/nakagami/firebirdsql"
)

// firebirdSQL is nakagami/firebirdsql, by database/sql.
type firebirdSQL struct {
	job  Job
	name string
	db   *sql.DB
	rows *sql.Rows
}

func newFirebirdSQL(job Job) (Contestant, string, error) {
	if job.Host == "" {
		return nil, "", fmt.Errorf("firebirdsql reads from servers only")
	}
	place := url.URL{
		User: url.UserPassword(job.User, job.Password),
		Host: net.JoinHostPort(job.Host, strconv.Itoa(job.Port)),
		Path: "/" + job.Database,
	}
	options := url.Values{}
	options.Set("charset", "UTF8")
	options.Set("wire_crypt", strconv.FormatBool(job.Encrypted))
	options.Set("wire_compress", strconv.FormatBool(job.Compressed))
	place.RawQuery = options.Encode()
	return &firebirdSQL{job: job, name: place.String()[2:]}, "firebirdsql " + version("github.com/nakagami/firebirdsql"), nil
}

func (c *firebirdSQL) Connect() (err error) {
	if c.db, err = sql.Open("firebirdsql", c.name); err != nil {
		return err
	}
	return c.db.Ping()
}

func (c *firebirdSQL) Execute() (err error) {
	c.rows, err = c.db.Query(c.job.SQL)
	return err
}

func (c *firebirdSQL) Drain(sums []uint64) (count int64, err error) {
	values := make([]any, len(sums))
	pointers := make([]any, len(sums))
	for at := range values {
		pointers[at] = &values[at]
	}
	for ; c.rows.Next(); count++ {
		if err := c.rows.Scan(pointers...); err != nil {
			return count, err
		}
		for at, column := range c.job.Columns {
			hash, err := hashOf(values[at], column)
			if err != nil {
				return count, err
			}
			sums[at] += hash
		}
	}
	return count, c.rows.Err()
}

func (c *firebirdSQL) Release() error {
	if err := c.rows.Close(); err != nil {
		return err
	}
	return c.db.Close()
}

func hashOf(value any, column Column) (uint64, error) {
	switch value := value.(type) {
	case nil:
		return null, nil
	case bool:
		if column.Kind == "boolean" {
			return boolean(value), nil
		}
	case int64:
		if column.Scale == 0 {
			return integer(value), nil
		}
	case float64:
		if column.Kind == "float64" || column.Kind == "float32" {
			return float(value), nil
		}
	case time.Time:
		// The moment that the same digits are in UTC.
		wall := time.Date(value.Year(), value.Month(), value.Day(), value.Hour(), value.Minute(), value.Second(), value.Nanosecond(), time.UTC)
		switch column.Kind {
		case "date":
			return date(int64(math.Floor(float64(wall.Unix()) / 86400))), nil
		case "timestamp":
			return timestamp(wall.UnixMicro()), nil
		}
	case string:
		switch column.Kind {
		case "text":
			return text([]byte(value)), nil
		case "decimal":
			return ofDecimal(value, column)
		}
	case []byte:
		switch column.Kind {
		case "text":
			return text(value), nil
		case "binary":
			return words(value, 9), nil
		}
	}
	return 0, fmt.Errorf("column %s (%s) has values of the type %T; its figures are withheld", column.Name, column.Kind, value)
}

// ofDecimal hashes digits with a point, as the driver gives decimals.
func ofDecimal(digits string, column Column) (uint64, error) {
	whole, fraction, _ := strings.Cut(digits, ".")
	if len(fraction) > column.Scale {
		return 0, fmt.Errorf("column %s has the value %s; its figures are withheld", column.Name, digits)
	}
	digits = whole + fraction + strings.Repeat("0", column.Scale-len(fraction))
	if value, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return number(uint64(value), uint64(value>>63), column.Scale), nil
	}
	value, found := new(big.Int).SetString(digits, 10)
	if !found {
		return 0, fmt.Errorf("column %s has the value %s; its figures are withheld", column.Name, digits)
	}
	low := new(big.Int).And(value, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	high := new(big.Int).Rsh(value, 64).Int64()
	return number(low, uint64(high), column.Scale), nil
}

// version returns that of a module, as this program was built with it.
func version(path string) string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == path {
			return module.Version
		}
	}
	return ""
}
