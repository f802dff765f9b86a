package database

// ForUpdate ends a statement that reads rows which its transaction will change,
// so that nobody else does until it ends. SQLite needs nothing: it has one
// writer at a time.
func (d Dialect) ForUpdate() string { return d.onPostgres(" FOR UPDATE") }

// ForShare ends a statement that reads rows which nobody shall change or delete
// until its transaction ends.
func (d Dialect) ForShare() string { return d.onPostgres(" FOR SHARE") }

func (d Dialect) onPostgres(words string) string {
	if d == Postgres {
		return words
	}
	return ""
}
