package server_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/credential"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/mcp/remote"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/passkey"
	"github.com/trunklinehq/trunkline/server/auth/secondfactor"
	"github.com/trunklinehq/trunkline/server/quota"
	"github.com/trunklinehq/trunkline/webhook"
)

// answered is what a client is told of an error, wherever it comes from.
type answered struct {
	err    error
	status int
	code   string
	place  string // of the value that is wrong, if the answer names one
}

// errorAnswers are the exported errors that have one answer for all operations, by
// folder and name.
var errorAnswers = map[string]answered{
	"aiflow.ErrFunction":                  {aiflow.ErrFunction, 409, "conflict", ""},
	"aiflow.ErrNotFound":                  {aiflow.ErrNotFound, 404, "not_found", ""},
	"aiflow.ErrRevision":                  {aiflow.ErrRevision, 412, "precondition_failed", ""},
	"aiflow.ErrTooLarge":                  {aiflow.ErrTooLarge, 409, "conflict", ""},
	"aiflow.ErrUnpublished":               {aiflow.ErrUnpublished, 409, "conflict", ""},
	"aiflow.Malformed":                    {&aiflow.Malformed{Problems: []aiflow.Invalid{{Field: "name"}}}, 422, "validation", "body.name"},
	"aiflow.Refused":                      {&aiflow.Refused{Problems: []flow.Problem{{Path: "/nodes/a", Severity: flow.SeverityError}}}, 422, "validation", "body.draft/nodes/a"},
	"aiflow/credential.ErrNotFound":       {credential.ErrNotFound, 404, "not_found", ""},
	"aiflow/flow.ErrNotWaiting":           {flow.ErrNotWaiting, 409, "conflict", ""},
	"aiflow/flow.ErrOtherDocument":        {flow.ErrOtherDocument, 409, "conflict", ""},
	"aiflow/flow/runtime.BadInput":        {&runtime.BadInput{Err: errors.New("is missing")}, 422, "validation", "body.input"},
	"aiflow/flow/runtime.ErrBusy":         {runtime.ErrBusy, 409, "conflict", ""},
	"aiflow/flow/runtime.ErrEnded":        {runtime.ErrEnded, 409, "conflict", ""},
	"aiflow/flow/runtime.ErrNoAsk":        {runtime.ErrNoAsk, 404, "not_found", ""},
	"aiflow/flow/runtime.ErrNotFailed":    {runtime.ErrNotFailed, 409, "conflict", ""},
	"aiflow/flow/runtime.ErrNotFound":     {runtime.ErrNotFound, 404, "not_found", ""},
	"aiflow/flow/runtime.ErrRepeat":       {runtime.ErrRepeat, 409, "conflict", ""},
	"aiflow/flow/simulate.ErrEndless":     {simulate.ErrEndless, 409, "conflict", ""},
	"aiflow/flow/simulate.ErrState":       {simulate.ErrState, 422, "validation", "body.state"},
	"aiflow/knowledge.ErrNotFound":        {knowledge.ErrNotFound, 404, "not_found", ""},
	"aiflow/knowledge.ErrUnsupported":     {knowledge.ErrUnsupported, 422, "unsupported", ""},
	"aiflow/knowledge.TooLarge":           {&knowledge.TooLarge{What: "file"}, 413, "payload_too_large", ""},
	"aiflow/llm/usage.Exceeded":           {&usage.Exceeded{}, 409, "budget_exceeded", ""},
	"botengine.ErrNotFound":               {botengine.ErrNotFound, 404, "not_found", ""},
	"botengine.ErrRevision":               {botengine.ErrRevision, 412, "precondition_failed", ""},
	"botengine.ErrUnpublished":            {botengine.ErrUnpublished, 409, "conflict", ""},
	"botengine.Refused":                   {&botengine.Refused{Problems: []flow.Problem{{Path: "/nodes/a", Severity: flow.SeverityError}}}, 422, "validation", "body.flow/nodes/a"},
	"extractor/store.ErrNotFound":         {store.ErrNotFound, 404, "not_found", ""},
	"extractor/store.ErrUntrained":        {store.ErrUntrained, 409, "conflict", ""},
	"mcp/remote.ErrChanged":               {remote.ErrChanged, 409, "conflict", ""},
	"mcp/remote.ErrNotFound":              {remote.ErrNotFound, 404, "not_found", ""},
	"mcp/remote.ErrTaken":                 {remote.ErrTaken, 409, "conflict", ""},
	"mcp/remote.Error":                    {&remote.Error{}, 502, "provider_error", ""},
	"internal/apierr.Error":               {apierr.New("own", apierr.Conflict, "it is taken"), 409, "conflict", ""},
	"internal/apierr.Invalid":             {&apierr.Invalid{Field: "name"}, 422, "validation", "body.name"},
	"messaging.ErrNotFound":               {messaging.ErrNotFound, 404, "not_found", ""},
	"messaging/payload.ErrNotFound":       {messaging.ErrNotFound, 404, "not_found", ""},
	"messaging.ErrNoDeadLetter":           {messaging.ErrNoDeadLetter, 404, "not_found", ""},
	"messaging.ErrNotReplayable":          {messaging.ErrNotReplayable, 422, "unsupported", ""},
	"messaging.ErrUnproved":               {messaging.ErrUnproved, 503, "unavailable", ""},
	"messaging.ErrUnverified":             {messaging.ErrUnverified, 401, "unauthorized", ""},
	"messaging/payload.Error":             {&messaging.Error{Code: messaging.CodeWindowClosed}, 409, "window_closed", ""},
	"messaging/payload.Missing":           {&messaging.Missing{Field: "chatId"}, 404, "not_found", "body.chatId"},
	"server/internal/httpapi.Problem":     {&server.Problem{Status: 418, Code: "own"}, 418, "own", ""},
	"server/auth.ErrClosed":               {auth.ErrClosed, 403, "forbidden", ""},
	"server/auth.ErrCredentials":          {auth.ErrCredentials, 401, "unauthorized", ""},
	"server/auth.ErrEmailTaken":           {auth.ErrEmailTaken, 409, "conflict", ""},
	"server/auth.ErrForbidden":            {auth.ErrForbidden, 403, "forbidden", ""},
	"server/auth.ErrGrant":                {auth.ErrGrant, 403, "forbidden", ""},
	"server/auth.ErrLastOwner":            {auth.ErrLastOwner, 409, "last_owner", ""},
	"server/auth.ErrNotFound":             {auth.ErrNotFound, 404, "not_found", ""},
	"server/auth.ErrOwner":                {auth.ErrOwner, 403, "forbidden", ""},
	"server/auth.ErrTokens":               {auth.ErrTokens, 409, "conflict", ""},
	"server/auth.ErrToken":                {auth.ErrToken, 401, "unauthorized", ""},
	"server/auth.RateLimited":             {&auth.RateLimited{}, 429, "rate_limited", ""},
	"server/auth.SecondFactorRequired":    {&auth.SecondFactorRequired{}, 401, "second_factor_required", ""},
	"server/auth.ErrPasskey":              {auth.ErrPasskey, 401, "unauthorized", ""},
	"server/auth/passkey.Copied":          {&passkey.Copied{Name: "Phone"}, 401, "passkey_copied", ""},
	"server/auth/passkey.ErrFull":         {passkey.ErrFull, 409, "conflict", ""},
	"server/auth/passkey.ErrNone":         {passkey.ErrNone, 404, "not_found", ""},
	"server/auth/passkey.ErrSite":         {passkey.ErrSite, 404, "not_found", ""},
	"server/auth/passkey.ErrTaken":        {passkey.ErrTaken, 409, "conflict", ""},
	"server/auth/secondfactor.ErrEnabled": {secondfactor.ErrEnabled, 409, "conflict", ""},
	"server/auth/secondfactor.ErrNone":    {secondfactor.ErrNone, 404, "not_found", ""},
	"server/quota.Exceeded":               {&quota.Exceeded{Name: quota.References}, 403, "quota.references", ""},
	"webhook.ErrNotFound":                 {webhook.ErrNotFound, 404, "not_found", ""},
}

// errorEnds are the exported errors that no operation returns as they are: where
// they end, after the function of the server that translates them, if one does.
var errorEnds = map[string]string{
	"aiflow/assistant.ErrNoFile":                   "the model is told that the file is gone",
	"aiflow/author.ErrNoFlow":                      "draftFromText: 502, provider_error",
	"aiflow/credential.ErrHost":                    "Authorize: the run's error http.credential",
	"aiflow/credential.ErrPlain":                   "Authorize: the run's error http.credential",
	"aiflow/flow.Error":                            "an error of a run, which is shown in it",
	"aiflow/flow.Problem":                          "a problem of a draft, which is listed with it",
	"aiflow/flow/expression.Error":                 "a problem of a draft, or an error of a run",
	"aiflow/flow/internal/values.ErrNotJSON":       "a state that cannot be read is simulate.ErrState",
	"aiflow/flow/internal/values.Error":            "an error of a run",
	"aiflow/flow/runtime.Refused":                  "the engines publish only what compiles",
	"aiflow/flow/simulate.ErrLong":                 "replayRun: the replay's own problem",
	"aiflow/flow/simulate.Invalid":                 "misplaced: 422 at the test or the input",
	"aiflow/flow/simulate.TooMany":                 "tests are parsed first, which allows as many",
	"aiflow/llm.Error":                             "ModelError: 502 or 503; otherwise an error of a run",
	"aiflow/llm.ToolError":                         "the model is told",
	"aiflow/llm/structured.Misfit":                 "the model is asked again",
	"aiflow/typebot.ErrFormat":                     "importProject converts only what typebot.Is knows",
	"aiflow/typebot.ErrTooLarge":                   "importTypebot: 422 at body.groups",
	"extractor/intent.ErrStored":                   "a stored model of another version is trained again",
	"internal/database.ErrNewer":                   "the program does not start",
	"internal/database.ErrUnwritable":              "Find: 503, unavailable",
	"internal/groupcommit.ErrPanicked":             "it is answered as any panic",
	"internal/guard.ErrRefused":                    "guard.Reason makes the text of a failed request",
	"internal/keyring.ErrOtherSecret":              "the program does not start",
	"internal/keyring.ErrSealed":                   "a defect of the store, 500, and in the log",
	"mcp.Error":                                    "the answer of a call of /mcp",
	"messaging.ErrNotCallback":                     "receive: 400",
	"messaging.ErrOtherMedia":                      "the program does not start",
	"messaging.ErrResync":                          "the stream says resync",
	"messaging/internal/attachment.ErrOtherMedia":  "the program does not start",
	"messaging/internal/callback.ErrNotCallback":   "messaging.ErrNotCallback is the same",
	"messaging/internal/callback.ErrNoLetter":      "messaging.ErrNoDeadLetter is the same",
	"messaging/internal/callback.ErrNotReplayable": "messaging.ErrNotReplayable is the same",
	"messaging/internal/callback.ErrUnproved":      "messaging.ErrUnproved is the same",
	"messaging/internal/callback.ErrUnverified":    "messaging.ErrUnverified is the same",
	"messaging/internal/refusal.ErrNotHere":        "the send waits, or the call is made on the node that leases the reference",
	"messaging/internal/store.ErrMoved":            "Store.InTx and Store.InBatch begin the transaction again",
	"messaging/internal/template.ErrNoCopy":        "the send goes on without the copy",
	"messaging/media.ErrEmpty":                     "formProblem: 422 at body.file",
	"messaging/media.ErrDamaged":                   "the message fails with media_unavailable, and a download with 503",
	"messaging/media.ErrFull":                      "formProblem: 503, unavailable",
	"messaging/media.ErrNotFound":                  "messaging.ErrNotFound",
	"messaging/media.Mismatch":                     "formProblem: 422 at body.file",
	"messaging/media.TooLarge":                     "formProblem: 413, payload_too_large",
	"provider.Ambiguous":                           "in messaging, the message's failure",
	"provider.AuthExpired":                         "in messaging, the message's failure, and the reference's health",
	"provider.BadRecipient":                        "in messaging, the message's failure",
	"provider.ErrMismatch":                         "in messaging, the file's failure",
	"provider.Invalid":                             "messaging.Invalid at the field",
	"provider.RateLimited":                         "in messaging, another attempt, or rate_limited",
	"provider.Rejected":                            "in messaging, the message's failure",
	"provider.Temporary":                           "in messaging, another attempt",
	"provider.Unsupported":                         "messaging.Error with code unsupported",
	"provider.WindowClosed":                        "messaging.Error with code window_closed",
	"provider/graph.ErrClosed":                     "in messaging, another attempt with a new session",
	"provider/graph.ErrPrivate":                    "in messaging, the file's failure",
	"provider/graph.ErrTooLong":                    "in messaging, the file's failure",
	"provider/graph.Error":                         "the providers' own errors wrap it",
	"provider/sandbox.ErrClosed":                   "in messaging, another attempt with a new session",
	"provider/web/webtest.ErrPasskey":              "a test's phone",
	"server.ErrOtherMedia":                         "the program does not start",
	"server.ErrOtherSecret":                        "the program does not start",
	"messaging/internal/forged.ErrBusy":            "refuse: 503, unavailable",
	"messaging/internal/forged.ErrForged":          "refuse: 429, rate_limited",
	"server/auth.ErrDisabled":                      "refuseOIDC: a page with 403",
	"server/auth.ErrLinked":                        "refuseOIDC: a page with 409",
	"server/auth.ErrUndeliverable":                 "the mail is not tried again",
	"server/auth.ErrUnverified":                    "refuseOIDC: a page with 403",
	"server/auth/oidc.ErrDenied":                   "refuseOIDC: a page with 403",
	"server/auth/oidc.ErrFlow":                     "refuseOIDC: a page with 400",
	"server/auth/oidc.ErrToken":                    "refuseOIDC: a page with 400",
	"server/auth/oidc.ErrUnavailable":              "refuseOIDC: a page with 502",
	"server/auth/passkey.ErrChallenge":             "auth.Invalid when a passkey is added, else auth.ErrPasskey",
	"server/auth/passkey.ErrResponse":              "auth.Invalid when a passkey is added, else auth.ErrPasskey",
	"server/auth/secondfactor.ErrCode":             "auth.Invalid or auth.SecondFactorRequired",
	"server/backup.ErrCorrupt":                     "the command says so",
	"internal/database/open.ErrDamaged":            "the command says so",
	"internal/database/open.ErrListener":           "the command says so",
	"internal/database/open.ErrPooler":             "the command says so",
	"sqldb.ErrDamaged":                             "the command says so",
	"sqldb.ErrListener":                            "the command says so",
	"sqldb.ErrPooler":                              "the command says so",
	"server/backup.ErrFileDamaged":                 "the command says so",
	"server/backup.ErrDamaged":                     "the command says so",
	"server/backup.ErrNewer":                       "the command says so",
	"server/backup.ErrNotEmpty":                    "the command says so",
	"server/backup.ErrUnfit":                       "the command says so",
	"server/backup.ErrNoAccount":                   "the command says so",
	"server/backup.ErrExists":                      "the command says so",
	"server/backup.ErrOldTables":                   "the command says so",
	"server/backup/destination.ErrNotFound":        "the command says so",
	"server/billing.ErrMalformed":                  "receive: 400",
	"server/billing.ErrNoSecret":                   "receive: 503, unavailable",
	"server/billing.ErrSignature":                  "receive: 401, unauthorized",
	"server/client.Error":                          "the client's own",
	"server/internal/httpapi.MemberError":          "undecodable: 422 at its member",
	"server/job.ErrNotFound":                       "showJob: 404, not_found",
	"server/mail.ErrRefused":                       "auth.ErrUndeliverable",
	"webhook/internal/delivery.ErrNoFormat":        "the delivery waits for a process that has the format",
	"webhook/internal/delivery.ErrSecret":          "webhook.Invalid of the field secret",
	"webhook.ErrSignature":                         "of the receivers that use Verify",
}

// TestErrors holds each exported error of the module to what clients are told
// of it.
func TestErrors(t *testing.T) {
	t.Parallel()
	for name, want := range errorAnswers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := server.Known(fmt.Errorf("while it was tried: %w", want.err))
			require.NotNil(t, got, "it would be a 500")
			require.Equal(t, want.status, got.Status)
			require.Equal(t, want.code, got.Code)
			if want.place != "" {
				require.Len(t, got.Errors, 1)
				require.Equal(t, want.place, got.Errors[0].Location)
			} else {
				require.Empty(t, got.Errors)
			}
		})
	}
	known := []string{}
	for name := range errorAnswers {
		require.NotContains(t, errorEnds, name)
		known = append(known, name)
	}
	source := sources(t)
	for name, end := range errorEnds {
		known = append(known, name)
		if by, _, named := strings.Cut(end, ": "); named {
			require.True(t, strings.Contains(source, " "+by+"(") || strings.Contains(source, ") "+by+"("), "%s: there is no function %s", name, by)
		}
	}
	slices.Sort(known)
	require.Equal(t, exportedErrors(t, ".."), known, "say in errorAnswers or errorEnds what clients are told of an error")
}

// sources returns the code of the package and of its internal parts.
func sources(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	add := func(names []string, err error) {
		require.NoError(t, err)
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			out.Write(text)
		}
	}
	add(filepath.Glob("*.go"))
	add(filepath.Glob("internal/*/*.go"))
	add(filepath.Glob("internal/*/*/*.go"))
	return out.String()
}

// exportedErrors are the variables Err… and the types with a method Error of a
// module, by folder and name, in order.
func exportedErrors(t *testing.T, root string) []string {
	t.Helper()
	out := []string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"examples", "testdata", "node_modules", "tools", "testkit", "bin"}, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil || file.Name.Name == "main" {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		for _, decl := range file.Decls {
			for _, name := range errorsOf(decl) {
				out = append(out, filepath.ToSlash(folder)+"."+name)
			}
		}
		return err
	}))
	slices.Sort(out)
	return out
}

// errorsOf are the exported errors of a declaration.
func errorsOf(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.Name != "Error" || d.Recv == nil {
			return nil
		}
		of := d.Recv.List[0].Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if id, ok := of.(*ast.Ident); ok && id.IsExported() {
			names = append(names, id.Name)
		}
	case *ast.GenDecl:
		if d.Tok != token.VAR {
			return nil
		}
		for _, spec := range d.Specs {
			for _, id := range spec.(*ast.ValueSpec).Names {
				if strings.HasPrefix(id.Name, "Err") {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}
