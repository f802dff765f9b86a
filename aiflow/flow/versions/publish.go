package versions

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Edition is what is published: a document as text, and read, and the functions
// that it calls.
type Edition struct {
	Text      json.RawMessage
	Document  *flow.Document
	Functions []Pinned // see [Options]
}

// PublishTx stores an edition as the newest version of a flow, and changes r
// accordingly. An edition that is the published version already is not stored
// again: then published is false.
func (s *Store) PublishTx(ctx context.Context, tx *database.Tx, r *Row, e Edition) (published bool, err error) {
	functions, err := WriteFunctions(e.Functions)
	if err != nil {
		return false, fmt.Errorf("writing the functions of a %s: %w", s.opts.Noun, err)
	}
	hash := s.hash(e, functions)
	var same bool
	if err := tx.GetContext(ctx, &same, `SELECT EXISTS (SELECT 1 FROM `+s.opts.Versions+` WHERE `+s.opts.Key+` = $1 AND version = $2 AND hash = $3)`,
		r.ID, r.Version, hash); err != nil || same {
		return false, err
	}
	if s.opts.Admit != nil {
		if err := s.opts.Admit(ctx, tx, r.Account, int64(len(e.Text)+len(functions))); err != nil {
			return false, err
		}
	}
	r.Versions++
	r.Version, r.Slug, r.Updated = r.Versions, e.Document.Slug, s.nowUS()
	version := newColumns{{s.opts.Key, r.ID}, {"version", r.Version}, {"document", string(e.Text)}, {"hash", hash}}
	head := newColumns{{"version", r.Version}, {"versions", r.Versions}, {"slug", r.Slug}}
	if s.opts.Functions {
		r.Kind = e.Document.Kind
		version = append(version, newColumn{"functions", string(functions)})
		head = append(head, newColumn{"kind", r.Kind})
	}
	if err := version.insertTx(ctx, tx, s.opts.Versions, r.Updated); err != nil {
		return false, err
	}
	return true, head.updateTx(ctx, tx, s.opts.Flows, r)
}

// newColumn is a column with its new value.
type newColumn struct {
	name  string
	value any
}

type newColumns []newColumn

func (c newColumns) insertTx(ctx context.Context, tx *database.Tx, table string, created int64) error {
	c = append(c, newColumn{"created_us", created})
	var names, places string
	args := make([]any, len(c))
	for i, column := range c {
		if i > 0 {
			names, places = names+", ", places+", "
		}
		names, places = names+column.name, places+"$"+strconv.Itoa(i+1)
		args[i] = column.value
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO `+table+` (`+names+`) VALUES (`+places+`)`, args...)
	return err
}

func (c newColumns) updateTx(ctx context.Context, tx *database.Tx, table string, r *Row) error {
	c = append(c, newColumn{"updated_us", r.Updated})
	var sets string
	args := make([]any, len(c), len(c)+1)
	for i, column := range c {
		if i > 0 {
			sets += ", "
		}
		sets += column.name + " = $" + strconv.Itoa(i+1)
		args[i] = column.value
	}
	_, err := tx.ExecContext(ctx, `UPDATE `+table+` SET `+sets+` WHERE id = $`+strconv.Itoa(len(c)+1), append(args, r.ID)...)
	return err
}

// SlugTaken is what is wrong with a draft whose slug another flow has.
func (s *Store) SlugTaken() flow.Problem {
	return flow.Problem{
		Severity: flow.SeverityError, Code: "slug.taken", Path: "/slug",
		Message: "is used by another published " + s.opts.Noun + " of the " + s.opts.Scope,
	}
}

// OrSlugTaken makes Options.Refused of what the unique key of slugs says, and
// returns other errors as they are.
func (s *Store) OrSlugTaken(err error) error {
	if database.IsUnique(err) {
		return s.opts.Refused([]flow.Problem{s.SlugTaken()})
	}
	return err
}
