// Package audit records changes in the account's audit log. [RecordTx] records a
// change in the transaction that makes it, so that neither can be stored without
// the other. The package stores nothing itself: the context has the actor and the
// [Recorder]. Without a Recorder, as in a program that embeds one package, RecordTx
// does nothing.
//
//	err := db.InTx(ctx, func(tx database.Executor) error {
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

	"github.com/trunklinehq/trunkline/internal/database"
)

// Entry describes a change of an object.
type Entry struct {
	Action Action // one of this package
	// ObjectType is the type of the object. "": the part of Action before the dot.
	ObjectType string
	ObjectID   string
	ObjectName string // name for people, such as an e-mail; "": none
	Reference  int64  // the reference of the object; 0: none
	// Details are further details, see [Changed]: names of changed members, and
	// values that everyone in the account may read. They must not contain secrets,
	// tokens or texts of messages.
	Details map[string]any
}

// Changed returns the usual Details: the names of the changed members. It returns
// nil if there are none.
func Changed(names ...string) map[string]any {
	if len(names) == 0 {
		return nil
	}
	return map[string]any{"changed": names}
}

// Kind is the way in which an actor was identified.
type Kind string

// The kinds of actors.
const (
	Cookie   Kind = "cookie"   // a person in a browser
	Login    Kind = "login"    // the token of a login
	Token    Kind = "token"    // a scoped token of a program
	Agent    Kind = "agent"    // a model, or a flow, in a run
	Operator Kind = "operator" // a person with access to the database: the command line
	System   Kind = "system"   // the server by itself
	Nobody   Kind = "nobody"   // not identified, as in a failed login
)

// Actor is the author of a change, with the account.
type Actor struct {
	Account string
	Kind    Kind
	User    string // "": none
	Email   string // of the user, at the time of the change
	Token   string // id of the token or the session; "": none
	Run     string // of a flow or a bot; "": none
}

// Origin is where a change comes from.
type Origin struct {
	Address string // of the client; "": unknown
	Request string // id of the request; "": none
}

// Record is a change as a [Recorder] stores it.
type Record struct {
	Entry
	Actor
	Origin
}

// Recorder stores records. RecordTx stores one in the caller's transaction.
type Recorder interface {
	RecordTx(ctx context.Context, tx database.Executor, r Record) error
}

type scope struct {
	to     Recorder
	actor  Actor
	origin Origin
}

type scopeKey struct{}

// With returns a context whose changes are recorded. Their actor is [Nobody] until
// [As] sets another.
func With(ctx context.Context, to Recorder, from Origin) context.Context {
	return context.WithValue(ctx, scopeKey{}, scope{to: to, origin: from})
}

// As returns a context whose changes have an actor. It returns ctx itself if
// nothing is recorded.
func As(ctx context.Context, a Actor) context.Context {
	s, ok := ctx.Value(scopeKey{}).(scope)
	if !ok {
		return ctx
	}
	s.actor = a
	return context.WithValue(ctx, scopeKey{}, s)
}

// Without returns a context whose changes are not recorded, because they are part
// of one that is.
func Without(ctx context.Context) context.Context {
	if ctx.Value(scopeKey{}) == nil {
		return ctx
	}
	return context.WithValue(ctx, scopeKey{}, nil)
}

// RecordTx records a change in the transaction that makes it. It does nothing if
// the context has no [Recorder]. It returns an error if the action is not listed or
// if there is no account; the change must then fail.
func RecordTx(ctx context.Context, tx database.Executor, e Entry) error {
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
