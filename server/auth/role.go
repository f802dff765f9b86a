package auth

import "slices"

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
		{RoleOwner, "Everything, also of users who are added later: makes other owners and deletes the account", AllPermissions()},
		{RoleAdmin, "Everything except what concerns owners", AllPermissions()},
		{RoleBuilder, "Builds bots, flows, extractors, templates and webhooks, and tries them in chats", []Permission{
			ReferencesRead, ChatsRead, ChatsSend, TemplatesManage, BotsManage, FlowsManage, ExtractorsManage, WebhooksManage, UsageRead, MCPExecute,
		}},
		{RoleAgent, "Reads and answers chats", []Permission{ReferencesRead, ChatsRead, ChatsSend}},
		{RoleViewer, "Sees references, chats and what models cost, and changes nothing", []Permission{ReferencesRead, ChatsRead, UsageRead}},
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
