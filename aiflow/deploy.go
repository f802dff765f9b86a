package aiflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Deployment is a flow that a program brings along.
type Deployment struct {
	Project   string            // name of the project, which is made where it is missing
	Flow      json.RawMessage   // its document
	Functions []json.RawMessage // documents of what it calls, each behind those that it calls itself
	By        Publisher
}

// Deploy makes the flow of a program, and its functions, what runs from now on,
// all of it or nothing. A program may do so at each start: a document that has
// not changed since is not published again. They are known by the name of
// their project and their slugs: the drafts that users have made of them since
// are replaced. An [*Invalid] names what is refused, a document with errors is
// a [*Refused].
func (a *Account) Deploy(ctx context.Context, d Deployment) (Flow, error) {
	p, err := a.newProject(NewProject{Name: d.Project})
	if invalid := (*Invalid)(nil); errors.As(err, &invalid) {
		err = &Invalid{Field: "project", Message: invalid.Message}
	}
	if err != nil {
		return Flow{}, err
	}
	if err := a.s.Clean(ctx); err != nil { // what is being deleted may have its ids
		return Flow{}, err
	}
	p.ID = deployed(a.id, d.Project)
	var r flowRow
	err = a.s.db.InTx(ctx, func(tx *database.Tx) error {
		if err := insertProject(ctx, tx, p); err != nil {
			return err
		}
		if _, err := a.project(ctx, tx, p.ID, a.s.db.Dialect.ForUpdate()); err != nil {
			return err
		}
		for _, document := range slices.Concat(d.Functions, []json.RawMessage{d.Flow}) {
			if r, err = a.deployTx(ctx, tx, p.ID, document, d.By); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Flow{}, fmt.Errorf("deploying a flow: %w", a.s.store.OrSlugTaken(err))
	}
	return a.view(ctx, r)
}

// deployTx makes a document the draft and the published version of its flow.
func (a *Account) deployTx(ctx context.Context, tx *database.Tx, project string, document json.RawMessage, by Publisher) (flowRow, error) {
	doc, problems := flow.Decode(document)
	if doc == nil || doc.Slug == "" || doc.Name == "" {
		return flowRow{}, &Refused{problems}
	}
	made, err := a.newFlow(NewFlow{Project: project, Name: doc.Name, Draft: document})
	if err != nil {
		return made, err
	}
	made.ID = deployed(project, doc.Slug)
	if err := insertFlow(ctx, tx, made); err != nil {
		return made, err
	}
	r, err := a.flow(ctx, tx, made.ID, a.s.db.Dialect.ForUpdate())
	if err != nil {
		return r, err
	}
	if r.Draft != made.Draft || r.Name != made.Name {
		r.Draft, r.Name = made.Draft, made.Name
		if err := a.s.saveTx(ctx, tx, &r); err != nil {
			return r, err
		}
	}
	return r, a.publishDraftTx(ctx, tx, &r, by)
}

// deployed is the id of what a program has brought along: always the same, so
// that two nodes that start together make it once.
func deployed(within, name string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("trunkline deployment\x00"+within+"\x00"+name)).String()
}
