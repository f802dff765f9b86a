package database

// ForUpdate ends a statement that reads rows which its transaction will change,
// so that no other transaction does until it ends. SQLite needs nothing: it has one
// writer at a time.
func (d Dialect) ForUpdate() string { return d.onPostgres(" FOR UPDATE") }

// ForShare ends a statement that reads rows which must not be changed or deleted
// until its transaction ends.
func (d Dialect) ForShare() string { return d.onPostgres(" FOR SHARE") }

func (d Dialect) onPostgres(words string) string {
	if d == Postgres {
		return words
	}
	return ""
}
