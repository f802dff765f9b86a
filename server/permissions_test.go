package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth"
)

// What an operation may need beside a permission.
const (
	public   = "public"               // no token
	anyUser  = "any user"             // a token, but no permission
	personal = "any user, by login"   // as well, but no scoped token
	byOwner  = "any user, an owner"   // as well, but only an owner of the account
	byLogin  = ", never by a program" // behind a permission: no scoped token
)

// permissions says who may do what. An operation that stands here by mistake,
// or does not stand here, fails [TestPermissionTable]: whoever adds one says first
// who may use it.
var permissions = map[string]string{
	"GET /probe":                             public,
	"POST /payments":                         public,
	"POST /user/invitation/accept":           public,
	"POST /user/invitation":                  string(auth.UsersManage) + byLogin,
	"DELETE /user/invitation/{invitationId}": string(auth.UsersManage) + byLogin,
	"GET /user/invitation":                   string(auth.UsersManage),
	"POST /user/login":                       public,
	"POST /user/reset":                       public,
	"POST /user/signup":                      public,
	"POST /user/signup/confirm":              public,
	"GET /webhooks/provider":                 public,
	"POST /webhooks/provider":                public,
	"GET /account":                           anyUser,
	"GET /jobs/{id}":                         anyUser,
	"GET /user/me":                           anyUser,
	"GET /user/permissions":                  anyUser,
	"GET /aiflow/palette":                    anyUser,
	"POST /user/logout":                      anyUser,
	"GET /user/methods":                      public,
	"POST /user/oidc/connect":                personal,
	"GET /user/second-factor":                personal,
	"POST /user/second-factor":               personal,
	"POST /user/second-factor/confirm":       personal,
	"POST /user/second-factor/recovery":      personal,
	"DELETE /user/second-factor":             personal,
	"DELETE /user/{userId}/second-factor":    string(auth.UsersManage) + byLogin,
	"GET /user/passkeys":                     personal,
	"POST /user/passkeys/begin":              personal,
	"POST /user/passkeys":                    personal,
	"DELETE /user/passkeys/{passkeyId}":      personal,
	"DELETE /user/{userId}/passkeys":         string(auth.UsersManage) + byLogin,
	"POST /user/login/passkey/begin":         public,
	"POST /user/login/passkey":               public,
	"GET /user/token":                        personal,
	"POST /user/token":                       personal,
	"DELETE /user/token/{tokenId}":           personal,
	"PATCH /user/{userId}":                   personal, // of others: see TestOtherUsers
	"GET /user/sessions":                     personal, // of others: see TestSessionsOfOthers
	"DELETE /user/sessions":                  personal,
	"DELETE /user/sessions/{sessionId}":      personal,
	"DELETE /account":                        byOwner,
	"POST /user":                             string(auth.UsersManage) + byLogin,
	"DELETE /user/{userId}":                  string(auth.UsersManage) + byLogin,
	"GET /user/list":                         string(auth.UsersManage),
	"GET /reference/list":                    string(auth.ReferencesRead),
	"GET /reference/{id}":                    string(auth.ReferencesRead),
	"GET /reference/session/status":          string(auth.ReferencesRead),
	"GET /reference/{id}/triggers":           string(auth.ReferencesRead),

	"GET /reference/{id}/dead-letters":                    string(auth.ChatsRead),
	"GET /reference/{id}/dead-letters/{letterId}":         string(auth.ChatsRead),
	"POST /reference/{id}/dead-letters/replay":            string(auth.ReferencesWrite),
	"POST /reference/{id}/dead-letters/{letterId}/replay": string(auth.ReferencesWrite),
	"DELETE /reference/{id}/dead-letters/{letterId}":      string(auth.ReferencesWrite),

	"POST /reference":                             string(auth.ReferencesWrite),
	"PATCH /reference/{id}":                       string(auth.ReferencesWrite),
	"DELETE /reference/{id}":                      string(auth.ReferencesWrite),
	"POST /sandbox/{reference}/messages":          string(auth.ReferencesWrite),
	"POST /reference/session/start":               string(auth.SessionsManage),
	"POST /reference/session/logout":              string(auth.SessionsManage),
	"GET /chats/list":                             string(auth.ChatsRead),
	"GET /chats/messages":                         string(auth.ChatsRead),
	"GET /chats/messages/search":                  string(auth.ChatsRead),
	"GET /messages/{messageId}":                   string(auth.ChatsRead),
	"GET /chats/stream":                           string(auth.ChatsRead),
	"GET /sandbox/{reference}/echo":               string(auth.ChatsRead),
	"GET /sandbox/{reference}/messages":           string(auth.ChatsRead),
	"GET /sandbox/{reference}/typing":             string(auth.ChatsRead),
	"GET /templates":                              string(auth.ChatsRead),
	"POST /templates/preview":                     string(auth.ChatsRead),
	"GET /chats/check":                            string(auth.ChatsRead),
	"GET /chats/explain":                          string(auth.ChatsRead),
	"GET /chats/group":                            string(auth.ChatsRead),
	"GET /chats/resolve":                          string(auth.ChatsRead),
	"GET /chats/export":                           string(auth.UsersManage),
	"DELETE /chats":                               string(auth.UsersManage),
	"PATCH /chats/group":                          string(auth.ChatsSend),
	"POST /chats/group":                           string(auth.ChatsSend),
	"POST /reference/session/passkey":             string(auth.SessionsManage),
	"POST /chats/call/reject":                     string(auth.ChatsSend),
	"PATCH /chats":                                string(auth.ChatsSend),
	"POST /chats/read":                            string(auth.ChatsSend),
	"POST /chats/send":                            string(auth.ChatsSend),
	"POST /media":                                 string(auth.ChatsSend),
	"POST /templates":                             string(auth.TemplatesManage),
	"DELETE /templates":                           string(auth.TemplatesManage),
	"GET /references/hookconf":                    string(auth.WebhooksManage),
	"POST /references/hookconf":                   string(auth.WebhooksManage),
	"PATCH /references/hookconf/{endpointId}":     string(auth.WebhooksManage),
	"DELETE /references/hookconf/{endpointId}":    string(auth.WebhooksManage),
	"POST /references/hookconf/{endpointId}/test": string(auth.WebhooksManage),
	"POST /references/registerWebHook":            string(auth.WebhooksManage),
	"GET /service-mcp/functions":                  string(auth.MCPExecute),
	"POST /service-mcp/execute":                   string(auth.MCPExecute),
	"POST /service-mcp/batch":                     string(auth.MCPExecute),
	"GET /aiusage/rollup":                         string(auth.UsageRead),
	"GET /aiusage/detail":                         string(auth.UsageRead),
	"GET /aiusage/missing-pricing":                string(auth.UsageRead),
	"GET /aiusage/pricing":                        string(auth.UsageRead),
	"PUT /aiusage/pricing":                        string(auth.UsersManage) + byLogin,
	"POST /aiusage/reprice":                       string(auth.UsersManage),
	"GET /aiusage/budget":                         string(auth.UsageRead),
	"PUT /aiusage/budget":                         string(auth.UsersManage),
	"GET /service-mcp/audit":                      string(auth.UsersManage),
	"GET /audit":                                  string(auth.UsersManage),
	"GET /references/deliveries":                  string(auth.WebhooksManage),
	"GET /aiflow/model":                           string(auth.FlowsManage),
	"POST /aiflow/project":                        string(auth.FlowsManage),
	"GET /aiflow/project/list":                    string(auth.FlowsManage),
	"GET /aiflow/project/{projectId}":             string(auth.FlowsManage),
	"PATCH /aiflow/project/{projectId}":           string(auth.FlowsManage),
	"DELETE /aiflow/project/{projectId}":          string(auth.FlowsManage),
	"GET /aiflow/project/{projectId}/export":      string(auth.FlowsManage),
	"POST /aiflow/project/import":                 string(auth.FlowsManage),
	"POST /aiflow/flow":                           string(auth.FlowsManage),
	"GET /aiflow/flow/list":                       string(auth.FlowsManage),
	"GET /aiflow/flow/{flowId}":                   string(auth.FlowsManage),
	"PATCH /aiflow/flow/{flowId}":                 string(auth.FlowsManage),
	"DELETE /aiflow/flow/{flowId}":                string(auth.FlowsManage),
	"POST /aiflow/flow/{flowId}/publish":          string(auth.FlowsManage),
	"POST /aiflow/flow/{flowId}/simulate":         string(auth.FlowsManage),
	"POST /aiflow/flow/{flowId}/rename":           string(auth.FlowsManage),
	"POST /aiflow/flow/{flowId}/replay":           string(auth.FlowsManage),
	"POST /bot/{botId}/replay":                    string(auth.BotsManage),
	"GET /aiflow/flow/{flowId}/test":              string(auth.FlowsManage),
	"PUT /aiflow/flow/{flowId}/test":              string(auth.FlowsManage),
	"POST /aiflow/flow/{flowId}/test":             string(auth.FlowsManage),
	"POST /aiflow/flow/{flowId}/validate":         string(auth.FlowsManage),
	"GET /aiflow/flow/{flowId}/versions":          string(auth.FlowsManage),
	"POST /aiflow/flow/{flowId}/rollback":         string(auth.FlowsManage),
	"GET /aiflow/flow/{flowId}/diff":              string(auth.FlowsManage),
	"GET /aiflow/flow/{flowId}/usedby":            string(auth.FlowsManage),
	"GET /aiflow/flow/{flowId}/bind":              string(auth.FlowsManage),
	"PUT /aiflow/flow/{flowId}/bind":              string(auth.FlowsManage),
	"POST /aiflow/run":                            string(auth.FlowsManage),
	"GET /aiflow/run":                             string(auth.FlowsManage),
	"GET /aiflow/run/{runId}":                     string(auth.FlowsManage),
	"POST /aiflow/run/{runId}/cancel":             string(auth.FlowsManage),
	"POST /aiflow/run/{runId}/retry":              string(auth.FlowsManage),
	"POST /aiflow/run/{runId}/event":              string(auth.FlowsManage),
	"POST /aiflow/run/{runId}/approve":            string(auth.FlowsManage) + byLogin,
	"POST /aiflow/credential":                     string(auth.FlowsManage),
	"GET /aiflow/credential":                      string(auth.FlowsManage),
	"DELETE /aiflow/credential/{credentialId}":    string(auth.FlowsManage),
	"POST /aiflow/server":                         string(auth.FlowsManage),
	"GET /aiflow/server":                          string(auth.FlowsManage),
	"GET /aiflow/server/{serverId}":               string(auth.FlowsManage),
	"PATCH /aiflow/server/{serverId}":             string(auth.FlowsManage),
	"DELETE /aiflow/server/{serverId}":            string(auth.FlowsManage),
	"POST /aiflow/server/{serverId}/refresh":      string(auth.FlowsManage),
	"POST /references/deliveries/replay":          string(auth.WebhooksManage),
	"POST /extractor":                             string(auth.ExtractorsManage),
	"GET /extractor/list":                         string(auth.ExtractorsManage),
	"GET /extractor/{extractorId}":                string(auth.ExtractorsManage),
	"PATCH /extractor/{extractorId}":              string(auth.ExtractorsManage),
	"DELETE /extractor/{extractorId}":             string(auth.ExtractorsManage),
	"POST /extractor/{extractorId}/run":           string(auth.ExtractorsManage),
	"POST /extractor/{extractorId}/evaluate":      string(auth.ExtractorsManage),
	"POST /bot":                                   string(auth.BotsManage),
	"GET /bot/list":                               string(auth.BotsManage),
	"GET /bot/{botId}":                            string(auth.BotsManage),
	"PATCH /bot/{botId}":                          string(auth.BotsManage),
	"DELETE /bot/{botId}":                         string(auth.BotsManage),
	"POST /bot/{botId}/publish":                   string(auth.BotsManage),
	"POST /bot/{botId}/simulate":                  string(auth.BotsManage),
	"GET /bot/{botId}/test":                       string(auth.BotsManage),
	"PUT /bot/{botId}/test":                       string(auth.BotsManage),
	"POST /bot/{botId}/test":                      string(auth.BotsManage),
	"POST /bot/{botId}/validate":                  string(auth.BotsManage),
	"GET /bot/{botId}/versions":                   string(auth.BotsManage),
	"POST /bot/{botId}/run":                       string(auth.BotsManage),
	"GET /bot/{botId}/runs":                       string(auth.BotsManage),
	"GET /bot/run/{runId}":                        string(auth.BotsManage),

	"GET /aiflow/project/{projectId}/file":             string(auth.FlowsManage),
	"POST /aiflow/project/{projectId}/file":            string(auth.FlowsManage),
	"DELETE /aiflow/project/{projectId}/file/{fileId}": string(auth.FlowsManage),
	"POST /aiflow/project/{projectId}/search":          string(auth.FlowsManage),
	"POST /aiflow/flow/{flowId}/draft-from-text":       string(auth.FlowsManage),
}

// pages are what the router has beside operations; nobody needs a token for
// them, but for /mcp and the routes of the Cloud API: see TestProtocolHandler and
// TestCloudAPI_Refused.
var pages = []string{
	"POST /{version}/{object}/messages", "POST /{version}/{object}/media", "GET /{version}/{object}",
	"GET /mcp", "POST /mcp", "DELETE /mcp", "GET /.well-known/oauth-protected-resource/mcp",
	"GET /", "GET /panel", "GET /panel/", "GET /files/", "GET /swagger", "GET /swagger/", "GET /swagger/init.js", "GET /swagger/openapi.json",
	"GET /swagger/swagger-ui-bundle.js", "GET /swagger/swagger-ui.css",
}

// name is how the table calls an operation.
func (op documented) name() string { return op.method + " " + op.path }

// needs is what the document says that an operation needs, in the words of the
// table.
func (op documented) needs(t *testing.T) string {
	t.Helper()
	if len(op.Security) == 0 {
		return public
	}
	for _, way := range op.Security { // each with the same permission
		for _, need := range way {
			require.Equal(t, op.Security[0]["bearer"], need, op.name())
		}
	}
	need := op.Security[0]["bearer"]
	switch {
	case len(need) == 0 && op.OwnerOnly:
		require.True(t, op.LoginOnly, op.name())
		return byOwner
	case len(need) == 0 && op.LoginOnly:
		return personal
	case len(need) == 0:
		return anyUser
	case op.LoginOnly:
		return need[0] + byLogin
	}
	return need[0]
}

// permission is the one that an operation needs, or "".
func (op documented) permission() string {
	need, _, _ := strings.Cut(permissions[op.name()], ",")
	if need == public || need == anyUser {
		return ""
	}
	return need
}

// unlisted are routes of which the table does not say who may use them.
func unlisted(routes []string) []string {
	return slices.DeleteFunc(slices.Clone(routes), func(r string) bool { return permissions[r] != "" || slices.Contains(pages, r) })
}

// TestPermissionTable compares what the server says with the table, and shows
// that a route which nobody has thought of is found.
func TestPermissionTable(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	w := walk(t, f)
	found := map[string]string{}
	for _, op := range w.ops {
		found[op.name()] = op.needs(t)
	}
	require.Equal(t, permissions, found)
	require.Empty(t, unlisted(f.Routes()))
	f.AddTestRoutes()
	require.Contains(t, unlisted(f.Routes()), "GET /test/manage")
}
