package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// audited is a changing operation and what the log of the account calls it.
type audited struct {
	op     string
	action audit.Action
	body   string // "": a valid one of the walk; {name} is a value of the walk
}

// changes are played in this order, each with the things of [belongings].
var changes = []audited{
	{"POST /user", audit.UserCreate, `{"email":"new@example.org","password":"correct horse","name":"N","permissions":[]}`},
	{"PATCH /user/{userId}", audit.UserUpdate, `{"name":"Other"}`},
	{"POST /user/invitation", audit.InvitationCreate, `{"email":"guest@example.org","role":"viewer"}`},
	{"POST /user/login", audit.UserLogin, `{"email":"ana@example.org","password":"correct horse"}`},
	{"POST /user/token", audit.TokenCreate, `{"name":"P","permissions":["chats.read"],"expiresAt":{soon}}`},
	{"POST /reference", audit.ReferenceCreate, `{"name":"Shop","type":"provider-sandbox"}`},
	{"PATCH /reference/{id}", audit.ReferenceUpdate, `{"name":"Shop"}`},

	{"POST /aiflow/credential", audit.CredentialCreate, `{"name":"C","kind":"bearer","secret":"hush-hush"}`},
	{"POST /aiflow/server", audit.ServerCreate, `{"name":"another","url":"https://example.org/mcp"}`},
	{"PATCH /aiflow/server/{serverId}", audit.ServerUpdate, `{"enabled":false}`},
	{"POST /aiflow/project", audit.ProjectCreate, `{"name":"Shop"}`},
	{"PATCH /aiflow/project/{projectId}", audit.ProjectUpdate, `{"description":"hush-hush"}`},
	{"GET /aiflow/project/{projectId}/export", audit.ProjectExport, ""},
	{"POST /aiflow/project/import", audit.ProjectImport, `{"format":"trunkline-project/1","name":"Shop","description":"","flows":[{"name":"F","draft":{},"published":null}]}`},
	{"POST /aiflow/project/{projectId}/file", audit.FileCreate, `{"name":"b.txt","text":"hush-hush"}`},
	{"POST /aiflow/flow", audit.FlowCreate, `{"projectId":"{projectId}","name":"F","draft":{}}`},
	{"PATCH /aiflow/flow/{flowId}", audit.FlowUpdate, `{"name":"hush"}`},
	{"PUT /aiflow/flow/{flowId}/test", audit.FlowTests, `{"tests":[]}`},
	{"POST /aiflow/flow/{flowId}/publish", audit.FlowPublish, ""},
	{"POST /aiflow/flow/{flowId}/rollback", audit.FlowRollback, `{"version":1}`},
	{"POST /aiflow/flow/{flowId}/rename", audit.FlowRename, `{"slug":"renamed"}`},
	{"PUT /aiflow/flow/{flowId}/bind", audit.FlowBind, `{"reference":{reference},"enabled":true}`},
	{"POST /aiflow/run", audit.RunStart, `{"flowId":"{flowId}","input":{"x":"hush-hush"}}`},
	{"POST /aiflow/run/{runId}/event", audit.RunEvent, `{"name":"paid","data":{"x":"hush-hush"}}`},
	{"POST /aiflow/run/{runId}/cancel", audit.RunCancel, ""},
	{"POST /bot", audit.BotCreate, `{"reference":{reference},"name":"B","flow":` + greeter + `}`},
	{"PATCH /bot/{botId}", audit.BotUpdate, `{"active":true}`},
	{"PUT /bot/{botId}/test", audit.BotTests, `{"tests":[]}`},
	{"POST /bot/{botId}/publish", audit.BotPublish, ""},
	{"POST /bot/{botId}/run", audit.RunStart, `{"chatId":"ana","input":"hush-hush"}`},
	{"POST /extractor", audit.ExtractorCreate, `{"name":"E","kind":"entity","scope":{"reference":{reference}},"config":{"types":["email"]}}`},
	{"PATCH /extractor/{extractorId}", audit.ExtractorUpdate, `{"enabled":false}`},

	{"DELETE /extractor/{extractorId}", audit.ExtractorDelete, ""},
	{"DELETE /bot/{botId}", audit.BotDelete, ""},
	{"DELETE /aiflow/flow/{flowId}", audit.FlowDelete, ""},
	{"DELETE /aiflow/project/{projectId}/file/{fileId}", audit.FileDelete, ""},
	{"DELETE /aiflow/project/{projectId}", audit.ProjectDelete, ""},
	{"DELETE /aiflow/server/{serverId}", audit.ServerDelete, ""},
	{"DELETE /aiflow/credential/{credentialId}", audit.CredentialDelete, ""},
	{"DELETE /user/invitation/{invitationId}", audit.InvitationRevoke, ""},
	{"DELETE /user/token/{tokenId}", audit.TokenRevoke, ""},
	{"DELETE /user/{userId}", audit.UserDelete, ""},
	{"DELETE /reference/{id}", audit.ReferenceDelete, ""},
}

// elsewhere are changes that this walk cannot play, with the test that does, or
// why.
var elsewhere = map[string]string{
	"POST /reference/session/start":  "TestAuditOfChats",
	"POST /reference/session/logout": "TestAuditOfChats",

	"POST /reference/{id}/dead-letters/{letterId}/replay": "TestDeadLetters",
	"POST /reference/{id}/dead-letters/replay":            "TestDeadLetters",
	"DELETE /reference/{id}/dead-letters/{letterId}":      "TestDeadLetters",

	"PATCH /chats":                                "TestAuditOfChats",
	"POST /chats/group":                           "TestAuditOfGroupsAndTemplates",
	"PATCH /chats/group":                          "TestAuditOfGroupsAndTemplates",
	"POST /media":                                 "TestAuditOfGroupsAndTemplates",
	"POST /templates":                             "TestAuditOfGroupsAndTemplates",
	"POST /references/registerWebHook":            "TestAuditOfWebhooks",
	"POST /references/hookconf":                   "TestAuditOfWebhooks",
	"PATCH /references/hookconf/{endpointId}":     "TestAuditOfWebhooks",
	"POST /references/hookconf/{endpointId}/test": "TestAuditOfWebhooks",
	"POST /references/deliveries/replay":          "TestAuditOfWebhooks",
	"PUT /aiusage/budget":                         "TestAuditOfUsage",
	"PUT /aiusage/pricing":                        "TestAuditOfUsage",
	"POST /aiusage/reprice":                       "TestAuditOfUsage",
	"DELETE /templates":                           "TestAuditOfGroupsAndTemplates",
	"DELETE /references/hookconf/{endpointId}":    "TestAuditOfWebhooks",
	"DELETE /chats":                               "TestAuditOfChats",
	"POST /aiflow/run/{runId}/approve":            "TestOnlyPeopleApprove",
	"POST /aiflow/run/{runId}/retry":              "TestFlowRetry",
	"POST /aiflow/server/{serverId}/refresh":      "TestCredentialsAndServers",
	"POST /user/signup":                           "TestAccountAudit: it is in an account of its own",
	"POST /user/signup/confirm":                   "TestSignUpByMail",
	"POST /payments":                              "TestPayments",
	"POST /service-mcp/execute":                   "TestAuditOfFunctions",
	"POST /service-mcp/batch":                     "TestAuditOfFunctions",
	"POST /user/invitation/accept":                "TestAuditOfInvitations",
	"POST /user/oidc/connect":                     "TestAuditOfSignIn",
	"POST /user/logout":                           "the session ends with it",
	"POST /user/reset":                            "TestAuditOfAccess",
	"DELETE /user/sessions":                       "TestSessionsOfOthers",
	"DELETE /user/sessions/{sessionId}":           "TestSessionsOfOthers",
	"POST /user/second-factor":                    "it takes a code of a phone",
	"POST /user/second-factor/confirm":            "TestAuditOfAccess",
	"POST /user/second-factor/recovery":           "TestAuditOfAccess",
	"DELETE /user/second-factor":                  "TestAuditOfAccess",
	"DELETE /user/{userId}/second-factor":         "TestAuditOfAccess",
	"POST /user/passkeys/begin":                   "it only begins: a device has to answer first",
	"POST /user/passkeys":                         "TestPasskeys",
	"DELETE /user/passkeys/{passkeyId}":           "TestPasskeys",
	"DELETE /user/{userId}/passkeys":              "TestPasskeys_OfOthers",
	"POST /user/login/passkey/begin":              "it only begins: a device has to answer first",
	"POST /user/login/passkey":                    "TestPasskeys",
	"DELETE /account":                             "nothing of the account remains; the server's own log says it",
}

// unlogged are operations that change nothing of the account that is kept by
// hand, with the reason.
var unlogged = map[string]string{
	"POST /chats/send":                           "messages are a record themselves",
	"POST /chats/read":                           "reading is no change",
	"POST /reference/session/passkey":            "it continues a start, which is logged",
	"POST /chats/call/reject":                    "the call is a record itself",
	"POST /sandbox/{reference}/messages":         "is a message that comes",
	"POST /webhooks/provider":                    "the network calls it",
	"POST /templates/preview":                    "tries",
	"POST /aiflow/flow/{flowId}/draft-from-text": "suggests a draft, which PATCH keeps",
	"POST /aiflow/flow/{flowId}/replay":          "tries",
	"POST /aiflow/flow/{flowId}/simulate":        "tries",
	"POST /aiflow/flow/{flowId}/test":            "tries",
	"POST /aiflow/flow/{flowId}/validate":        "tries",
	"POST /aiflow/project/{projectId}/search":    "searches",
	"POST /bot/{botId}/replay":                   "tries",
	"POST /bot/{botId}/simulate":                 "tries",
	"POST /bot/{botId}/test":                     "tries",
	"POST /bot/{botId}/validate":                 "tries",
	"POST /extractor/{extractorId}/evaluate":     "tries",
	"POST /extractor/{extractorId}/run":          "tries",
}

// TestEveryChangeIsAudited plays every operation of the document that may
// change something: each leaves one entry, or is said not to.
func TestEveryChangeIsAudited(t *testing.T) {
	t.Parallel()
	onDoors(t, func(t *testing.T, f fixture, _ *sqlx.DB) {
		w := walk(t, f)
		stop := atWork(t, f)
		defer stop()
		for name, v := range belongings(t, w.client, "ana") {
			w.values[name] = v
		}
		w.values["soon"] = time.Now().Add(time.Hour).Unix()
		me := w.call(t, "GET", "/user/me", "").json(200)["id"]
		known := map[string]documented{}
		for _, op := range w.ops {
			known[op.name()] = op
			_, away := elsewhere[op.name()]
			_, never := unlogged[op.name()]
			listed := slices.ContainsFunc(changes, func(c audited) bool { return c.op == op.name() })
			if op.method != http.MethodGet {
				require.True(t, listed || away || never, "%s: say in changes what it leaves in the audit log", op.name())
			}
		}
		for name := range unlogged {
			a := w.fire(t, shot{why: "unlogged", op: known[name]})
			require.Empty(t, w.left(t, a.Header()), name)
		}
		for _, c := range changes {
			t.Run(c.op, func(t *testing.T) { w.leaves(t, c, known[c.op], me) })
		}
	})
}

// left are the entries that the request of an answer has left.
func (w *walker) left(t *testing.T, answer http.Header) []map[string]any {
	t.Helper()
	return slices.DeleteFunc(w.audited(t, "limit=20"), func(e map[string]any) bool { return e["requestId"] != answer.Get("X-Request-Id") })
}

// leaves plays a change, which leaves exactly one entry.
func (w *walker) leaves(t *testing.T, c audited, op documented, me any) {
	t.Helper()
	require.NotEmpty(t, op.path, "%s is not in the document", c.op)
	s := shot{why: "audited", op: op}
	if c.body != "" {
		s.body = []byte(w.fill(c.body))
	}
	a := w.fire(t, s)
	entries := w.left(t, a.Header())
	require.Less(t, a.Code, 300, "%s: %s", c.op, a.Body.String())
	require.Len(t, entries, 1, c.op)
	e := entries[0]
	require.Equal(t, string(c.action), e["action"], c.op)
	require.Equal(t, me, e["actor"].(map[string]any)["userId"], c.op)
	require.Regexp(t, `^10\.`, e["address"], c.op)
	require.NotContains(t, string(encode(t, e)), canary, "%s: neither secrets nor texts", c.op)
}

// TestChangesWithoutTheLog breaks the audit log: no change is made without its
// entry. What is refused leaves none, and neither does what fails at last.
func TestChangesWithoutTheLog(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seen, asked := testkit.Counting(t, db)
		f := setupOn(t, seen, keeping(t))
		stop := atWork(t, f)
		defer stop()
		ana := f.as(t, "ana")
		own := belongings(t, ana, "ana")
		fill := func(s string) string {
			for name, v := range own {
				s = strings.ReplaceAll(s, "{"+name+"}", fmt.Sprint(v))
			}
			return s
		}
		ana.call(t, "PATCH", fill("/aiflow/flow/{flowId}"), `{"draft":{"nodes":{}}}`).json(200)
		ana.call(t, "POST", fill("/aiflow/flow/{flowId}/publish"), "").problem(422, "validation")
		ana.call(t, "POST", fill("/aiflow/flow/{flowId}/rollback"), `{"version":99}`).problem(422, "validation")
		require.Empty(t, ana.audited(t, "action=flow.rollback"))
		require.Len(t, ana.audited(t, "action=flow.publish"), 1, "the one of the walk")

		type change struct{ method, path, body, show string }
		failing := []change{
			{"POST", "/aiflow/project", `{"name":"P"}`, "/aiflow/project/list"},
			{"DELETE", "/aiflow/project/{projectId}", "", "/aiflow/project/list"},
			{"POST", "/aiflow/flow", `{"projectId":"{projectId}","name":"F","draft":{}}`, "/aiflow/flow/list"},
			{"POST", "/aiflow/flow/{flowId}/rollback", `{"version":1}`, "/aiflow/flow/{flowId}"},
			{"POST", "/aiflow/run/{runId}/cancel", "", "/aiflow/run/{runId}"},
			{"DELETE", "/aiflow/project/{projectId}/file/{fileId}", "", "/aiflow/project/{projectId}/file"},
			{"DELETE", "/aiflow/credential/{credentialId}", "", "/aiflow/credential"},
			{"PATCH", "/aiflow/server/{serverId}", `{"enabled":false}`, "/aiflow/server"},
			{"POST", "/bot/{botId}/publish", "", "/bot/{botId}"},
			{"DELETE", "/bot/{botId}", "", "/bot/{botId}"},
			{"DELETE", "/extractor/{extractorId}", "", "/extractor/list"},
		}
		fail := func(t *testing.T) {
			t.Helper()
			for _, c := range failing {
				before := ana.call(t, "GET", fill(c.show), "").json(200)
				require.Equal(t, http.StatusInternalServerError, ana.call(t, c.method, fill(c.path), fill(c.body)).Code, c.path)
				require.Equal(t, before, ana.call(t, "GET", fill(c.show), "").json(200), "%s %s", c.method, c.path)
			}
		}
		before, written := ana.audited(t, "limit=200"), asked.Of("INSERT INTO auditlog_entry")
		asked.FailCommits("INSERT INTO auditlog_entry")
		fail(t)
		asked.FailCommits("")
		require.Equal(t, before, ana.audited(t, "limit=200"))
		require.GreaterOrEqual(t, asked.Of("INSERT INTO auditlog_entry"), written+len(failing), "each was written, and taken back")

		_, err := db.ExecContext(t.Context(), `ALTER TABLE auditlog_entry RENAME TO away`)
		require.NoError(t, err)
		fail(t)
	})
}
