package database

import (
	"bytes"
	"io/fs"
	"strings"
)

// words are the placeholders of migrations with their text in each dialect.
var words = map[Dialect]*strings.Replacer{
	SQLite: strings.NewReplacer(
		"{identity}", "INTEGER PRIMARY KEY AUTOINCREMENT",
		"{bytewise}", "COLLATE BINARY",
		"{transaction}", "0"),
	Postgres: strings.NewReplacer(
		"{identity}", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
		"{bytewise}", `COLLATE "C"`,
		"{transaction}", "CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)"),
}

// oneDialect is a file system that replaces the placeholders of a dialect and hides
// the files of the other.
type oneDialect struct {
	fs.FS
	dialect Dialect
	plain   bool // SQLite has no FTS5
}

// nothing is a migration that does nothing.
const nothing = "-- +goose Up\nSELECT 1;\n"

func (o oneDialect) hidden(name string) bool {
	other := Postgres
	if o.dialect == Postgres {
		other = SQLite
	}
	return strings.HasSuffix(name, "."+other.String()+".sql")
}

// Open implements [fs.FS].
func (o oneDialect) Open(name string) (fs.File, error) {
	f, err := o.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return f, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(o.FS, name)
	if err != nil {
		return nil, err
	}
	if o.plain && strings.HasSuffix(name, ".fts5.sqlite.sql") {
		text = []byte(nothing)
	}
	return migration{strings.NewReader(words[o.dialect].Replace(string(bytes.TrimSpace(text)))), info}, nil
}

// migration is an open file.
type migration struct {
	*strings.Reader
	info fs.FileInfo
}

func (m migration) Stat() (fs.FileInfo, error) { return m.info, nil }
func (m migration) Close() error               { return nil }

// ReadDir implements [fs.ReadDirFS].
func (o oneDialect) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(o.FS, name)
	var out []fs.DirEntry
	for _, e := range all {
		if !o.hidden(e.Name()) {
			out = append(out, e)
		}
	}
	return out, err
}

// Glob implements [fs.GlobFS].
func (o oneDialect) Glob(pattern string) ([]string, error) {
	all, err := fs.Glob(o.FS, pattern)
	var out []string
	for _, n := range all {
		if !o.hidden(n) {
			out = append(out, n)
		}
	}
	return out, err
}
