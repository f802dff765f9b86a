package auth

import (
	"slices"
	"strings"
)

// Permission is the right to use a group of operations.
type Permission string

// The permissions.
const (
	UsersManage      Permission = "users.manage"
	ReferencesRead   Permission = "references.read"
	ReferencesWrite  Permission = "references.write"
	SessionsManage   Permission = "sessions.manage"
	ChatsRead        Permission = "chats.read"
	ChatsSend        Permission = "chats.send"
	TemplatesManage  Permission = "templates.manage"
	BotsManage       Permission = "bots.manage"
	FlowsManage      Permission = "flows.manage"
	ExtractorsManage Permission = "extractors.manage"
	WebhooksManage   Permission = "webhooks.manage"
	UsageRead        Permission = "usage.read"
	MCPExecute       Permission = "mcp.execute"
)

// AllPermissions returns every permission, which the first user of an account
// has.
func AllPermissions() []Permission {
	return []Permission{
		UsersManage, ReferencesRead, ReferencesWrite, SessionsManage, ChatsRead, ChatsSend, TemplatesManage,
		BotsManage, FlowsManage, ExtractorsManage, WebhooksManage, UsageRead, MCPExecute,
	}
}

// joinPermissions writes the column that splitPermissions reads.
func joinPermissions(ps []Permission) string {
	names := make([]string, len(ps))
	for i, p := range ps {
		names[i] = string(p)
	}
	return strings.Join(names, " ")
}

// splitPermissions skips names that this version does not know: another node
// may be newer.
func splitPermissions(column string) []Permission {
	all, ps := AllPermissions(), []Permission{}
	for _, name := range strings.Fields(column) {
		if slices.Contains(all, Permission(name)) {
			ps = append(ps, Permission(name))
		}
	}
	return ps
}
