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
