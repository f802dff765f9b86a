package audit

import (
	"maps"
	"slices"
)

// Action is a kind of change: the type of the object, a dot, and what is done to
// it.
type Action string

// The actions. Their meanings are below and in docs/audit.md.
const (
	AccountCreate Action = "account.create"
	AccountDelete Action = "account.delete"
	AccountQuota  Action = "account.quota"
	AccountPlan   Action = "account.plan"

	UserCreate       Action = "user.create"
	UserUpdate       Action = "user.update"
	UserDelete       Action = "user.delete"
	UserLogin        Action = "user.login"
	UserLoginFailed  Action = "user.loginFailed"
	UserLogout       Action = "user.logout"
	UserRequestReset Action = "user.requestReset"
	UserReset        Action = "user.reset"
	UserDisable      Action = "user.disable"
	UserEnable       Action = "user.enable"
	UserSecondFactor Action = "user.secondFactor"
	UserConnect      Action = "user.connect"
	UserPasskey      Action = "user.passkey"
	TokenCreate      Action = "token.create"
	TokenRevoke      Action = "token.revoke"
	SessionRevoke    Action = "session.revoke"
	InvitationCreate Action = "invitation.create"
	InvitationRevoke Action = "invitation.revoke"
	InvitationAccept Action = "invitation.accept"

	ReferenceCreate  Action = "reference.create"
	ReferenceUpdate  Action = "reference.update"
	ReferenceDelete  Action = "reference.delete"
	ReferenceConnect Action = "reference.connect"
	ReferenceLogout  Action = "reference.logout"

	ChatUpdate     Action = "chat.update"
	ChatErase      Action = "chat.erase"
	ChatExport     Action = "chat.export"
	GroupCreate    Action = "group.create"
	GroupUpdate    Action = "group.update"
	MediaCreate    Action = "media.create"
	TemplateCreate Action = "template.create"
	TemplateDelete Action = "template.delete"

	WebhookCreate    Action = "webhook.create"
	WebhookUpdate    Action = "webhook.update"
	WebhookDelete    Action = "webhook.delete"
	WebhookSubscribe Action = "webhook.subscribe"
	WebhookTest      Action = "webhook.test"
	WebhookReplay    Action = "webhook.replay"

	CredentialCreate Action = "credential.create" //nolint:gosec // is the name of an action
	CredentialDelete Action = "credential.delete" //nolint:gosec // as above

	ProjectCreate Action = "project.create"
	ProjectUpdate Action = "project.update"
	ProjectDelete Action = "project.delete"
	ProjectImport Action = "project.import"
	ProjectExport Action = "project.export"
	FileCreate    Action = "file.create"
	FileDelete    Action = "file.delete"

	FlowCreate   Action = "flow.create"
	FlowUpdate   Action = "flow.update"
	FlowDelete   Action = "flow.delete"
	FlowPublish  Action = "flow.publish"
	FlowRollback Action = "flow.rollback"
	FlowRename   Action = "flow.rename"
	FlowBind     Action = "flow.bind"
	FlowTests    Action = "flow.tests"

	BotCreate  Action = "bot.create"
	BotUpdate  Action = "bot.update"
	BotDelete  Action = "bot.delete"
	BotPublish Action = "bot.publish"
	BotTests   Action = "bot.tests"

	RunStart   Action = "run.start"
	RunApprove Action = "run.approve"
	RunCancel  Action = "run.cancel"
	RunRetry   Action = "run.retry"
	RunEvent   Action = "run.event"

	ServerCreate  Action = "server.create"
	ServerUpdate  Action = "server.update"
	ServerDelete  Action = "server.delete"
	ServerRefresh Action = "server.refresh"

	ExtractorCreate Action = "extractor.create"
	ExtractorUpdate Action = "extractor.update"
	ExtractorDelete Action = "extractor.delete"

	BudgetUpdate  Action = "budget.update"
	PricingUpdate Action = "pricing.update"
	UsageReprice  Action = "usage.reprice"

	AuditExport Action = "audit.export"
)

// meanings tell what the actor did, for the documentation.
var meanings = map[Action]string{ //nolint:gosec // are sentences
	AccountCreate: "signed up, which makes an account and its first user",
	AccountDelete: "closed the account",
	AccountQuota:  "set the quotas of the account",
	AccountPlan:   "changed what is subscribed to, as the payment service says",

	UserCreate:       "added a user",
	UserUpdate:       "changed a user; `changed` has the names, never a password",
	UserDelete:       "deleted a user",
	UserLogin:        "logged in",
	UserLoginFailed:  "gave a wrong password of a user, the right one of a disabled user, or a passkey that was refused; `copied` names one whose counter went back",
	UserLogout:       "logged out",
	UserRequestReset: "made a link to set a new password, from the command line",
	UserReset:        "set a new password without the old one: by a link, or from the command line",
	UserDisable:      "disabled a user",
	UserEnable:       "enabled a user",
	UserConnect:      "connected a user with an identity at the sign-in provider",
	UserSecondFactor: "turned the second factor of a user on or off, or replaced the recovery codes",
	UserPasskey:      "added or removed a passkey of a user; `added` and `removed` have its name, `removedAll` how many there were",
	TokenCreate:      "made a token for a program",
	TokenRevoke:      "revoked a token for a program",
	SessionRevoke:    "ended a session of a user, or all of them",
	InvitationCreate: "invited a person into the account",
	InvitationRevoke: "revoked an invitation",
	InvitationAccept: "accepted an invitation, which makes a user",

	ReferenceCreate:  "added a reference",
	ReferenceUpdate:  "changed a reference; of its settings the names",
	ReferenceDelete:  "removed a reference with its chats and messages",
	ReferenceConnect: "had a reference connect to its network, or be linked to a phone",
	ReferenceLogout:  "ended the session of a reference",

	ChatUpdate:     "changed what is kept with a chat",
	ChatErase:      "erased everything that is held on a contact or a group",
	ChatExport:     "read everything that is held on a contact",
	GroupCreate:    "made a group",
	GroupUpdate:    "changed a group, or left it",
	MediaCreate:    "kept a file to be sent",
	TemplateCreate: "handed in a message template",
	TemplateDelete: "deleted a message template",

	WebhookCreate:    "added a webhook",
	WebhookUpdate:    "changed a webhook, or rotated its secret",
	WebhookDelete:    "removed a webhook",
	WebhookSubscribe: "had the network report to this server",
	WebhookTest:      "sent a test event to a webhook",
	WebhookReplay:    "had events delivered again",

	CredentialCreate: "kept a credential",
	CredentialDelete: "deleted a credential",

	ProjectCreate: "made a project",
	ProjectUpdate: "changed a project",
	ProjectDelete: "deleted a project with its flows",
	ProjectImport: "made a project of a document",
	ProjectExport: "read a project as a document",
	FileCreate:    "gave the assistants of a project a file",
	FileDelete:    "took a file from the assistants of a project",

	FlowCreate:   "made a flow or a function",
	FlowUpdate:   "changed the name or the draft of a flow",
	FlowDelete:   "deleted a flow",
	FlowPublish:  "published a flow",
	FlowRollback: "made an earlier version of a flow the one that runs",
	FlowRename:   "gave a flow another slug",
	FlowBind:     "had a flow listen on a reference, or not",
	FlowTests:    "changed the tests of a flow",

	BotCreate:  "made a bot",
	BotUpdate:  "changed a bot",
	BotDelete:  "deleted a bot",
	BotPublish: "published a bot",
	BotTests:   "changed the tests of a bot",

	RunStart:   "ran a flow or a bot",
	RunApprove: "let an agent use a tool, or not",
	RunCancel:  "ended a run",
	RunRetry:   "had a failed run go on",
	RunEvent:   "gave a run an event",

	ServerCreate:  "registered a foreign MCP server",
	ServerUpdate:  "changed a foreign MCP server, or approved its tools",
	ServerDelete:  "deleted a foreign MCP server",
	ServerRefresh: "asked a foreign MCP server for its tools",

	ExtractorCreate: "made an extractor",
	ExtractorUpdate: "changed an extractor",
	ExtractorDelete: "deleted an extractor",

	BudgetUpdate:  "set the budgets for language models",
	PricingUpdate: "set prices of language models",
	UsageReprice:  "had calls of language models priced again",

	AuditExport: "read this log as CSV",
}

// Actions returns all actions, sorted by name.
func Actions() []Action { return slices.Sorted(maps.Keys(meanings)) }

// Meaning returns what the actor did, as the end of a sentence.
func (a Action) Meaning() string { return meanings[a] }
