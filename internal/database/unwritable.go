package database

import (
	"database/sql/driver"
	"errors"
	"net"
	"strings"
)

// ErrUnwritable is in the chain of what [DB.InTx] and [DB.Write] return when
// the store takes nothing for now: it is full, read-only, locked
// by another program, or out of reach.
var ErrUnwritable = errors.New("database: the store cannot be written")

// unwritable wraps err, whose driver says so, with [ErrUnwritable].
func unwritable(err error) error {
	if err == nil || errors.Is(err, ErrUnwritable) || !IsUnwritable(err) {
		return err
	}
	return &storeError{err}
}

// storeError is an ErrUnwritable with the driver's words.
type storeError struct{ err error }

func (e *storeError) Error() string   { return ErrUnwritable.Error() + ": " + e.err.Error() }
func (e *storeError) Unwrap() []error { return []error{ErrUnwritable, e.err} }

// SQLite's result codes; the low byte of an extended one is its primary code.
// Codes: https://sqlite.org/rescode.html
const (
	liteReadOnly = 8
	liteIOErr    = 10
	liteFull     = 13
)

// IsUnwritable reports an error by which a driver says what [ErrUnwritable]
// does, for statements that run in no transaction of ours.
func IsUnwritable(err error) bool {
	var lite interface{ Code() int }
	var dial *net.OpError
	switch {
	case errors.Is(err, ErrUnwritable), errors.Is(err, driver.ErrBadConn), errors.As(err, &dial):
		return true
	case errors.As(err, &lite):
		code := lite.Code() & 0xff
		return code == liteFull || code == liteReadOnly || code == liteIOErr
	}
	state := sqlState(err)
	for _, class := range unwritableStates {
		if state != "" && strings.HasPrefix(state, class) {
			return true
		}
	}
	return false
}

// unwritableStates are PostgreSQL's, a whole class where there are two
// characters: https://www.postgresql.org/docs/current/errcodes-appendix.html
var unwritableStates = []string{
	"08",    // the connection
	"53",    // disk, memory or connections are used up
	"57P01", // it is shut down
	"57P02", // it has crashed
	"57P03", // it is starting
	"58",    // input and output
	"25006", // read-only: a standby
}
