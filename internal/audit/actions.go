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

	CallbackReplay Action = "callback.replay"
	CallbackDelete Action = "callback.delete"

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
	AccountDelete: "deleted the account",
	AccountQuota:  "set the quotas of the account",
	AccountPlan:   "changed the subscription, as the payment service reports",

	UserCreate:       "added a user",
	UserUpdate:       "changed a user; `changed` has the names, never a password",
	UserDelete:       "deleted a user",
	UserLogin:        "logged in",
	UserLoginFailed:  "gave a wrong password of a user, the right one of a disabled user, or a passkey that was refused; `copied` names a passkey whose counter decreased",
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
	ReferenceUpdate:  "changed a reference; of its settings only the names are recorded",
	ReferenceDelete:  "removed a reference with its chats and messages",
	ReferenceConnect: "connected a reference to its network, or linked it to a phone",
	ReferenceLogout:  "ended the session of a reference",

	CallbackReplay: "replayed items of callbacks that could not be read",
	CallbackDelete: "deleted an item of a callback that could not be read",

	ChatUpdate:     "changed the data of a chat",
	ChatErase:      "erased everything stored about a contact or a group",
	ChatExport:     "exported everything stored about a contact",
	GroupCreate:    "made a group",
	GroupUpdate:    "changed a group, or left it",
	MediaCreate:    "uploaded a file to send",
	TemplateCreate: "submitted a message template",
	TemplateDelete: "deleted a message template",

	WebhookCreate:    "added a webhook",
	WebhookUpdate:    "changed a webhook, or rotated its secret",
	WebhookDelete:    "removed a webhook",
	WebhookSubscribe: "subscribed this server to the network's reports",
	WebhookTest:      "sent a test event to a webhook",
	WebhookReplay:    "replayed events",

	CredentialCreate: "stored a credential",
	CredentialDelete: "deleted a credential",

	ProjectCreate: "made a project",
	ProjectUpdate: "changed a project",
	ProjectDelete: "deleted a project with its flows",
	ProjectImport: "imported a project",
	ProjectExport: "exported a project",
	FileCreate:    "added a file to a project",
	FileDelete:    "removed a file from a project",

	FlowCreate:   "made a flow or a function",
	FlowUpdate:   "changed the name or the draft of a flow",
	FlowDelete:   "deleted a flow",
	FlowPublish:  "published a flow",
	FlowRollback: "rolled a flow back to an earlier version",
	FlowRename:   "changed the slug of a flow",
	FlowBind:     "bound a flow to a reference, or unbound it",
	FlowTests:    "changed the tests of a flow",

	BotCreate:  "made a bot",
	BotUpdate:  "changed a bot",
	BotDelete:  "deleted a bot",
	BotPublish: "published a bot",
	BotTests:   "changed the tests of a bot",

	RunStart:   "ran a flow or a bot",
	RunApprove: "approved or refused an agent's call of a tool",
	RunCancel:  "ended a run",
	RunRetry:   "retried a failed run",
	RunEvent:   "sent an event to a run",

	ServerCreate:  "registered a foreign MCP server",
	ServerUpdate:  "changed a foreign MCP server, or approved its tools",
	ServerDelete:  "deleted a foreign MCP server",
	ServerRefresh: "fetched the tools of a foreign MCP server",

	ExtractorCreate: "made an extractor",
	ExtractorUpdate: "changed an extractor",
	ExtractorDelete: "deleted an extractor",

	BudgetUpdate:  "set the budgets for language models",
	PricingUpdate: "set prices of language models",
	UsageReprice:  "priced calls of language models again",

	AuditExport: "read this log as CSV",
}

// Actions returns all actions, sorted by name.
func Actions() []Action { return slices.Sorted(maps.Keys(meanings)) }

// Meaning returns what the actor did, as the end of a sentence.
func (a Action) Meaning() string { return meanings[a] }
