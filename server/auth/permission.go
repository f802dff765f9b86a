package auth

import (
	"slices"
	"strings"
)

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
		{UsersManage, "Manage the users of the account, export and erase stored data about contacts, read the audit log"},
		{ReferencesRead, "See references and their sessions"},
		{ReferencesWrite, "Add, change and delete references, and simulate contacts"},
		{SessionsManage, "Start and log out sessions"},
		{ChatsRead, "Read chats, messages and templates"},
		{ChatsSend, "Send messages and files, mark chats as read, change the data of chats"},
		{TemplatesManage, "Create and delete message templates"},
		{BotsManage, "Build, publish and run bots"},
		{FlowsManage, "Build, publish and run flows, with their credentials, MCP servers and approvals"},
		{ExtractorsManage, "Configure and run extractors"},
		{WebhooksManage, "Configure webhooks, read and replay deliveries"},
		{UsageRead, "See the use of language models and its cost"},
		{MCPExecute, "Call functions like an agent; each function needs its own permission, too"},
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

// Role is a name for a set of permissions.
type Role string

// The roles. A user with another set of permissions has none.
const (
	RoleOwner   Role = "owner"
	RoleAdmin   Role = "admin"
	RoleBuilder Role = "builder"
	RoleAgent   Role = "agent"
	RoleViewer  Role = "viewer"
)

// RoleSet is a role with what it is for and what it permits.
type RoleSet struct {
	Name        Role
	Description string
	Permissions []Permission
}

// Roles describes every role, that with the most permissions first.
func Roles() []RoleSet {
	return []RoleSet{
		{RoleOwner, "Has every permission; creates other owners and deletes the account", AllPermissions()},
		{RoleAdmin, "Has every permission, but cannot change owners or delete the account", AllPermissions()},
		{RoleBuilder, "Builds bots, flows, extractors, templates and webhooks, and tries them in chats", []Permission{
			ReferencesRead, ChatsRead, ChatsSend, TemplatesManage, BotsManage, FlowsManage, ExtractorsManage, WebhooksManage, UsageRead, MCPExecute,
		}},
		{RoleAgent, "Reads and answers chats", []Permission{ReferencesRead, ChatsRead, ChatsSend}},
		{RoleViewer, "Sees references, chats and the cost of models, and changes nothing", []Permission{ReferencesRead, ChatsRead, UsageRead}},
	}
}

// roleOf names the role of a user, or returns "" for a set of its own.
func roleOf(owner bool, ps []Permission) Role {
	if owner {
		return RoleOwner
	}
	for _, r := range Roles() {
		if r.Name != RoleOwner && slices.Equal(r.Permissions, ps) {
			return r.Name
		}
	}
	return ""
}

// rights are what a user is to have: those of the role, or "" and ps.
func rights(role Role, ps []Permission) (owner bool, out []Permission, err error) {
	if role == "" {
		out, err = normalPermissions(ps)
		return false, out, err
	}
	if ps != nil {
		return false, nil, &Invalid{Field: "role", Message: "cannot be given together with permissions"}
	}
	for _, r := range Roles() {
		if r.Name == role {
			return role == RoleOwner, r.Permissions, nil
		}
	}
	return false, nil, &Invalid{Field: "role", Message: "must be owner, admin, builder, agent or viewer"}
}
