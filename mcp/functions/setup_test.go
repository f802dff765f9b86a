package functions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/functions"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

// fixture is a registry over a messaging service that works, with a sandbox
// reference of the account "ana".
type fixture struct {
	t        *testing.T
	registry *mcp.Registry
	svc      *messaging.Service
	ref      provider.ReferenceID
}

// onDatabases runs fn with a fixture on each database.
func onDatabases(t *testing.T, fn func(t *testing.T, f fixture)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, setup(t, db, nil))
	})
}

func setup(t *testing.T, db *sqlx.DB, opts *functions.Options) fixture {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	require.NoError(t, messaging.Migrate(t.Context(), db))
	require.NoError(t, mcp.Migrate(t.Context(), db))
	svc, err := messaging.New(t.Context(), db, &messaging.Options{Providers: []provider.Provider{sandbox.New()}, Logger: log})
	require.NoError(t, err)
	r, err := mcp.New(t.Context(), db, &mcp.Options{Limit: -1, AccountLimit: -1, Logger: log})
	require.NoError(t, err)
	require.NoError(t, functions.Register(r, svc, opts))
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- svc.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
	f := fixture{t: t, registry: r, svc: svc}
	f.ref = f.reference("ana")
	return f
}

// reference makes a sandbox reference of an account.
func (f fixture) reference(account string) provider.ReferenceID {
	f.t.Helper()
	ref, err := f.svc.For(account).References().Create(f.t.Context(), messaging.NewReference{Name: "Shop of " + account, Type: sandbox.Kind})
	require.NoError(f.t, err)
	return ref.ID
}

// write lets a contact write a text to a reference, and returns the message's id.
func (f fixture) write(ref provider.ReferenceID, from, text string) string {
	f.t.Helper()
	phone := sandbox.Phone{Inbox: f.svc, Reference: ref, Name: from, PushName: "Maria"}
	id, err := phone.Write(f.t.Context(), provider.Text{Text: text})
	require.NoError(f.t, err)
	return id
}

// everything returns the caller who may do anything in an account.
func everything(account string) mcp.Caller {
	return mcp.Caller{Account: account, User: "user of " + account, May: func(string) bool { return true }}
}

// call calls a function for the account ana; arguments are made like
// fmt.Sprintf makes them.
func (f fixture) call(function, arguments string, a ...any) mcp.Outcome {
	f.t.Helper()
	return f.callAs(everything("ana"), function, fmt.Sprintf(arguments, a...), false)
}

func (f fixture) callAs(c mcp.Caller, function, arguments string, dry bool) mcp.Outcome {
	f.t.Helper()
	out := f.registry.Execute(f.t.Context(), c, mcp.Request{Function: function, Arguments: json.RawMessage(arguments), DryRun: dry})
	if out.Success {
		require.Nil(f.t, out.Error)
	} else {
		require.NotNil(f.t, out.Error)
		require.NotEqual(f.t, mcp.CodeInternal, out.Error.Code)
	}
	return out
}

// result returns what a call that succeeds answers.
func (f fixture) result(function, arguments string, a ...any) map[string]any {
	f.t.Helper()
	out := f.call(function, arguments, a...)
	require.True(f.t, out.Success, "%s %s: %v", function, fmt.Sprintf(arguments, a...), out.Error)
	return decode(f.t, out.Result)
}

// plan returns what a dry run says.
func (f fixture) plan(function, arguments string, a ...any) map[string]any {
	f.t.Helper()
	out := f.callAs(everything("ana"), function, fmt.Sprintf(arguments, a...), true)
	require.True(f.t, out.Success, "%v", out.Error)
	r := decode(f.t, out.Result)
	require.Equal(f.t, true, r["dryRun"])
	return r["plan"].(map[string]any)
}

// refused expects a code, and the argument that is named; "": none is.
func (f fixture) refused(code, argument, function, arguments string, a ...any) {
	f.t.Helper()
	out := f.call(function, arguments, a...)
	require.False(f.t, out.Success, "%s %s: %s", function, arguments, out.Result)
	require.Equal(f.t, code, out.Error.Code, "%v", out.Error)
	if argument == "" {
		require.Empty(f.t, out.Error.Details)
		return
	}
	require.Len(f.t, out.Error.Details, 1)
	require.Equal(f.t, argument, out.Error.Details[0].Argument, "%v", out.Error)
	require.NotEmpty(f.t, out.Error.Details[0].Message)
}

func decode(t *testing.T, raw json.RawMessage) map[string]any {
	t.Helper()
	out := map[string]any{}
	require.NoError(t, json.Unmarshal(raw, &out), string(raw))
	return out
}

func openSQLite(t *testing.T) *sqlx.DB {
	t.Helper()
	return testkit.Open(t, testkit.SQLiteURL(t))
}
