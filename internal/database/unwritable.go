package database

import (
	"database/sql/driver"
	"errors"
	"net"
	"strings"
)

// ErrUnwritable is wrapped by errors of [DB.InTx] and [DB.Write] when the database
// cannot be written for now: it is full, read-only, locked by another program, or
// unreachable.
var ErrUnwritable = errors.New("database: the store cannot be written")

// unwritable wraps err in [ErrUnwritable] if the driver's error has that meaning.
func unwritable(err error) error {
	if err == nil || errors.Is(err, ErrUnwritable) || !IsUnwritable(err) {
		return err
	}
	return &storeError{err}
}

// unreachable wraps the error of a transaction that did not begin in [ErrUnwritable].
func unreachable(err error) error {
	if errors.Is(err, ErrUnwritable) {
		return err
	}
	return &storeError{err}
}

// storeError is an ErrUnwritable with the driver's text.
type storeError struct{ err error }

func (e *storeError) Error() string   { return ErrUnwritable.Error() + ": " + e.err.Error() }
func (e *storeError) Unwrap() []error { return []error{ErrUnwritable, e.err} }

// SQLite's result codes. The low byte of an extended code is its primary code. See
// https://sqlite.org/rescode.html.
const (
	liteReadOnly = 8
	liteIOErr    = 10
	liteFull     = 13
	liteCantOpen = 14                // its file or one beside it: there are too many open files
	liteShmSize  = liteIOErr | 19<<8 // there is no room for the index of the write-ahead log
)

// IsUnwritable reports whether an error of a driver means [ErrUnwritable]. It is
// for statements outside of the transactions of this package.
func IsUnwritable(err error) bool {
	var lite interface{ Code() int }
	var dial *net.OpError
	switch {
	case errors.Is(err, ErrUnwritable), errors.Is(err, driver.ErrBadConn), errors.As(err, &dial):
		return true
	case errors.As(err, &lite):
		code := lite.Code() & 0xff
		return code == liteFull || code == liteReadOnly || code == liteIOErr || code == liteCantOpen
	}
	state := sqlState(err)
	for _, class := range unwritableStates {
		if state != "" && strings.HasPrefix(state, class) {
			return true
		}
	}
	return false
}

// IsMoved reports whether an error of PostgreSQL means that its connection should
// not be used again, because another one may be better: the server is read-only or a
// standby, shuts down, or has lost the connection.
func IsMoved(err error) bool {
	state := sqlState(err)
	return state == "25006" || strings.HasPrefix(state, "08") || strings.HasPrefix(state, "57P0")
}

// IsFull reports whether an error of a driver means that there is no space left.
func IsFull(err error) bool {
	var lite interface{ Code() int }
	if errors.As(err, &lite) {
		return lite.Code()&0xff == liteFull || lite.Code() == liteShmSize
	}
	return sqlState(err) == "53100"
}

// unwritableStates are PostgreSQL's error codes; two characters are a whole class:
// https://www.postgresql.org/docs/current/errcodes-appendix.html
var unwritableStates = []string{
	"08",    // connection
	"53",    // out of disk, memory or connections
	"57P01", // shut down
	"57P02", // crashed
	"57P03", // starting
	"58",    // input and output
	"25006", // read-only: a standby
}
