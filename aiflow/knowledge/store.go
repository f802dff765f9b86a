package knowledge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Limits of one transaction. On SQLite all other writers wait for it.
const (
	batchRows  = 150
	batchBytes = 256 << 10 // a single row may have more
)

// indexTimeout is the time without a transaction after which a file that is being
// stored counts as abandoned.
const indexTimeout = 5 * time.Minute

// store writes a file in small transactions. The file is listed and searched after
// the last one.
func (a *Account) store(ctx context.Context, project string, row *fileRow, passages []string, vectors [][]float32, in *postings) error {
	err := a.s.db.InTx(ctx, func(tx *database.Tx) error { return a.reserve(ctx, tx, project, row) })
	if err != nil {
		return err
	}
	err = a.fill(ctx, project, row.Number, passages, vectors, in)
	if err == nil {
		err = a.publish(ctx, project, row, in)
	}
	if err != nil {
		a.s.abandon(ctx, row.Number)
	}
	return err
}

// reserve inserts the row of a file, which then counts against the limits of its
// project.
func (a *Account) reserve(ctx context.Context, tx *database.Tx, project string, row *fileRow) error {
	if err := a.lock(ctx, tx, project); err != nil {
		return err
	}
	var room struct{ Files, Bytes int64 }
	err := tx.GetContext(ctx, &room, `SELECT COUNT(*) AS files, COALESCE(SUM(bytes), 0) AS bytes FROM knowledge_file WHERE project = $1`, project)
	switch {
	case err != nil:
		return err
	case room.Bytes+row.Bytes > MaxProject:
		return &TooLarge{"project", MaxProject}
	case room.Files >= maxFiles:
		return &Invalid{Field: "name", Message: fmt.Sprintf("exceeds the limit of %d files in a project: delete one first", maxFiles)}
	}
	err = tx.GetContext(ctx, &row.Number, `INSERT INTO knowledge_file (id, account, project, name, type, bytes, passages, words, lengths, created_us, ready, due_us)
		SELECT $1, account, id, $2, $3, $4, $5, 0, $6, $7, FALSE, $8 FROM aiflow_project WHERE id = $9 AND account = $10 AND NOT removed RETURNING number`,
		row.ID, row.Name, row.Type, row.Bytes, row.Passages, []byte{}, row.CreatedUS, a.s.deadline(), project, a.id)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound // the project was deleted meanwhile
	}
	return err
}

func (s *Service) deadline() int64 { return database.Micros(s.opts.Now().Add(indexTimeout)) }

// lock locks the project, so that no other transaction adds files to it or deletes
// it until tx ends.
func (a *Account) lock(ctx context.Context, tx *database.Tx, project string) error {
	if a.s.db.Dialect != database.Postgres {
		return nil // SQLite has only one writer at a time
	}
	_, err := tx.ExecContext(ctx, `SELECT 1 FROM aiflow_project WHERE id = $1 FOR NO KEY UPDATE`, project)
	return err
}

// fill stores the passages of a file and the index of its words.
func (a *Account) fill(ctx context.Context, project string, file int64, passages []string, vectors [][]float32, in *postings) error {
	b := batch{s: a.s, file: file, into: `knowledge_passage (file, part, text, vector)`, columns: 4}
	for i, text := range passages {
		var vector []byte
		if i < len(vectors) {
			vector = packed(vectors[i])
		}
		if err := b.add(ctx, len(text)+len(vector), file, i+1, text, vector); err != nil {
			return err
		}
	}
	if err := b.flush(ctx); err != nil {
		return err
	}
	b = batch{s: a.s, file: file, into: `knowledge_posting (project, term, file, parts)`, columns: 4}
	for _, term := range slices.Sorted(maps.Keys(in.terms)) {
		if err := b.add(ctx, len(term)+len(in.terms[term]), project, term, file, in.terms[term]); err != nil {
			return err
		}
	}
	return b.flush(ctx)
}

// publish makes a file visible to lists and searches.
func (a *Account) publish(ctx context.Context, project string, row *fileRow, in *postings) error {
	return a.s.db.InTx(ctx, func(tx *database.Tx) error {
		if err := a.lock(ctx, tx, project); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `UPDATE knowledge_file SET ready = TRUE, due_us = 0, words = $1, lengths = $2
			WHERE number = $3 AND NOT ready AND due_us > 0 AND EXISTS (SELECT 1 FROM aiflow_project p WHERE p.id = knowledge_file.project AND NOT p.removed)`, in.words, in.lengths, row.Number)
		if err := oneRow(res, err); err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.FileCreate, project, row.ID, row.Name)
	})
}

// recordTx records an action on a file in the audit log.
func recordTx(ctx context.Context, tx *database.Tx, action audit.Action, project, file, name string) error {
	return audit.RecordTx(ctx, tx, audit.Entry{Action: action, ObjectID: file, ObjectName: name, Details: map[string]any{"project": project}})
}

// oneRow returns [ErrNotFound] if an update has changed no row.
func oneRow(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return ErrNotFound
}

// batch collects rows of a file for one transaction.
type batch struct {
	s       *Service
	file    int64
	into    string // the table with its columns
	columns int
	values  []any
	bytes   int
}

// add adds a row. It first stores the batch if that is full.
func (b *batch) add(ctx context.Context, bytes int, row ...any) error {
	if len(b.values) >= batchRows*b.columns || len(b.values) > 0 && b.bytes+bytes > batchBytes {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	b.values, b.bytes = append(b.values, row...), b.bytes+bytes
	return nil
}

// flush stores the batch, unless the file was given up meanwhile.
func (b *batch) flush(ctx context.Context) error {
	if len(b.values) == 0 {
		return nil
	}
	err := b.s.db.InTx(ctx, func(tx *database.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE knowledge_file SET due_us = $1 WHERE number = $2 AND NOT ready AND due_us > 0`, b.s.deadline(), b.file)
		if err := oneRow(res, err); err != nil {
			return err
		}
		return insertMany(ctx, tx, b.into, b.columns, b.values)
	})
	b.values, b.bytes = b.values[:0], 0
	return err
}

// rowsAtOnce is the number of rows of one INSERT: SQLite needs quadratic time for
// numbered parameters.
const rowsAtOnce = 40

// insertMany inserts rows with a number of columns.
func insertMany(ctx context.Context, tx *database.Tx, into string, columns int, values []any) error {
	for part := range slices.Chunk(values, columns*rowsAtOnce) {
		var b strings.Builder
		for i := range part {
			switch {
			case i == 0:
				b.WriteString("(")
			case i%columns == 0:
				b.WriteString("), (")
			default:
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "$%d", i+1)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO `+into+` VALUES `+b.String()+`)`, part...); err != nil {
			return err
		}
	}
	return nil
}
