package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/mcp"
)

func ponging(context.Context, mcp.Call, none) (none, error) { return none{}, nil }

type greeting struct {
	Name string `json:"name"`
}

type greeted struct {
	Text  string   `json:"text"`
	Names []string `json:"names"`
}

func TestSuccess(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{Now: newClock().now})
	add(t, r, "greet", func(_ context.Context, c mcp.Call, in greeting) (greeted, error) {
		require.Equal(t, "acme", c.Account)
		require.Equal(t, "ana", c.User)
		require.Equal(t, "greet", c.Function)
		return greeted{Text: "Hello <" + in.Name + ">"}, nil
	})
	out := call(t, r, ana, "greet", `{"name":"Bob"}`)
	require.True(t, out.Success, out.Error)
	require.Equal(t, http.StatusOK, out.Status())
	require.GreaterOrEqual(t, out.ExecutionTime, 0.0)
	out.ExecutionTime = 1.5
	text, err := json.Marshal(out)
	require.NoError(t, err)
	require.JSONEq(t, `{"success":true,"function":"greet","result":{"text":"Hello <Bob>","names":[]},"error":null,
		"executionTime":1.5,"timestamp":"2026-05-04T03:02:01.000Z"}`, string(text))

	out = call(t, r, ana, "greet", `{}`)
	out.ExecutionTime = 0
	text, err = json.Marshal(out)
	require.NoError(t, err)
	require.JSONEq(t, `{"success":false,"function":"greet","result":null,"error":{"code":"invalid_arguments","message":"the arguments are not valid",
		"details":[{"argument":"name","message":"is missing"}]},"executionTime":0,"timestamp":"2026-05-04T03:02:01.000Z"}`, string(text))
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{})
	require.NoError(t, mcp.Register(r, mcp.Function[none, none]{Name: "send", Description: "Sends.", Permission: "chats.send", Handler: ponging}))
	ping(t, r, "ping")
	for name, c := range map[string]struct {
		caller     mcp.Caller
		send, ping bool
		missing    string
	}{
		"both":           {only("mcp.execute", "chats.send"), true, true, ""},
		"not to execute": {only("chats.send"), false, false, "mcp.execute"},
		"not to send":    {only("mcp.execute", "chats.read"), false, true, "chats.send"},
		"nobody":         {mcp.Caller{Account: "acme"}, false, false, "mcp.execute"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.send, r.Allowed(c.caller, "send"))
			require.Equal(t, c.ping, r.Allowed(c.caller, "ping"))
			require.False(t, r.Allowed(c.caller, "nothing"))
			require.Equal(t, c.ping, call(t, r, c.caller, "ping", "").Success)
			out := call(t, r, c.caller, "send", "")
			if c.send {
				require.True(t, out.Success)
				return
			}
			e := refused(t, out, mcp.CodeForbidden)
			require.Equal(t, http.StatusForbidden, out.Status())
			require.Contains(t, e.Message, c.missing)
		})
	}
}

func TestUnknownFunction(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{})
	for _, name := range []string{"", "nothing", "a\x00b", "\xff", strings.Repeat("x", 5000)} {
		out := call(t, r, ana, name, "")
		refused(t, out, mcp.CodeUnknownFunction)
		require.Equal(t, http.StatusNotFound, out.Status())
		require.LessOrEqual(t, len(out.Function), 110)
	}
}

// TestErrors has handlers that fail in every way.
func TestErrors(t *testing.T) {
	t.Parallel()
	secret := errors.New("password=hunter2 is wrong")
	gone := errors.New("gone")
	var log logged
	r := free(t, mcp.Options{Logger: log.logger(), Translate: func(err error) *mcp.Error {
		if errors.Is(err, gone) {
			return &mcp.Error{Code: mcp.CodeNotFound, Message: "there is no such chat"}
		}
		return nil
	}})
	for name, c := range map[string]struct {
		err    error
		code   string
		status int
	}{
		"translated":        {fmt.Errorf("reading: %w", gone), mcp.CodeNotFound, 404},
		"chosen":            {fmt.Errorf("x: %w", &mcp.Error{Code: "window_closed", Message: "closed"}), "window_closed", 409},
		"of the provider":   {&mcp.Error{Code: "provider_error", Message: "(131047)"}, "provider_error", 502},
		"of its own":        {&mcp.Error{Code: "out_of_stock", Message: "none left"}, "out_of_stock", 422},
		"of its own status": {&mcp.Error{Code: "teapot", Status: 418}, "teapot", 418},
		"unknown":           {secret, mcp.CodeInternal, 500},
		"chosen, internal":  {&mcp.Error{Code: mcp.CodeInternal, Message: secret.Error()}, mcp.CodeInternal, 500},
		"chosen, no code":   {&mcp.Error{Message: secret.Error()}, mcp.CodeInternal, 500},
		"nil of the type":   {(*mcp.Error)(nil), mcp.CodeInternal, 500},
	} {
		function := "f" + strings.NewReplacer(" ", "_", ",", "").Replace(name)
		add(t, r, function, func(context.Context, mcp.Call, none) (none, error) { return none{}, c.err })
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := call(t, r, ana, function, "")
			e := refused(t, out, c.code)
			require.Equal(t, c.status, out.Status())
			require.NotContains(t, e.Message, "hunter2")
		})
	}
	t.Cleanup(func() { require.Contains(t, log.String(), "hunter2", "it is in the log") })
}

// TestErrorsAreNotShared checks that an error value which a handler keeps is not
// changed.
func TestErrorsAreNotShared(t *testing.T) {
	t.Parallel()
	kept := &mcp.Error{Code: "conflict", Message: "busy", RetryAfter: time.Second, Details: []mcp.Detail{{Argument: "a", Message: "b"}}}
	r := free(t, mcp.Options{})
	add(t, r, "busy", func(context.Context, mcp.Call, none) (none, error) { return none{}, kept })
	e := refused(t, call(t, r, ana, "busy", ""), "conflict")
	e.Details[0].Message = "changed"
	require.Equal(t, "b", kept.Details[0].Message)
	require.Equal(t, time.Second, e.RetryAfter)
}

type secretive struct {
	Text string `json:"text"`
}

func TestPanics(t *testing.T) {
	t.Parallel()
	var log logged
	r := free(t, mcp.Options{Logger: log.logger()})
	add(t, r, "value", func(_ context.Context, _ mcp.Call, in secretive) (none, error) {
		panic(fmt.Sprint("do not show ", in.Text))
	})
	add(t, r, "index", func(_ context.Context, _ mcp.Call, in secretive) (none, error) {
		empty := []int{}
		_ = empty[len(in.Text)]
		return none{}, nil
	})
	add(t, r, "exits", func(context.Context, mcp.Call, secretive) (none, error) {
		runtime.Goexit()
		return none{}, nil
	})
	add(t, r, "marshals", func(context.Context, mcp.Call, secretive) (angry, error) { return angry{}, nil })
	for _, name := range []string{"value", "index", "exits", "marshals"} {
		out := call(t, r, ana, name, `{"text":"hunter2"}`)
		e := refused(t, out, mcp.CodeInternal)
		require.Equal(t, http.StatusInternalServerError, out.Status())
		require.NotContains(t, e.Message, "hunter2")
		require.Contains(t, log.String(), "function="+name)
	}
	require.Contains(t, log.String(), "a function panicked")
	require.Contains(t, log.String(), "index out of range")
	require.Contains(t, log.String(), "execute_test.go", "the log says where")
	require.NotContains(t, log.String(), "hunter2", "the log holds no arguments")

	rude := ana
	rude.May = func(string) bool { panic("who asks?") }
	refused(t, call(t, r, rude, "value", ""), mcp.CodeInternal)
}

// angry panics when it is encoded.
type angry struct {
	Field angryField `json:"field"`
}

type angryField struct{}

func (angryField) MarshalJSON() ([]byte, error) { panic("no") }

// TestDeadline has a handler that ignores the end of its context.
func TestDeadline(t *testing.T) {
	t.Parallel()
	var log logged
	r := free(t, mcp.Options{Timeout: time.Minute, Logger: log.logger()})
	release, ended := make(chan struct{}), make(chan struct{})
	require.NoError(t, mcp.Register(r, mcp.Function[none, none]{
		Name: "deaf", Description: "Hears nothing.", Timeout: 20 * time.Millisecond,
		Handler: func(context.Context, mcp.Call, none) (none, error) {
			<-release
			close(ended)
			panic("late")
		},
	}))
	require.NoError(t, mcp.Register(r, mcp.Function[none, none]{
		Name: "hears", Description: "Hears.", Timeout: 20 * time.Millisecond,
		Handler: func(ctx context.Context, _ mcp.Call, _ none) (none, error) {
			<-ctx.Done()
			return none{}, fmt.Errorf("waiting: %w", ctx.Err())
		},
	}))
	for _, name := range []string{"deaf", "hears"} {
		out := call(t, r, ana, name, "")
		refused(t, out, mcp.CodeTimeout)
		require.Equal(t, http.StatusGatewayTimeout, out.Status())
	}
	close(release)
	<-ended
	testkit.Until(t, []*testsignal.Signal{&log.wrote}, func() bool { return strings.Contains(log.String(), "a function panicked") })
}

func TestCallerGone(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	received := make(chan struct{})
	add(t, r, "waits", func(ctx context.Context, _ mcp.Call, _ none) (none, error) {
		cancel()
		<-ctx.Done()
		close(received)
		return none{}, ctx.Err()
	})
	refused(t, r.Execute(ctx, ana, mcp.Request{Function: "waits"}), mcp.CodeUnavailable)
	<-received
}

// TestStrays checks the limit of handlers that run past their deadlines.
func TestStrays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := free(t, mcp.Options{Logger: new(logged).logger()})
		release := make(chan struct{})
		var running atomic.Int64
		require.NoError(t, mcp.Register(r, mcp.Function[none, none]{
			Name: "deaf", Description: "Hears nothing.", Timeout: time.Millisecond,
			Handler: func(context.Context, mcp.Call, none) (none, error) {
				running.Add(1)
				defer running.Add(-1)
				<-release
				return none{}, nil
			},
		}))
		ping(t, r, "ping")
		for range mcp.MaxStray {
			refused(t, call(t, r, ana, "deaf", ""), mcp.CodeTimeout)
		}
		refused(t, call(t, r, ana, "deaf", ""), mcp.CodeUnavailable)
		refused(t, call(t, r, ana, "ping", ""), mcp.CodeUnavailable)
		require.LessOrEqual(t, running.Load(), int64(mcp.MaxStray))
		close(release)
		synctest.Wait()
		require.Zero(t, running.Load())
		require.True(t, call(t, r, ana, "ping", "").Success)
	})
}

func TestProgress(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{})
	var late func()
	add(t, r, "steps", func(_ context.Context, c mcp.Call, _ none) (none, error) {
		for i := range 3 {
			c.Progress(float64(i), 3, fmt.Sprint("step ", i))
		}
		late = func() { c.Progress(9, 9, "too late") }
		return none{}, nil
	})
	var got []string
	out := r.Execute(t.Context(), ana, mcp.Request{Function: "steps", Progress: func(done, total float64, text string) {
		got = append(got, fmt.Sprint(done, "/", total, " ", text))
	}})
	require.True(t, out.Success)
	late()
	require.Equal(t, []string{"0/3 step 0", "1/3 step 1", "2/3 step 2"}, got)
	require.True(t, call(t, r, ana, "steps", "").Success, "nobody need listen")
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{})
	var done atomic.Int64
	count := func(context.Context, mcp.Call, greeting) (none, error) {
		done.Add(1)
		return none{}, nil
	}
	add(t, r, "plain", count)
	require.NoError(t, mcp.Register(r, mcp.Function[greeting, none]{
		Name: "planned", Description: "Has a plan.", Handler: count,
		Plan: func(_ context.Context, _ mcp.Call, in greeting) (any, error) {
			if in.Name == "" {
				return nil, &mcp.Error{Code: "window_closed", Message: "closed"}
			}
			return map[string]any{"allowed": true, "to": in.Name}, nil
		},
	}))
	dry := func(function, arguments string) mcp.Outcome {
		return r.Execute(t.Context(), ana, mcp.Request{Function: function, Arguments: json.RawMessage(arguments), DryRun: true})
	}
	require.JSONEq(t, `{"dryRun":true,"plan":{"allowed":true}}`, string(dry("plain", `{"name":"Bob"}`).Result))
	require.JSONEq(t, `{"dryRun":true,"plan":{"allowed":true,"to":"Bob"}}`, string(dry("planned", `{"name":"Bob"}`).Result))
	refused(t, dry("planned", `{"name":""}`), "window_closed")
	refused(t, dry("plain", `{}`), mcp.CodeInvalidArguments)
	require.Zero(t, done.Load())
}

func TestResults(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{Logger: new(logged).logger()})
	type sized struct {
		Size int `json:"size"`
	}
	add(t, r, "large", func(_ context.Context, _ mcp.Call, in sized) (map[string]string, error) {
		return map[string]string{"x": strings.Repeat("x", in.Size)}, nil
	})
	add(t, r, "raw", func(_ context.Context, _ mcp.Call, in struct {
		Raw string `json:"raw"`
	},
	) (json.RawMessage, error) {
		return json.RawMessage(in.Raw), nil
	})
	add(t, r, "infinite", func(context.Context, mcp.Call, none) (map[string]float64, error) {
		zero := 0.0
		return map[string]float64{"x": 1 / zero}, nil
	})
	require.True(t, call(t, r, ana, "large", fmt.Sprintf(`{"size":%d}`, mcp.MaxResult-len(`{"x":""}`))).Success)
	out := call(t, r, ana, "large", fmt.Sprintf(`{"size":%d}`, mcp.MaxResult))
	refused(t, out, mcp.CodeTooLarge)
	require.Equal(t, http.StatusRequestEntityTooLarge, out.Status())
	require.JSONEq(t, `{"n":9007199254740993}`, string(call(t, r, ana, "raw", `{"raw":"{\"n\":9007199254740993}"}`).Result))
	for _, bad := range []string{`[]`, `null`, `"x"`, `{`, ``} {
		quoted, err := json.Marshal(bad)
		require.NoError(t, err)
		refused(t, call(t, r, ana, "raw", fmt.Sprintf(`{"raw":%s}`, quoted)), mcp.CodeInternal)
	}
	refused(t, call(t, r, ana, "infinite", ""), mcp.CodeInternal)
}

// TestBatch has calls that wait for each other, which works only if they run in
// parallel.
func TestBatch(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		r := setup(t, db, mcp.Options{Now: newClock().now})
		type numbered struct {
			N int `json:"n" default:"-1"`
		}
		var together sync.WaitGroup
		together.Add(mcp.MaxBatch - 1)
		add(t, r, "meet", func(_ context.Context, _ mcp.Call, in numbered) (numbered, error) {
			if in.N >= 0 {
				together.Done()
				together.Wait()
			}
			return in, nil
		})
		calls := make([]mcp.Request, mcp.MaxBatch)
		for i := range calls {
			calls[i] = mcp.Request{Function: "meet", Arguments: fmt.Appendf(nil, `{"n":%d}`, i)}
		}
		calls[7].Function = "nothing"
		out, failed := r.Batch(t.Context(), ana, calls)
		require.Nil(t, failed)
		require.Len(t, out, mcp.MaxBatch)
		for i := range out {
			if i == 7 {
				refused(t, out[i], mcp.CodeUnknownFunction)
				continue
			}
			require.True(t, out[i].Success)
			require.JSONEq(t, fmt.Sprintf(`{"n":%d}`, i), string(out[i].Result))
		}
		require.Equal(t, 60-(mcp.MaxBatch-1), callMany(t, 40, ana, "meet", r), "each counts")
		for _, n := range []int{0, mcp.MaxBatch + 1} {
			_, failed := r.Batch(t.Context(), ana, make([]mcp.Request, n))
			require.Equal(t, mcp.CodeInvalidArguments, failed.Code)
			require.Equal(t, "calls", failed.Details[0].Argument)
		}
	})
}

func TestObserver(t *testing.T) {
	t.Parallel()
	var got []string
	r := free(t, mcp.Options{Observer: &mcp.Observer{Called: func(function, outcome string, duration time.Duration) {
		require.GreaterOrEqual(t, duration, time.Duration(0))
		got = append(got, function+" "+outcome)
	}}})
	ping(t, r, "ping")
	call(t, r, ana, "ping", "")
	call(t, r, ana, "ping", `{"x":1}`)
	call(t, r, ana, "nothing", "")
	require.Equal(t, []string{"ping ok", "ping invalid_arguments", " unknown_function"}, got)
}
