// Package audit is how packages tell the account's audit log of a change: by
// [RecordTx], in the transaction that makes it, so that neither is ever without
// the other. It stores nothing itself. Who acts, and where that is kept, is in
// the context; without it, as in a program that embeds one package, RecordTx
// does nothing.
//
//	err := db.InTx(ctx, func(tx *sqlx.Tx) error {
//		if _, err := tx.ExecContext(ctx, `UPDATE shop SET name = $1 WHERE id = $2`, name, id); err != nil {
//			return err
//		}
//		return audit.RecordTx(ctx, tx, audit.Entry{Action: audit.ProjectUpdate, ObjectID: id, ObjectName: name})
//	})
package audit

import (
	"context"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
)

// Entry is a change: what was done to which object.
type Entry struct {
	Action Action // one of this package's
	// ObjectType is what the object is. "": what is before the dot of Action.
	ObjectType string
	ObjectID   string
	ObjectName string // as people know it, such as a name or an e-mail; "": none
	Reference  int64  // the reference to which the object belongs; 0: none
	// Details say more, as JSON: see [Changed]. They hold the names of what
	// was changed, and values that anybody in the account may read. Never: secrets,
	// tokens, texts of messages.
	Details map[string]any
}

// Changed is the usual Details: the names of the members that were changed. It
// is nil if there are none.
func Changed(names ...string) map[string]any {
	if len(names) == 0 {
		return nil
	}
	return map[string]any{"changed": names}
}

// Kind is how an actor was identified.
type Kind string

// The kinds of actors.
const (
	Cookie   Kind = "cookie"   // a person in a browser
	Login    Kind = "login"    // the token of a log-in
	Token    Kind = "token"    // a scoped token: a program
	Agent    Kind = "agent"    // a model, or a flow, in a run
	Operator Kind = "operator" // who has the database: the command line
	System   Kind = "system"   // the server by itself
	Nobody   Kind = "nobody"   // not identified, as in a log-in that failed
)

// Actor is who makes a change, and in which account.
type Actor struct {
	Account string
	Kind    Kind
	User    string // "": none
	Email   string // of the user, at that time
	Token   string // id of the token or the session; "": none
	Run     string // of a flow or a bot; "": none
}

// Origin is from where a change is made.
type Origin struct {
	Address string // of the client; "": unknown
	Request string // id of the request; "": none
}

// Record is what a [Recorder] keeps.
type Record struct {
	Entry
	Actor
	Origin
}

// Recorder keeps records. RecordTx writes one in a transaction of its caller's.
type Recorder interface {
	RecordTx(ctx context.Context, tx *sqlx.Tx, r Record) error
}

type scope struct {
	to     Recorder
	actor  Actor
	origin Origin
}

type scopeKey struct{}

// With returns a context whose changes are recorded, as those of [Nobody] until
// [As] says whose they are.
func With(ctx context.Context, to Recorder, from Origin) context.Context {
	return context.WithValue(ctx, scopeKey{}, scope{to: to, origin: from})
}

// As returns a context whose changes are an actor's. It is ctx itself if
// nothing is recorded.
func As(ctx context.Context, a Actor) context.Context {
	s, ok := ctx.Value(scopeKey{}).(scope)
	if !ok {
		return ctx
	}
	s.actor = a
	return context.WithValue(ctx, scopeKey{}, s)
}

// Without returns a context whose changes are not recorded: they are part of
// one that is.
func Without(ctx context.Context) context.Context {
	if ctx.Value(scopeKey{}) == nil {
		return ctx
	}
	return context.WithValue(ctx, scopeKey{}, nil)
}

// RecordTx records a change in the transaction that makes it. It does nothing
// if the context has no [Recorder]. An action that is not listed, and a change
// in no account, is an error, with which the change must fail.
func RecordTx(ctx context.Context, tx *sqlx.Tx, e Entry) error {
	s, ok := ctx.Value(scopeKey{}).(scope)
	if !ok {
		return nil
	}
	if _, known := meanings[e.Action]; !known {
		return fmt.Errorf("audit: the action %q is not listed", e.Action)
	}
	if s.actor.Account == "" {
		return fmt.Errorf("audit: %s has no account: see As", e.Action)
	}
	if e.ObjectType == "" {
		e.ObjectType, _, _ = strings.Cut(string(e.Action), ".")
	}
	if err := s.to.RecordTx(ctx, tx, Record{e, s.actor, s.origin}); err != nil {
		return fmt.Errorf("recording %s: %w", e.Action, err)
	}
	return nil
}
