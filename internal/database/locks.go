package database

// ForUpdate returns the end of a statement that reads rows which its transaction
// will change. No other transaction changes them until it ends. SQLite needs no
// clause: it has only one writer at a time.
func (d Dialect) ForUpdate() string { return d.onPostgres(" FOR UPDATE") }

// ForShare returns the end of a statement that reads rows which must not be changed
// or deleted until its transaction ends.
func (d Dialect) ForShare() string { return d.onPostgres(" FOR SHARE") }

func (d Dialect) onPostgres(words string) string {
	if d == Postgres {
		return words
	}
	return ""
}

// Now returns an expression for the time of the database in microseconds since 1970. It
// is the one clock on which all nodes agree. On PostgreSQL it is the time at which the
// statement began.
func (d Dialect) Now() string {
	if d == Postgres {
		return `CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT)`
	}
	return `CAST(unixepoch('subsec') * 1000000 AS BIGINT)`
}
