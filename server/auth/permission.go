package auth

import "strings"

// Permission is the right to use a group of operations, on every reference of
// an account or, as in "chats.read@17", on one: see [Permission.On].
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

// Described is a permission and what it is for.
type Described struct {
	Name        Permission
	Description string
}

// Catalogue describes every permission.
func Catalogue() []Described {
	return []Described{
		{UsersManage, "Manage the users of the account, export and erase what is held on contacts, read the audit log"},
		{ReferencesRead, "See the lines and their sessions"},
		{ReferencesWrite, "Add, change and delete lines, and let simulated contacts write"},
		{SessionsManage, "Start and log out sessions"},
		{ChatsRead, "Read chats, messages and templates"},
		{ChatsSend, "Send messages and files, mark chats as read, change what is kept with a chat"},
		{TemplatesManage, "Create and delete message templates"},
		{BotsManage, "Build, publish and run bots"},
		{FlowsManage, "Build, publish and run flows, with their credentials, servers and approvals"},
		{ExtractorsManage, "Configure and run extractors"},
		{WebhooksManage, "Configure webhooks, read and replay deliveries"},
		{UsageRead, "See what models were used and what it cost"},
		{MCPExecute, "Call functions as an agent does; each needs its own permission, too"},
	}
}

// AllPermissions returns every permission, which the first user of an account
// has.
func AllPermissions() []Permission {
	all := Catalogue()
	out := make([]Permission, len(all))
	for i, d := range all {
		out[i] = d.Name
	}
	return out
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
	ps := []Permission{}
	for _, name := range strings.Fields(column) {
		if p := Permission(name); p.known() {
			ps = append(ps, p)
		}
	}
	return ps
}
