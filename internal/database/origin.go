package database

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
)

// Failed reports whether an error comes from the database or the connection to it.
// It distinguishes the errors of functions that read both the database and
// untrusted bytes.
func Failed(err error) bool {
	var lite interface{ Code() int }
	var network net.Error
	return errors.As(err, &lite) || errors.As(err, &network) || sqlState(err) != "" ||
		errors.Is(err, ErrUnwritable) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone)
}
