package aiflow

import (
	"context"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/internal/page"
)

// Use is a flow or a function that uses a function.
type Use struct {
	Flow, Name string
	// Published is the version of the function that the published version came
	// with; 0: one of before the project was imported, nil: none.
	Published *int64
	Draft     bool // the draft calls it
}

// usedByBatch bounds how many flows are read at once.
const usedByBatch = 20

type useRow struct {
	number int64
	Use
}

// UsedBy lists what uses a function of its project, the oldest first: published
// versions that came with it, be it that a function of theirs calls it, and
// drafts that call it. It does not use itself, and nothing uses a flow in this
// sense.
func (a Flows) UsedBy(ctx context.Context, id string, l List) (Page[Use], error) {
	last, size, err := l.Parse()
	if err != nil {
		return Page[Use]{}, err
	}
	r, err := a.flow(ctx, a.s.db, id, "")
	if err != nil {
		return Page[Use]{}, err
	}
	slug, kind := r.slug()
	var found []useRow
	for more := kind == flow.KindFunction; more && len(found) <= size; {
		var rows []transferRow
		if err := a.s.db.SelectContext(ctx, &rows, selectTransfer+` WHERE f.project = $1 AND NOT f.removed AND f.number > $2 AND f.id <> $3 ORDER BY f.number LIMIT $4`,
			r.Project, last, id, usedByBatch); err != nil {
			return Page[Use]{}, fmt.Errorf("looking for what uses a function: %w", err)
		}
		for _, other := range rows {
			last = other.Number
			if u := other.use(id, slug); u.Draft || u.Published != nil {
				found = append(found, useRow{last, u})
			}
		}
		more = len(rows) == usedByBatch
	}
	return page.Cut(found, size, func(u useRow) int64 { return u.number }, func(u useRow) Use { return u.Use }), nil
}

// slug is that of the published version, or of the draft while there is none,
// with its kind.
func (r flowRow) slug() (slug, kind string) {
	if r.Version > 0 {
		return r.Slug, r.Kind
	}
	d, _ := flow.Decode([]byte(r.Draft))
	if d == nil {
		return "", ""
	}
	return d.Slug, d.Kind
}

// use says how r uses a function.
func (r transferRow) use(id, slug string) Use {
	u := Use{Flow: r.ID, Name: r.Name}
	if d, _ := flow.Decode([]byte(r.Draft)); d != nil {
		_, u.Draft = slices.BinarySearch(d.Calls(), slug)
	}
	if r.Functions == nil {
		return u
	}
	for _, pin := range versions.ReadFunctions(*r.Functions) {
		if pin.Flow == id {
			u.Published = &pin.Version
		}
	}
	return u
}
