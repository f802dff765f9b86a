// Code generated from the OpenAPI document; DO NOT EDIT.

package client

import "encoding/json"

type AcceptInvitationRequest struct {
	// Whether to set a session cookie as well. Default: false.
	Cookie *bool `json:"cookie,omitzero"`
	// Name of the user. Required if the invitation has no name.
	Name     *string `json:"name,omitzero"`
	Password string  `json:"password"`
	// The part of the link after the #.
	Token string `json:"token"`
}

type Account struct {
	// End of the subscription's current period; null if unknown.
	CurrentPeriodEnd *int64 `json:"currentPeriodEnd"`
	ID               string `json:"id"`
	// Name of the plan; null if there is no subscription.
	Plan   *string       `json:"plan"`
	Quotas AccountQuotas `json:"quotas"`
	// Stripe's status of the subscription: trialing, active, past_due, canceled, unpaid, paused or
	// another; null if there is no subscription.
	Status *string      `json:"status"`
	Usage  AccountUsage `json:"usage"`
}

type AccountQuotas struct {
	// Requests per minute, on each node of the server.
	API QuotaState `json:"api"`
	// Number of chats with people. A contact who writes first is never refused.
	Contacts QuotaState `json:"contacts"`
	// Messages sent by the account, per day in UTC. Received messages are never refused.
	Messages QuotaState `json:"messages"`
	// Number of connected numbers, pages and accounts (references).
	References QuotaState `json:"references"`
	// Runs of flows and bots, per day in UTC. A run that a contact's message starts is counted, but
	// never refused.
	Runs QuotaState `json:"runs"`
	// Bytes of the files of chats and projects, and of the published versions of flows and bots. A
	// file from a contact is never refused.
	Storage QuotaState `json:"storage"`
}

type AccountUsage struct {
	// Webhook deliveries that succeeded.
	Deliveries int64 `json:"deliveries"`
	// Size of the files stored now, in bytes.
	MediaBytes int64 `json:"mediaBytes"`
	// Messages received from contacts, including deleted ones.
	MessagesIn int64 `json:"messagesIn"`
	// Messages sent by the account, from this server or another device.
	MessagesOut int64 `json:"messagesOut"`
	// Number of references of the account.
	References int64 `json:"references"`
	// Time from which messages and deliveries are counted: the start of this month in UTC. UNIX
	// seconds.
	Since Time `json:"since"`
	// Number of users of the account.
	Users int64 `json:"users"`
}

type ActiveBot struct {
	Engine string `json:"engine"`
	ID     string `json:"id"`
}

type AddPasskeyRequest struct {
	// The result of toJSON() of the browser's credential.
	Credential map[string]json.RawMessage `json:"credential"`
	// Name by which the user recognizes the passkey.
	Name string `json:"name"`
}

type AddRequest struct {
	// File name. Its extension tells the type.
	Name string `json:"name"`
	// Content of the file.
	Text string `json:"text"`
	// Media type of the file. Required if the extension does not tell it.
	Type *string `json:"type,omitzero"`
}

type AgentEntry struct {
	// An object; null if there are no arguments or they exceed 2 KiB.
	Arguments json.RawMessage `json:"arguments"`
	// Names of the tools that the answer calls.
	Calls []string `json:"calls"`
	// Micro-USD, with at most three decimals. One million are one USD.
	Cost *float64 `json:"cost"`
	// UNIX seconds.
	EndedAt *Time `json:"endedAt"`
	// Error code of a failed attempt.
	Error *string `json:"error"`
	// Number of input tokens.
	InputTokens int64 `json:"inputTokens"`
	// Whether the call failed or was not made.
	IsError bool `json:"isError"`
	// turn: an answer of the model; tool: a call of a tool; told: a message to the model. One of turn,
	// tool, told.
	Kind  string  `json:"kind"`
	Model *string `json:"model"`
	Node  string  `json:"node"`
	// Number of output tokens, including reasoning.
	OutputTokens int64  `json:"outputTokens"`
	Result       string `json:"result"`
	// Number within the session, from 1.
	Seq int64 `json:"seq"`
	// Id of one visit to the node.
	Session string `json:"session"`
	// Size of the complete result, in bytes.
	Size int64 `json:"size"`
	// UNIX seconds.
	StartedAt *Time `json:"startedAt"`
	// asked: it waits for approval; unknown: its outcome is unknown. One of asked, approved, denied,
	// started, done, failed, unknown.
	Status string `json:"status"`
	// The reason why the model stopped.
	Stop *string `json:"stop"`
	// Text of the answer or message. Like result, it has at most 2 KiB; a longer text is shortened in
	// the middle.
	Text string `json:"text"`
	// Name of the tool, as in flows.
	Tool *string `json:"tool"`
}

type AiflowCreateRequest struct {
	// A document of the flow language. A draft may be any object.
	Draft     json.RawMessage `json:"draft,omitzero"`
	Name      string          `json:"name"`
	ProjectID string          `json:"projectId"`
}

type AiflowUpdateRequest struct {
	// A document of the flow language. A draft may be any object.
	Draft json.RawMessage `json:"draft,omitzero"`
	Name  *string         `json:"name,omitzero"`
}

type AnswerPasskeyRequest struct {
	// true: the code of the session is the one on the phone.
	Confirmed *bool `json:"confirmed,omitzero"`
	// The result of navigator.credentials.get: PublicKeyCredential.toJSON().
	Credential *PasskeyCredential `json:"credential,omitzero"`
	// Id of the reference.
	Reference int64 `json:"reference"`
}

type ApproveRequest struct {
	Approved bool   `json:"approved"`
	StepID   string `json:"stepId"`
}

type ApprovedTool struct {
	Description string `json:"description"`
	Destructive bool   `json:"destructive"`
	Idempotent  bool   `json:"idempotent"`
	OpenWorld   bool   `json:"openWorld"`
	ReadOnly    bool   `json:"readOnly"`
	// JSON Schema of the arguments.
	Schema json.RawMessage `json:"schema"`
}

type Attempt struct {
	// UNIX seconds.
	At Time `json:"at"`
	// Milliseconds.
	DurationMs int64 `json:"durationMs"`
	// null after a 2xx response.
	Error *string `json:"error"`
	// The first KiB of the response body.
	Response string `json:"response"`
	// HTTP status of the response; null if there was none.
	StatusCode *int64 `json:"statusCode"`
}

type AuditActor struct {
	// E-mail of the user at that time.
	Email *string `json:"email"`
	// cookie: a person in a browser; login: the token of a login; token: a token for programs; agent:
	// a model or a flow; operator: the server's command line; system: the server itself; nobody: a
	// login that failed. One of cookie, login, token, agent, operator, system, nobody.
	Kind string `json:"kind"`
	// Id of the run in which an agent acted.
	RunID *string `json:"runId"`
	// Id of the token that was used.
	TokenID *string `json:"tokenId"`
	// Id of the user, who may have been deleted since.
	UserID *string `json:"userId"`
}

type AuditEntry struct {
	// The action. docs/audit.md lists all.
	Action string     `json:"action"`
	Actor  AuditActor `json:"actor"`
	// Address of the client; null if there was no request.
	Address *string `json:"address"`
	// UNIX seconds.
	At Time `json:"at"`
	// An object. changed has the names of the changed fields; other members depend on the action.
	Details json.RawMessage `json:"details"`
	ID      string          `json:"id"`
	Object  AuditObject     `json:"object"`
	// The reference that the object is or belongs to.
	Reference *int64 `json:"reference"`
	// X-Request-Id of the response; null if there was no request.
	RequestID *string `json:"requestId"`
}

type AuditObject struct {
	// null if it has none, or is an erased contact.
	ID *string `json:"id"`
	// Name of the object at that time.
	Name *string `json:"name"`
	Type string  `json:"type"`
}

type AuditedCall struct {
	// The arguments, as an object. A text in brackets replaces a value that is not recorded.
	Arguments json.RawMessage `json:"arguments"`
	// Time of the answer. UNIX seconds.
	At     Time `json:"at"`
	DryRun bool `json:"dryRun"`
	// Milliseconds.
	DurationMs float64 `json:"durationMs"`
	Function   string  `json:"function"`
	ID         string  `json:"id"`
	// ok, or an error code.
	Outcome string `json:"outcome"`
	// Id of the token for programs that was used; null if it was the token of a login.
	TokenID *string `json:"tokenId"`
	// Id of the caller.
	UserID string `json:"userId"`
}

type BatchRequest struct {
	Calls []ExecuteRequest `json:"calls"`
}

type BatchResult struct {
	// Result of each call, in the order of the calls.
	Results []McpOutcome `json:"results"`
}

type BeforeAfter struct {
	After  string `json:"after"`
	Before string `json:"before"`
}

type BindRequest struct {
	Enabled bool `json:"enabled"`
	// Overrides the priority of the trigger node. The flow or bot with the higher priority answers.
	Priority *int64 `json:"priority,omitzero"`
	// Id of the reference.
	Reference int64 `json:"reference"`
}

type Binding struct {
	Enabled bool `json:"enabled"`
	// Overrides the priority of the trigger node; null if it is not set.
	Priority *int64 `json:"priority"`
	// Id of the reference.
	Reference int64 `json:"reference"`
}

type Bot struct {
	// Whether the published version answers.
	Active bool `json:"active"`
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// The draft.
	Flow json.RawMessage `json:"flow"`
	ID   string          `json:"id"`
	// Keywords of the triggers keyword and regex.
	Keywords []string `json:"keywords,omitzero"`
	Name     string   `json:"name"`
	// The problems of the draft.
	Problems []FlowProblem `json:"problems"`
	// Id of the reference.
	Reference int64 `json:"reference"`
	// Increases with every change. It is the ETag.
	Revision int64 `json:"revision"`
	// One of draft, published.
	Status string `json:"status"`
	// What starts the bot in its draft: the first of triggers.
	Trigger  string   `json:"trigger"`
	Triggers []string `json:"triggers"`
	// UNIX seconds.
	UpdatedAt Time `json:"updatedAt"`
	// The published version; 0 if there is none.
	Version int64 `json:"version"`
}

type BotAction struct {
}

type BotengineCreateRequest struct {
	// A document of the flow language. A draft may be any object.
	Flow json.RawMessage `json:"flow,omitzero"`
	// Keywords of the triggers keyword and regex.
	Keywords []string `json:"keywords,omitzero"`
	Name     string   `json:"name"`
	// Id of the reference.
	Reference int64 `json:"reference"`
	// always, keyword, regex, first_message, button, referral, schedule or manual.
	Trigger *string `json:"trigger,omitzero"`
}

type BotengineUpdateRequest struct {
	// Whether the bot starts conversations.
	Active *bool `json:"active,omitzero"`
	// A document of the flow language. A draft may be any object.
	Flow     json.RawMessage `json:"flow,omitzero"`
	Keywords []string        `json:"keywords,omitzero"`
	Name     *string         `json:"name,omitzero"`
	// Replaces the trigger in the bot's draft.
	Trigger *string `json:"trigger,omitzero"`
}

type BudgetItem struct {
	// Id of a chat. If absent, the budget applies to each chat.
	ChatID *string `json:"chatId,omitzero"`
	// Maximum cost. Required without tokens.
	Cost *float64 `json:"cost,omitzero"`
	// Id of a flow. If absent, the budget applies to each flow.
	FlowID *string `json:"flowId,omitzero"`
	// The period after which the budget starts again. One of day, month, total.
	Period string `json:"period"`
	// Id of a project. If absent, the budget applies to each project.
	ProjectID *string `json:"projectId,omitzero"`
	// The reference of chatId.
	Reference *int64 `json:"reference,omitzero"`
	// One of account, project, flow, chat.
	Scope string `json:"scope"`
	// IANA name of the time zone of days and months.
	Timezone *string `json:"timezone,omitzero"`
	// Maximum number of input and output tokens together. Required without cost.
	Tokens *int64 `json:"tokens,omitzero"`
	// What happens to calls of models whose price is unknown. One of allow, refuse.
	Unpriced *string `json:"unpriced,omitzero"`
}

type BudgetState struct {
	// Id of a chat. If absent, the budget applies to each chat.
	ChatID *string `json:"chatId,omitzero"`
	// Maximum cost. Required without tokens.
	Cost *float64 `json:"cost,omitzero"`
	// Id of a flow. If absent, the budget applies to each flow.
	FlowID *string `json:"flowId,omitzero"`
	// The period after which the budget starts again. One of day, month, total.
	Period string `json:"period"`
	// Id of a project. If absent, the budget applies to each project.
	ProjectID *string `json:"projectId,omitzero"`
	// The reference of chatId.
	Reference *int64 `json:"reference,omitzero"`
	// One of account, project, flow, chat.
	Scope string `json:"scope"`
	// Spent cost, including the reservations of calls in progress; null for a budget that applies to
	// each project, flow or chat separately.
	SpentCost *float64 `json:"spentCost"`
	// Spent tokens, counted like spentCost.
	SpentTokens *int64 `json:"spentTokens"`
	// IANA name of the time zone of days and months.
	Timezone *string `json:"timezone,omitzero"`
	// Maximum number of input and output tokens together. Required without cost.
	Tokens *int64 `json:"tokens,omitzero"`
	// What happens to calls of models whose price is unknown. One of allow, refuse.
	Unpriced *string `json:"unpriced,omitzero"`
	// Time when the period starts again; null: never.
	Until *int64 `json:"until"`
}

type Budgets struct {
	Items []BudgetState `json:"items"`
}

type Call struct {
	ChatID string `json:"chatId"`
	// Id of the call, as in its events.
	ID string `json:"id"`
	// Id of the reference.
	Reference int64 `json:"reference"`
	// One of ringing, accepted, rejected, missed, ended.
	Status string `json:"status"`
}

type CancelRequest struct {
}

type Capabilities struct {
	// Whether it can reject calls.
	Calls  bool `json:"calls"`
	Groups bool `json:"groups"`
	// Maximum size in bytes, by type.
	Media    map[string]int64 `json:"media"`
	Receipts bool             `json:"receipts"`
	// Types of messages that it sends unchanged.
	Send      []string `json:"send"`
	Templates bool     `json:"templates"`
	Typing    bool     `json:"typing"`
	// How long after the contact's last message free-form messages may be sent, in hours; null if
	// always.
	Window *int64 `json:"window"`
}

type Card struct {
	Addresses []CardAddress `json:"addresses,omitzero"`
	Birthday  *string       `json:"birthday,omitzero"`
	Emails    []CardEmail   `json:"emails,omitzero"`
	Name      CardName      `json:"name"`
	Org       *CardOrg      `json:"org,omitzero"`
	Phones    []CardPhone   `json:"phones,omitzero"`
	URLs      []CardURL     `json:"urls,omitzero"`
	Vcard     *string       `json:"vcard,omitzero"`
}

type CardAddress struct {
	City        *string `json:"city,omitzero"`
	Country     *string `json:"country,omitzero"`
	CountryCode *string `json:"countryCode,omitzero"`
	State       *string `json:"state,omitzero"`
	Street      *string `json:"street,omitzero"`
	Type        *string `json:"type,omitzero"`
	Zip         *string `json:"zip,omitzero"`
}

type CardEmail struct {
	Email string  `json:"email"`
	Type  *string `json:"type,omitzero"`
}

type CardName struct {
	FirstName     *string `json:"firstName,omitzero"`
	FormattedName string  `json:"formattedName"`
	LastName      *string `json:"lastName,omitzero"`
	MiddleName    *string `json:"middleName,omitzero"`
	Prefix        *string `json:"prefix,omitzero"`
	Suffix        *string `json:"suffix,omitzero"`
}

type CardOrg struct {
	Company    *string `json:"company,omitzero"`
	Department *string `json:"department,omitzero"`
	Title      *string `json:"title,omitzero"`
}

type CardPhone struct {
	Phone string  `json:"phone"`
	Type  *string `json:"type,omitzero"`
	WaID  *string `json:"waId,omitzero"`
}

type CardURL struct {
	Type *string `json:"type,omitzero"`
	URL  string  `json:"url"`
}

type Ceremony struct {
	// Options for the browser.
	PublicKey map[string]json.RawMessage `json:"publicKey"`
}

type Chat struct {
	ActiveBot *ActiveBot `json:"activeBot"`
	// 1: bots may answer; 0: they may not. One of 0, 1.
	BotActive int64 `json:"botActive"`
	// UNIX seconds.
	CreatedAt Time                       `json:"createdAt"`
	Fields    map[string]json.RawMessage `json:"fields"`
	Handoff   *Handoff                   `json:"handoff"`
	ID        string                     `json:"id"`
	// One of individual, group.
	Kind        string   `json:"kind"`
	Language    *string  `json:"language"`
	LastMessage *Message `json:"lastMessage"`
	Name        string   `json:"name"`
	OptedOut    bool     `json:"optedOut"`
	Phone       *string  `json:"phone"`
	// Id of the reference.
	Reference int64    `json:"reference"`
	Tags      []string `json:"tags"`
	// Number of unread messages.
	Unread int64 `json:"unread"`
	// UNIX seconds.
	UpdatedAt Time                       `json:"updatedAt"`
	Variables map[string]json.RawMessage `json:"variables"`
	// UNIX seconds.
	WindowExpiresAt *Time `json:"windowExpiresAt"`
}

type Choice struct {
	Description *string `json:"description,omitzero"`
	ID          string  `json:"id"`
	Title       string  `json:"title"`
}

type ConfirmSecondFactorRequest struct {
	// The code that the app shows now.
	Code string `json:"code"`
}

type ConfirmSignUpRequest struct {
	// Whether to set a session cookie as well. Default: false.
	Cookie *bool `json:"cookie,omitzero"`
	// The password that was entered at the sign-up.
	Password string `json:"password"`
	// The part of the link after the #.
	Token string `json:"token"`
}

type Confusion struct {
	// Text of one of these tests.
	Example string `json:"example"`
	// The expected intent; nomatch: none.
	Intent string `json:"intent"`
	// The intent that was found; nomatch: none.
	Taken string `json:"taken"`
	// Number of tests with this confusion.
	Times int64 `json:"times"`
}

type Connect struct {
	// Address of the provider's login page.
	URL string `json:"url"`
}

// Content: One of these types, as `type` says.
type Content struct {
	Address  string   `json:"address,omitzero"`
	Button   string   `json:"button,omitzero"`
	Buttons  []Choice `json:"buttons,omitzero"`
	Caption  string   `json:"caption,omitzero"`
	Contacts []Card   `json:"contacts,omitzero"`
	Emoji    string   `json:"emoji,omitzero"`
	// Name of a document. Default: the name of the stored file.
	FileName    string          `json:"fileName,omitzero"`
	Interactive json.RawMessage `json:"interactive,omitzero"`
	// Degrees. Positive north of the equator.
	Latitude *float64 `json:"latitude,omitzero"`
	// Degrees. Positive east of Greenwich.
	Longitude *float64 `json:"longitude,omitzero"`
	// Id of a file from POST /media. Give either this or url.
	MediaID    string    `json:"mediaId,omitzero"`
	Mentions   []string  `json:"mentions,omitzero"`
	MessageID  string    `json:"messageId,omitzero"`
	Multiple   *bool     `json:"multiple,omitzero"`
	Name       string    `json:"name,omitzero"`
	Options    []string  `json:"options,omitzero"`
	PreviewURL *bool     `json:"previewUrl,omitzero"`
	Question   string    `json:"question,omitzero"`
	Sections   []Section `json:"sections,omitzero"`
	// Messenger's tag that allows a message outside of the window. Other networks ignore it.
	Tag      string        `json:"tag,omitzero"`
	Template *TemplateCall `json:"template,omitzero"`
	Text     string        `json:"text,omitzero"`
	// Which of them it is. One of text, template, buttons, list, location, contacts, reaction, edit,
	// revoke, poll, vote, interactive, image, video, document, audio, sticker.
	Type string `json:"type"`
	// URL from which the network fetches the file.
	URL string `json:"url,omitzero"`
	// Whether to send it as a voice note. It must be one channel of Opus in Ogg; if the server has
	// ffmpeg, it converts other recordings.
	Voice *bool `json:"voice,omitzero"`
}

type Coverage struct {
	// Nodes that no test entered.
	MissingNodes []string `json:"missingNodes"`
	// Outputs that no test used.
	MissingOutputs []string `json:"missingOutputs"`
	// How often each node was entered.
	Nodes map[string]int64 `json:"nodes"`
	// How often each connected output was used, for example ask.timeout.
	Outputs map[string]int64 `json:"outputs"`
}

type CreateGroupRequest struct {
	// Chat ids of the people to add: at least one.
	Participants []string `json:"participants"`
	// Id of the reference.
	Reference int64  `json:"reference"`
	Subject   string `json:"subject"`
}

type CreateProjectRequest struct {
	Description *string `json:"description,omitzero"`
	Name        string  `json:"name"`
}

type CreateReferenceRequest struct {
	Name string `json:"name"`
	// The settings of the type: strings or booleans, or objects of these. provider-web: all optional:
	// markOnline, historySync, proxyUrl and calls, an object with reject and reply; provider-cloud:
	// phoneNumberId and accessToken, and optionally businessAccountId (default: asked from the
	// network), appSecret and verifyToken (default: the server's); provider-messenger: pageId and
	// accessToken, and optionally appSecret and verifyToken (default: the server's); provider-sandbox:
	// optionally lateIds.
	Settings map[string]json.RawMessage `json:"settings,omitzero"`
	// provider-web, provider-cloud, provider-messenger or provider-sandbox.
	Type string `json:"type"`
}

type CreateTemplateRequest struct {
	// MARKETING, UTILITY or AUTHENTICATION.
	Category string `json:"category"`
	// The components, in the network's own form.
	Components []json.RawMessage `json:"components"`
	Language   string            `json:"language"`
	// Lower-case letters, digits and underscores.
	Name string `json:"name"`
	// How variables are identified: by position or by name. Default: positional. One of positional,
	// named.
	ParameterFormat *string `json:"parameterFormat,omitzero"`
	// Id of the reference.
	Reference int64 `json:"reference"`
}

type CreateTokenRequest struct {
	// UNIX seconds.
	ExpiresAt Time   `json:"expiresAt"`
	Name      string `json:"name"`
	// Permissions of the token, all of which the caller must have.
	Permissions []string `json:"permissions"`
}

type CreateUserRequest struct {
	Email    string `json:"email"`
	Name     string `json:"name"`
	Password string `json:"password"`
	// Permissions, all of which the caller must have. GET /user/permissions lists all permissions.
	// Required without role.
	Permissions []string `json:"permissions,omitzero"`
	// A named set of permissions, to be used instead of permissions. One of owner, admin, builder,
	// agent, viewer.
	Role *string `json:"role,omitzero"`
}

type CredentialCreateRequest struct {
	// Name of the header or query parameter. For the kinds header and query only.
	Field *string `json:"field,omitzero"`
	// Hosts that the secret may be sent to, with or without a port. If empty, it may be sent to any
	// host.
	Hosts []string `json:"hosts,omitzero"`
	// Where the secret is sent. bearer and basic: in the Authorization header; header and query: in
	// the header or query parameter that field names. One of bearer, basic, header, query.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// The token, password or key, without line breaks.
	Secret string `json:"secret"`
	// User name. For the kind basic only.
	Username *string `json:"username,omitzero"`
}

type CredentialView struct {
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// Name of the header or query parameter that has the secret.
	Field *string `json:"field"`
	// Hosts that the secret may be sent to. If empty, it may be sent to any host.
	Hosts []string `json:"hosts"`
	ID    string   `json:"id"`
	// One of bearer, basic, header, query.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// The masked secret.
	Secret   string  `json:"secret"`
	Username *string `json:"username"`
}

type DeadLetter struct {
	// What the network sent, usually JSON. Lists do not have it.
	Body *string `json:"body,omitzero"`
	ID   string  `json:"id"`
	// Why it could not be read, the last time.
	Reason string `json:"reason"`
	// UNIX seconds.
	ReceivedAt Time `json:"receivedAt"`
	// false if it cannot be replayed: it came by no callback, makes no sense without its neighbours,
	// or was stored by an older version.
	Replayable bool `json:"replayable"`
	// Time of the last replay; null if there was none. UNIX seconds.
	ReplayedAt *Time `json:"replayedAt"`
	// Number of replays that failed.
	Replays int64 `json:"replays"`
	// Characters of the body.
	Size int64 `json:"size"`
}

type DeleteAccountRequest struct {
	// The caller's own password.
	Password string `json:"password"`
}

type Deleting struct {
	Job     Job  `json:"job"`
	Success bool `json:"success"`
}

type Delivery struct {
	// The last 50 attempts, oldest first.
	Attempts []Attempt `json:"attempts"`
	ChatID   *string   `json:"chatId"`
	// UNIX seconds.
	CreatedAt  Time   `json:"createdAt"`
	EndpointID string `json:"endpointId"`
	// One of message, status, data, calls, subscription, session.
	Event     string  `json:"event"`
	ID        string  `json:"id"`
	MessageID *string `json:"messageId"`
	// null if no attempt is planned, or one is in progress. UNIX seconds.
	NextAttemptAt *Time `json:"nextAttemptAt"`
	// Number of the event within its chat and webhook; 0 for a test event.
	Sequence int64 `json:"sequence"`
	// One of pending, delivered, failed, dead.
	State string `json:"state"`
}

type DocumentChange struct {
	// Any JSON value; null if it was absent.
	From json.RawMessage `json:"from"`
	// One of added, removed, changed.
	Kind string `json:"kind"`
	// JSON pointer into the document.
	Path string `json:"path"`
	// Any JSON value; null if it is absent.
	To json.RawMessage `json:"to"`
}

type Done struct {
	Success bool `json:"success"`
}

type DraftFromTextRequest struct {
	// The model to use, as provider/model. Default: the server's model.
	Model *string `json:"model,omitzero"`
	Text  string  `json:"text"`
}

type DraftProposal struct {
	// The proposed draft. It is not saved.
	Draft json.RawMessage `json:"draft"`
	// The model that wrote the draft.
	Model string `json:"model"`
	// The problems of the proposed draft.
	Problems []FlowProblem `json:"problems"`
	Usage    DraftUsage    `json:"usage"`
}

type DraftUsage struct {
	// Number of calls of language models.
	Calls int64 `json:"calls"`
	// In micro-USD; null if unknown.
	Cost *float64 `json:"cost"`
	// Number of input tokens.
	InputTokens int64 `json:"inputTokens"`
	// Number of output tokens, including reasoning.
	OutputTokens int64 `json:"outputTokens"`
}

type Echoed struct {
	// UNIX seconds.
	At      Time            `json:"at"`
	Body    json.RawMessage `json:"body"`
	Headers []Header        `json:"headers"`
}

type EdgeDiff struct {
	// Id of a node; null if the output was not connected.
	From   *string `json:"from"`
	Node   string  `json:"node"`
	Output string  `json:"output"`
	// Id of a node; null if the output is not connected.
	To *string `json:"to"`
}

type EditGroupRequest struct {
	// Chat ids of the people to add.
	Add    []string `json:"add,omitzero"`
	ChatID string   `json:"chatId"`
	Demote []string `json:"demote,omitzero"`
	Leave  *bool    `json:"leave,omitzero"`
	// Chat ids of the participants to make administrators.
	Promote []string `json:"promote,omitzero"`
	// Id of the reference.
	Reference int64    `json:"reference"`
	Remove    []string `json:"remove,omitzero"`
	// Whether to replace the invitation link. Earlier links stop working.
	ResetInvite *bool   `json:"resetInvite,omitzero"`
	Subject     *string `json:"subject,omitzero"`
}

type Endpoint struct {
	// UNIX seconds.
	CreatedAt  Time     `json:"createdAt"`
	Enabled    bool     `json:"enabled"`
	EndpointID string   `json:"endpointId"`
	Events     []string `json:"events"`
	// Format of the requests: trunkline, or that of Meta's Cloud API, Evolution API, WAHA or wuzapi.
	// One of trunkline, cloud, evolution, waha, wuzapi.
	Format  string   `json:"format"`
	Headers []Header `json:"headers"`
	// Id of the reference, as a string.
	ID        string   `json:"id"`
	Include   []string `json:"include"`
	LastError *string  `json:"lastError"`
	// Id of the reference.
	Reference int64 `json:"reference"`
	// Signs the deliveries. It is returned only when it was just created.
	Secret *string `json:"secret,omitzero"`
	// One of ok, paused, disabled.
	State string `json:"state"`
	// UNIX seconds.
	UpdatedAt Time   `json:"updatedAt"`
	Webhook   string `json:"webhook"`
}

type Enrolment struct {
	// The same URL as a QR code: a data URL with a PNG.
	QR string `json:"qr"`
	// The secret in base32, to type into the app.
	Secret string `json:"secret"`
	// An otpauth:// URL, to open in an app on the same device.
	URL string `json:"url"`
}

type EvaluateRequest struct {
}

type Evaluation struct {
	// Share of tests that passed, from 0 to 1; null if there are no tests.
	Accuracy *float64 `json:"accuracy"`
	// Intents that were mistaken for another, most frequent first.
	Confused []Confusion `json:"confused"`
	Failures []Miss      `json:"failures"`
	// Number of tests that passed.
	Right int64 `json:"right"`
	// Number of tests.
	Tests int64 `json:"tests"`
}

type EventRequest struct {
	Data map[string]json.RawMessage `json:"data,omitzero"`
	Name string                     `json:"name"`
}

type ExecuteRequest struct {
	// Arguments by name. Default: none.
	Arguments json.RawMessage `json:"arguments,omitzero"`
	// Whether to only describe what the call would do.
	DryRun   *bool  `json:"dryRun,omitzero"`
	Function string `json:"function"`
}

type Explained struct {
	// Milliseconds since the first step. Milliseconds.
	AfterMs int64 `json:"afterMs"`
	// Bots and flows of the reference, in the order in which they were asked.
	Asked []ExplainedAsked `json:"asked,omitzero"`
	// UNIX seconds.
	At         Time    `json:"at"`
	DeliveryID *string `json:"deliveryId,omitzero"`
	// Milliseconds.
	DurationMs *int64  `json:"durationMs,omitzero"`
	EndpointID *string `json:"endpointId,omitzero"`
	// Engine of the run: botengine or aiflow.
	Engine  *string  `json:"engine,omitzero"`
	Error   *Failure `json:"error,omitzero"`
	Event   *string  `json:"event,omitzero"`
	FileURL *string  `json:"fileUrl,omitzero"`
	// Id of the run's flow or bot.
	FlowID *string `json:"flowId,omitzero"`
	// Time of the last of these attempts. UNIX seconds.
	LastAt *Time `json:"lastAt,omitzero"`
	// Id of the message that the run sent.
	MessageID *string `json:"messageId,omitzero"`
	// UNIX seconds.
	NextAttemptAt *Time `json:"nextAttemptAt,omitzero"`
	// Result of the step. attempt: sent, failed, retried or unconfirmed; file: waiting, kept or lost;
	// webhook: pending, delivered, retried, failed or dead; routed: continued (a run waited for the
	// message), begun (a run started), queued (behind an earlier run), silent (bots are off in the
	// chat), nobody (no trigger matched) or failed.
	Outcome *string `json:"outcome,omitzero"`
	// The network's report.
	Raw   json.RawMessage `json:"raw,omitzero"`
	RunID *string         `json:"runId,omitzero"`
	// Time of the event according to the network. UNIX seconds.
	SaidAt *Time   `json:"saidAt,omitzero"`
	Status *string `json:"status,omitzero"`
	// HTTP status of the response.
	StatusCode *int64 `json:"statusCode,omitzero"`
	// The kind of step. More kinds may be added.
	Step string `json:"step"`
	// Number of consecutive attempts with this outcome.
	Times *int64 `json:"times,omitzero"`
	// Values that extractors found, by name.
	Values map[string]json.RawMessage `json:"values,omitzero"`
	// Version that the run uses.
	Version *int64 `json:"version,omitzero"`
}

type ExplainedAsked struct {
	Engine string `json:"engine"`
	ID     string `json:"id"`
	// Empty if it no longer answers on the reference.
	Name string `json:"name"`
	// answers: it took the message; behind: its trigger matched, but another one was asked first;
	// passes: its trigger did not match; cooling: its cooldown in this chat has not passed; busy: it
	// has an active run in this chat.
	Outcome string `json:"outcome"`
	// Priority. The one with the highest number is asked first.
	Priority int64 `json:"priority"`
	// Number of the published version, from 1.
	Version int64 `json:"version"`
}

type Explanation struct {
	Message Message `json:"message"`
	// The steps, in order of time.
	Steps []Explained `json:"steps"`
}

type Exported struct {
	Calls []ExportedCall `json:"calls"`
	// null if the contact has no chat: it wrote in groups only, or its number was looked up.
	Chat *Chat `json:"chat"`
	// Reports about the contact that could not be processed.
	DeadLetters []ExportedReport `json:"deadLetters"`
	// Webhook deliveries about the contact.
	Deliveries []ExportedDelivery `json:"deliveries"`
	// UNIX seconds.
	ExportedAt Time     `json:"exportedAt"`
	Identity   Identity `json:"identity"`
	// All ids of the contact, current and former.
	IDs []string `json:"ids"`
	// Messages of the chat, oldest first, then messages that the contact wrote in groups.
	Messages []ExportedMessage `json:"messages"`
	// Results of looking up its phone number.
	Numbers []Number `json:"numbers"`
	// Id of the reference.
	Reference int64 `json:"reference"`
	// Other reports of the network about the contact.
	Reports []ExportedReport `json:"reports"`
}

type ExportedCall struct {
	// UNIX seconds.
	CreatedAt Time   `json:"createdAt"`
	ID        string `json:"id"`
	Status    string `json:"status"`
}

type ExportedDelivery struct {
	Body     json.RawMessage `json:"body,omitzero"`
	Delivery Delivery        `json:"delivery"`
}

type ExportedFile struct {
	// Size in bytes.
	FileLength int64 `json:"fileLength"`
	// Path of the file, relative to the base address.
	FileURL  string `json:"fileUrl"`
	MediaID  string `json:"mediaId"`
	Mimetype string `json:"mimetype"`
	Name     string `json:"name"`
	// Whether the file is still being fetched.
	Waiting bool `json:"waiting"`
}

type ExportedMessage struct {
	// Content of a sent message.
	Content json.RawMessage `json:"content,omitzero"`
	File    *ExportedFile   `json:"file,omitzero"`
	Message Message         `json:"message"`
	// The network's report of a received message that was not understood.
	Raw json.RawMessage `json:"raw,omitzero"`
	// Statuses of the message and their times.
	Statuses []ExportedStatus `json:"statuses"`
}

type ExportedReport struct {
	Body json.RawMessage `json:"body"`
	// UNIX seconds.
	CreatedAt Time   `json:"createdAt"`
	ID        string `json:"id"`
	// Kind of report; for a dead letter, the reason why it could not be processed.
	Kind string `json:"kind"`
}

type ExportedStatus struct {
	// UNIX seconds.
	At     Time   `json:"at"`
	Status string `json:"status"`
}

type ExtractorCreateRequest struct {
	// The form depends on the kind. regex: {pattern, flags?, groups?: {name:
	// string|number|date|phone|email}}, RE2. entity: {types: [email, url, phone, number, ordinal,
	// money, percentage, date, time, duration, boolean, quantity, document, dictionary], locale?,
	// region?, possiblePhones?, dictionary?: [{value, synonyms?}]}. intent: {intents: [{name,
	// examples}], threshold? (0.5), fallback?: {model}}. ai: {model, instructions?, schema, when?:
	// always|missing}. All accept tests: [{text, locale?, region?, now? (ISO 8601), values?}].
	Config  json.RawMessage `json:"config"`
	Enabled *bool           `json:"enabled,omitzero"`
	// Case-insensitive. One of regex, ai, intent, entity.
	Kind  string         `json:"kind"`
	Name  string         `json:"name"`
	Scope ExtractorScope `json:"scope"`
}

type ExtractorFound struct {
	// Milliseconds.
	DurationMs float64 `json:"durationMs"`
	// All matches, in the order of the text.
	Matches []Match `json:"matches"`
	// null if no model was asked.
	Usage *ExtractorUsage `json:"usage"`
	// The first match of each name.
	Values map[string]json.RawMessage `json:"values"`
}

type ExtractorScope struct {
	// Id of the bot. The extractor reads the messages of the bot's reference.
	Bot *string `json:"bot,omitzero"`
	// Id of the flow. The extractor reads messages of the references that the flow is bound to, and of
	// chats in which the flow has a run.
	Flow *string `json:"flow,omitzero"`
	// Id of the reference. The extractor reads all of its messages.
	Reference *int64 `json:"reference,omitzero"`
}

type ExtractorUpdateRequest struct {
	// The form depends on the kind. regex: {pattern, flags?, groups?: {name:
	// string|number|date|phone|email}}, RE2. entity: {types: [email, url, phone, number, ordinal,
	// money, percentage, date, time, duration, boolean, quantity, document, dictionary], locale?,
	// region?, possiblePhones?, dictionary?: [{value, synonyms?}]}. intent: {intents: [{name,
	// examples}], threshold? (0.5), fallback?: {model}}. ai: {model, instructions?, schema, when?:
	// always|missing}. All accept tests: [{text, locale?, region?, now? (ISO 8601), values?}].
	Config  json.RawMessage `json:"config,omitzero"`
	Enabled *bool           `json:"enabled,omitzero"`
	Name    *string         `json:"name,omitzero"`
	Scope   *ExtractorScope `json:"scope,omitzero"`
}

type ExtractorUsage struct {
	// Number of input tokens that the provider read from its cache.
	CachedInputTokens int64 `json:"cachedInputTokens"`
	// Number of calls of language models.
	Calls int64 `json:"calls"`
	// In micro-USD; null if the price of a call is unknown.
	Cost *float64 `json:"cost"`
	// Number of input tokens.
	InputTokens int64 `json:"inputTokens"`
	// Number of output tokens, including reasoning.
	OutputTokens int64 `json:"outputTokens"`
	// Number of output tokens for reasoning.
	ReasoningTokens int64 `json:"reasoningTokens"`
	// Number of calls without a known price.
	UnpricedCalls int64 `json:"unpricedCalls"`
}

type ExtractorView struct {
	// The form depends on the kind. regex: {pattern, flags?, groups?: {name:
	// string|number|date|phone|email}}, RE2. entity: {types: [email, url, phone, number, ordinal,
	// money, percentage, date, time, duration, boolean, quantity, document, dictionary], locale?,
	// region?, possiblePhones?, dictionary?: [{value, synonyms?}]}. intent: {intents: [{name,
	// examples}], threshold? (0.5), fallback?: {model}}. ai: {model, instructions?, schema, when?:
	// always|missing}. All accept tests: [{text, locale?, region?, now? (ISO 8601), values?}].
	Config json.RawMessage `json:"config"`
	// UNIX seconds.
	CreatedAt Time   `json:"createdAt"`
	Enabled   bool   `json:"enabled"`
	ID        string `json:"id"`
	// One of regex, ai, intent, entity.
	Kind  string         `json:"kind"`
	Name  string         `json:"name"`
	Scope ExtractorScope `json:"scope"`
	// State of learning the intents of config; null if there is nothing to learn. One of training,
	// ready, failed.
	Training *string `json:"training"`
	// The reason why learning failed.
	TrainingError *string `json:"trainingError"`
	// UNIX seconds.
	UpdatedAt Time `json:"updatedAt"`
}

type Failure struct {
	// What you can do about it, if that is known.
	Advice  *string `json:"advice,omitzero"`
	Code    string  `json:"code"`
	Message string  `json:"message"`
}

type FailureView struct {
	Message string `json:"message"`
	// Index of the test's step, from 0. The number of steps if the failure is after the last step.
	Step int64 `json:"step"`
}

type FileFlow struct {
	// A document of the flow language. A draft may be any object.
	Draft     json.RawMessage    `json:"draft"`
	Name      string             `json:"name"`
	Published *FileFlowPublished `json:"published"`
}

type FileFlowPublished struct {
	// A document of the flow language. A draft may be any object.
	Document json.RawMessage `json:"document"`
	// Functions that it calls directly or indirectly, by slug.
	Functions []json.RawMessage `json:"functions"`
}

type Flow struct {
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// A document of the flow language. A draft may be any object.
	Draft json.RawMessage `json:"draft"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	// The problems of the draft.
	Problems  []FlowProblem `json:"problems"`
	ProjectID string        `json:"projectId"`
	Published *Published    `json:"published"`
	// Increases with every change. It is the ETag.
	Revision int64 `json:"revision"`
	// UNIX seconds.
	UpdatedAt Time `json:"updatedAt"`
}

type FlowAction struct {
}

type FlowDescription struct {
	Config  json.RawMessage `json:"config"`
	Effect  *string         `json:"effect,omitzero"`
	Engines []string        `json:"engines"`
	Errors  []string        `json:"errors"`
	Group   string          `json:"group"`
	Outputs []FlowOutput    `json:"outputs"`
	Pass    string          `json:"pass"`
	Text    string          `json:"text"`
	Type    string          `json:"type"`
	Wait    *string         `json:"wait,omitzero"`
}

type FlowDiff struct {
	// All other changes, sorted by path: settings, variables, start and others.
	Document []DocumentChange `json:"document"`
	// Changed connections, sorted by node and output. Those of added and removed nodes are included.
	Edges []EdgeDiff `json:"edges"`
	// 0 if no version is published.
	From int64 `json:"from"`
	// Functions whose version changes, sorted by slug. Empty for a draft with errors.
	Functions []FunctionDiff `json:"functions"`
	// Changed nodes, sorted by id.
	Nodes []NodeDiff `json:"nodes"`
	// 0 is the draft.
	To int64 `json:"to"`
}

type FlowError struct {
	// Number of the attempt, from 1.
	Attempt *int64                     `json:"attempt,omitzero"`
	Code    string                     `json:"code"`
	Detail  map[string]json.RawMessage `json:"detail,omitzero"`
	Message string                     `json:"message"`
	Node    *string                    `json:"node,omitzero"`
}

type FlowLimits struct {
	// Maximum size of a document, in bytes.
	Bytes int64 `json:"bytes"`
	// Maximum number of functions that a flow can contain.
	Functions int64 `json:"functions"`
	// Maximum number of nodes of a document.
	Nodes int64 `json:"nodes"`
	// Maximum size of the editor's own data, in bytes.
	UIBytes int64 `json:"uiBytes"`
	// Maximum number of variables of a document.
	Variables int64 `json:"variables"`
}

type FlowOutput struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type FlowPalette struct {
	Format string            `json:"format"`
	Limits FlowLimits        `json:"limits"`
	Nodes  []FlowDescription `json:"nodes"`
}

type FlowProblem struct {
	// Start of the problem in the expression or template at `path`, in bytes from 0.
	At       *int64  `json:"at"`
	Code     string  `json:"code"`
	Hint     *string `json:"hint"`
	Message  string  `json:"message"`
	NodeID   string  `json:"nodeId"`
	Path     string  `json:"path"`
	Severity string  `json:"severity"`
}

type Form struct {
	// The answers in the network's form, usually an object.
	Data json.RawMessage `json:"data"`
	Name string          `json:"name"`
}

type FoundMessage struct {
	ChatName string `json:"chatName"`
	// The text around the first match, in parts that follow each other. If the message was edited, it
	// is of the new text.
	Excerpt []Part  `json:"excerpt"`
	Message Message `json:"message"`
}

type FunctionDiff struct {
	// Version of the function; 0: a version from before the project was imported; null: none.
	From *int64 `json:"from"`
	Slug string `json:"slug"`
	// Version of the function; 0: a version from before the project was imported; null: none.
	To *int64 `json:"to"`
}

type FunctionList struct {
	// Number of functions in the list.
	Count     int64           `json:"count"`
	Functions []McpDescriptor `json:"functions"`
	// Version of the catalogue, as a semantic version.
	Version string `json:"version"`
}

type FunctionUse struct {
	// Whether the draft calls the function.
	Draft  bool   `json:"draft"`
	FlowID string `json:"flowId"`
	Name   string `json:"name"`
	// Version of the function that the published version contains; 0: a version from before the
	// project was imported; null: none.
	Published *int64 `json:"published"`
}

type Group struct {
	// Whether the account may change the group.
	Admin  bool   `json:"admin"`
	ChatID string `json:"chatId"`
	// UNIX seconds.
	CreatedAt   *Time  `json:"createdAt"`
	Description string `json:"description"`
	// Link with which anyone can join; null if only administrators can see it.
	InviteLink *string `json:"inviteLink"`
	// Whether the account left with this request.
	Left bool `json:"left"`
	// Participants other than the account itself.
	Participants []GroupMember `json:"participants"`
	// Id of the reference.
	Reference int64 `json:"reference"`
	// People for whom the network refused the change.
	Refused []GroupRefusal `json:"refused"`
	Subject string         `json:"subject"`
}

type GroupMember struct {
	Admin  bool    `json:"admin"`
	ChatID string  `json:"chatId"`
	Name   string  `json:"name"`
	Phone  *string `json:"phone"`
}

type GroupRefusal struct {
	ChatID string `json:"chatId"`
	// The network's own error.
	Error Failure `json:"error"`
}

type Handoff struct {
	// Note of the bot for that person.
	Note string `json:"note"`
	// UNIX seconds.
	Since Time `json:"since"`
	// true: a person has taken over the chat; false: the bot has asked for a person.
	Taken bool `json:"taken"`
	// The person or team that the bot asked for.
	Target string `json:"target"`
	// Time at which bots may answer again; null: when the person gives the chat back.
	Until *int64 `json:"until"`
}

type Header struct {
	Key string `json:"key"`
	// Returned as •••• later.
	Value string `json:"value"`
}

type Health struct {
	// UNIX seconds.
	LastAckAt *Time `json:"lastAckAt"`
	// UNIX seconds.
	LastInboundAt *Time `json:"lastInboundAt"`
	// UNIX seconds.
	LastProbeAt *Time `json:"lastProbeAt"`
	// Problems that follow from the reference's settings, for example callbacks.unverified. A request
	// for this one session also returns the network's latest reports about the reference: quality,
	// limits, account and credentials.
	Reports []HealthReport `json:"reports,omitzero"`
}

type HealthReport struct {
	// UNIX seconds.
	At Time `json:"at"`
	// The network's name of the subject.
	Kind string `json:"kind"`
	// One of news, good, warning, stopped.
	Level string `json:"level"`
	// The network's own text.
	Message string `json:"message"`
}

type HookconfResult struct {
	Data    HookconfResultDataStruct `json:"data"`
	Message string                   `json:"message"`
	Success bool                     `json:"success"`
}

type HookconfResultDataStruct struct {
}

type Identity struct {
	// Current id of the chat.
	ChatID string `json:"chatId"`
	// Hidden id of WhatsApp (LID).
	Lid   *string `json:"lid"`
	Phone *string `json:"phone"`
	// Business-scoped or page-scoped id of the user.
	UserID   *string `json:"userId"`
	Username *string `json:"username"`
}

// ImportRequest: A project, or an export of Typebot.
type ImportRequest struct {
	Description string            `json:"description,omitzero"`
	Edges       []json.RawMessage `json:"edges,omitzero"`
	Flows       []FileFlow        `json:"flows,omitzero"`
	// One of trunkline-project/1.
	Format  string            `json:"format,omitzero"`
	Groups  []json.RawMessage `json:"groups,omitzero"`
	Name    string            `json:"name,omitzero"`
	Version string            `json:"version,omitzero"`
}

type ImportedFlow struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Problems of the published document: the reason why the flow stayed a draft, or warnings. For an
	// export of Typebot: the problems of the draft.
	Problems  []FlowProblem `json:"problems"`
	Published bool          `json:"published"`
}

type ImportedProject struct {
	// UNIX seconds.
	CreatedAt   Time   `json:"createdAt"`
	Description string `json:"description"`
	// Flows, in the order of the document.
	Flows []ImportedFlow `json:"flows"`
	ID    string         `json:"id"`
	Name  string         `json:"name"`
	// UNIX seconds.
	UpdatedAt Time `json:"updatedAt"`
}

type Invitation struct {
	// UNIX seconds.
	CreatedAt Time   `json:"createdAt"`
	Email     string `json:"email"`
	// UNIX seconds.
	ExpiresAt Time   `json:"expiresAt"`
	ID        string `json:"id"`
	// Id of the user who sent the invitation.
	InvitedBy string `json:"invitedBy"`
	// null if the user enters a name.
	Name        *string  `json:"name"`
	Permissions []string `json:"permissions"`
	// The role with exactly these permissions; null if no role has them. One of owner, admin, builder,
	// agent, viewer.
	Role *string `json:"role"`
}

type InviteRequest struct {
	Email string `json:"email"`
	// Whether to send the link by mail, if the server has a mail server. Default: true.
	Mail *bool `json:"mail,omitzero"`
	// Name of the user, who may change it. If absent, the user enters a name.
	Name *string `json:"name,omitzero"`
	// Permissions, all of which the caller must have. Required without role.
	Permissions []string `json:"permissions,omitzero"`
	// A named set of permissions, to be used instead of permissions. One of owner, admin, builder,
	// agent, viewer.
	Role *string `json:"role,omitzero"`
}

type Invited struct {
	Invitation Invitation `json:"invitation"`
	// Returned only now; null if it is sent by mail.
	Link *string `json:"link"`
}

type Item struct {
	Approved bool `json:"approved"`
	// Hash of the definition that you approve. Not needed to withdraw an approval.
	Hash *string `json:"hash,omitzero"`
	Name string  `json:"name"`
}

type Job struct {
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// UNIX seconds.
	EndedAt *Time  `json:"endedAt"`
	ID      string `json:"id"`
	// What the job deletes. One of chat, reference, account.
	Kind string `json:"kind"`
	// Id of the deleted reference, or of the deleted chat's reference; null if the account is deleted.
	Reference *int64 `json:"reference"`
	// One of running, completed.
	State string `json:"state"`
}

type Listener struct {
	Enabled bool `json:"enabled"`
	// One of botengine, aiflow.
	Engine string `json:"engine"`
	ID     string `json:"id"`
	Name   string `json:"name"`
	// Priority. The one with the highest number is asked first.
	Priority int64 `json:"priority"`
	// The first of triggers. manual if no event of the reference starts it.
	Trigger  string   `json:"trigger"`
	Triggers []string `json:"triggers"`
	// The published version.
	Version int64 `json:"version"`
}

type Location struct {
	Address *string `json:"address,omitzero"`
	// Degrees. Positive north of the equator.
	Latitude float64 `json:"latitude"`
	// Degrees. Positive east of Greenwich.
	Longitude float64 `json:"longitude"`
	Name      *string `json:"name,omitzero"`
}

type LoginPasskeyRequest struct {
	// Whether to set a session cookie as well. Default: false.
	Cookie *bool `json:"cookie,omitzero"`
	// The result of toJSON() of the browser's credential.
	Credential map[string]json.RawMessage `json:"credential"`
}

type LoginRequest struct {
	// A code of the user's authenticator app, or a recovery code. Required after the error
	// second_factor_required.
	Code *string `json:"code,omitzero"`
	// Whether to set a session cookie as well. Default: false.
	Cookie   *bool  `json:"cookie,omitzero"`
	Email    string `json:"email"`
	Password string `json:"password"`
}

type MarkReadRequest struct {
	ChatID string `json:"chatId"`
	// Marks messages up to this one as read. If absent, marks all.
	MessageID *string `json:"messageId,omitzero"`
	// Id of the reference.
	Reference int64 `json:"reference"`
	// Whether to show the contact that an answer is being written, where the network supports it.
	Typing *bool `json:"typing,omitzero"`
}

type Match struct {
	// From 0 to 1.
	Confidence float64 `json:"confidence"`
	// End of that part in the text, in bytes of UTF-8.
	End  int64  `json:"end"`
	Name string `json:"name"`
	// Start of that part in the text, in bytes of UTF-8.
	Start int64 `json:"start"`
	// The part of the text that has the value.
	Text string `json:"text"`
	Type string `json:"type"`
	// Any JSON value.
	Value json.RawMessage `json:"value"`
}

type McpArgument struct {
	Default     json.RawMessage `json:"default,omitzero"`
	Description *string         `json:"description,omitzero"`
	Enum        []string        `json:"enum,omitzero"`
	// Maximum number of characters.
	MaxLength *int64 `json:"maxLength,omitzero"`
	// Maximum value.
	Maximum *float64 `json:"maximum,omitzero"`
	// Minimum number of characters.
	MinLength *int64 `json:"minLength,omitzero"`
	// Minimum value.
	Minimum  *float64 `json:"minimum,omitzero"`
	Required bool     `json:"required"`
	// string, number, boolean, object, array or any.
	Type string `json:"type"`
}

type McpDescriptor struct {
	Arguments   map[string]McpArgument `json:"arguments"`
	Description string                 `json:"description"`
	Name        string                 `json:"name"`
	// Permission that a caller needs in addition to mcp.execute.
	Permission string `json:"permission"`
	// Whether the function changes nothing.
	ReadOnly bool       `json:"readOnly"`
	Returns  McpReturns `json:"returns"`
	Title    string     `json:"title"`
}

type McpDetail struct {
	// Path of the argument, for example "input.items[2].name"; "arguments" for all of them.
	Argument string `json:"argument"`
	// The rule that it breaks.
	Message string `json:"message"`
}

type McpError struct {
	// Stable identifier of the error.
	Code string `json:"code"`
	// The problem with each invalid argument.
	Details []McpDetail `json:"details"`
	// Explanation of the error, for models and people.
	Message string `json:"message"`
}

type McpOutcome struct {
	Error *McpError `json:"error"`
	// Duration of the call, in milliseconds.
	ExecutionTime float64         `json:"executionTime"`
	Function      string          `json:"function"`
	Result        json.RawMessage `json:"result"`
	Success       bool            `json:"success"`
	// Time of the answer, in ISO 8601.
	Timestamp string `json:"timestamp"`
}

type McpProperty struct {
	Description *string `json:"description,omitzero"`
	Type        string  `json:"type"`
}

type McpReturns struct {
	Properties map[string]McpProperty `json:"properties"`
	Type       string                 `json:"type"`
}

type Media struct {
	// Size in bytes.
	FileLength int64 `json:"fileLength"`
	// Path of the file, relative to the base address.
	FileURL  string `json:"fileUrl"`
	MediaID  string `json:"mediaId"`
	Mimetype string `json:"mimetype"`
}

// Message: A message in the API: one of these types, as `type` says.
type Message struct {
	// One of contact, user, api, bot, flow, agent, phone.
	Actor   string `json:"actor"`
	Caption string `json:"caption,omitzero"`
	// Id of the chat, for use in a send.
	ChatID string `json:"chatId"`
	// The clientId of the send.
	ClientID string `json:"clientId,omitzero"`
	Contacts []Card `json:"contacts,omitzero"`
	Context  *Quote `json:"context,omitzero"`
	// One of in, out.
	Direction string `json:"direction"`
	// The message whose content this one replaces.
	Edited *MessageRef `json:"edited,omitzero"`
	Error  *Failure    `json:"error"`
	// Values that the extractors found, by name.
	Extracted map[string]json.RawMessage `json:"extracted,omitzero"`
	// Size in bytes.
	FileLength json.Number `json:"fileLength,omitzero"`
	FileName   string      `json:"fileName,omitzero"`
	// Path of the file, relative to the base address; empty if the file is not available.
	FileURL string `json:"fileUrl,omitzero"`
	Form    *Form  `json:"form,omitzero"`
	// Pixels.
	Height *int64 `json:"height,omitzero"`
	ID     string `json:"id"`
	// A small JPEG in base64.
	JpegThumbnail string    `json:"jpegThumbnail,omitzero"`
	Location      *Location `json:"location,omitzero"`
	// UNIX seconds.
	MessageTimestamp Time `json:"messageTimestamp"`
	// Media type, possibly with a codecs parameter.
	Mimetype string `json:"mimetype,omitzero"`
	// Whether the account wrote it.
	Mine  bool   `json:"mine"`
	Order *Order `json:"order,omitzero"`
	// Number of pages of the document.
	PageCount   *int64       `json:"pageCount,omitzero"`
	Participant *Participant `json:"participant,omitzero"`
	Poll        *Poll        `json:"poll,omitzero"`
	PushName    string       `json:"pushName"`
	Reaction    *Reaction    `json:"reaction,omitzero"`
	// Same value as reference.
	Ref int64 `json:"ref"`
	// Id of the reference.
	Reference int64 `json:"reference"`
	// The advertisement or post that the contact came from, in the network's form.
	Referral  json.RawMessage `json:"referral,omitzero"`
	RemoteJID string          `json:"remoteJid"`
	Reply     *Reply          `json:"reply,omitzero"`
	// Id that this server gave a sent message. It does not change, and the answer of the send has it;
	// id has the same value until the network assigns one.
	RequestID string `json:"requestId,omitzero"`
	// The message that was deleted.
	Revoked *MessageRef `json:"revoked,omitzero"`
	// Duration in seconds.
	Seconds *int64 `json:"seconds,omitzero"`
	// Type that was sent, if the network does not support the requested type.
	SentAs string `json:"sentAs,omitzero"`
	// One of FAIL, PENDING, SENDING, DELIVERED, READ, PLAYED.
	Status string `json:"status"`
	// Whether the image is a sticker.
	Sticker *bool `json:"sticker,omitzero"`
	// The template of the message, with its parameters. text has what the contact reads, as far as it
	// is known.
	Template *SentTemplate `json:"template,omitzero"`
	Text     string        `json:"text,omitzero"`
	// Title of the document.
	Title string `json:"title,omitzero"`
	// Which of them it is. One of text, image, video, document, audio.
	Type            string   `json:"type"`
	Unsupported     *Unknown `json:"unsupported,omitzero"`
	VerifiedBizName string   `json:"verifiedBizName"`
	// Loudness over time, in base64.
	Waveform string `json:"waveform,omitzero"`
	// Pixels.
	Width *int64 `json:"width,omitzero"`
}

type MessageChange struct {
	// Index from 0: among the draft's messages if added, among the run's messages if removed.
	At int64 `json:"at"`
	// One of added, removed.
	Change string `json:"change"`
	// The message in the form of a send request.
	Message json.RawMessage `json:"message"`
	Node    string          `json:"node"`
}

type MessageRef struct {
	MessageID string `json:"messageId"`
}

type MessagingLogoutRequest struct {
	// Id of the reference.
	Reference int64 `json:"reference"`
}

type Methods struct {
	// The sign-in provider; null if there is none.
	Oidc *Oidc `json:"oidc"`
	// Whether users can add and use passkeys. That needs a base URL with https and a host name, or
	// http://localhost.
	Passkeys bool `json:"passkeys"`
	// One of open, closed.
	SignUp string `json:"signUp"`
}

type Miss struct {
	Found map[string]json.RawMessage `json:"found"`
	// Index of the test, from 0.
	Test   int64                      `json:"test"`
	Text   string                     `json:"text"`
	Wanted map[string]json.RawMessage `json:"wanted"`
}

type MissingPrice struct {
	// Number of calls of language models.
	Calls int64 `json:"calls"`
	// UNIX seconds.
	FirstSeen Time `json:"firstSeen"`
	// Number of input tokens.
	InputTokens int64 `json:"inputTokens"`
	// UNIX seconds.
	LastSeen Time   `json:"lastSeen"`
	Model    string `json:"model"`
	// Number of output tokens, including reasoning.
	OutputTokens int64  `json:"outputTokens"`
	Provider     string `json:"provider"`
}

type MissingPrices struct {
	Items []MissingPrice `json:"items"`
}

type Model struct {
	// Name of the model in flows: provider/model.
	ID string `json:"id"`
	// The provider's name of the model.
	Name     string `json:"name"`
	Provider string `json:"provider"`
	// Display name; empty if the provider has none.
	Title string `json:"title"`
}

type ModelProblem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type ModelProvider struct {
	// The reason why the models could not be listed; null if they were listed.
	Error *ModelProblem `json:"error"`
	Name  string        `json:"name"`
}

type Models struct {
	Items     []Model         `json:"items"`
	Providers []ModelProvider `json:"providers"`
}

type NewToken struct {
	ID string `json:"id"`
	// A JWT for the Authorization header. It is not shown again.
	Token string `json:"token"`
}

type NodeDiff struct {
	Changes []DocumentChange `json:"changes"`
	ID      string           `json:"id"`
	// One of added, removed, changed.
	Kind string  `json:"kind"`
	Type *string `json:"type"`
}

type Number struct {
	// Id of the chat with this number, for use in a send.
	ChatID string `json:"chatId"`
	// Whether the number has an account; null if the network does not say.
	Exists *bool `json:"exists"`
	// The phone number as the server read it.
	Phone string `json:"phone"`
}

type Oidc struct {
	// Name of the provider, for users.
	Name string `json:"name"`
	// Open it in the browser. It redirects to the provider, back to the server, and to the panel with
	// a session cookie.
	URL string `json:"url"`
}

type Open struct {
	// Address of the last client; null if unknown.
	Address *string `json:"address"`
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// Whether this is the session of the request.
	Current bool `json:"current"`
	// UNIX seconds. A cookie's expiry moves with each use, up to 7 days after the login.
	ExpiresAt Time   `json:"expiresAt"`
	ID        string `json:"id"`
	// cookie: a login in a browser; token: a login with a token only; scoped: a token for a program.
	// One of cookie, token, scoped.
	Kind string `json:"kind"`
	// Accurate to one minute; null if it was never used. UNIX seconds.
	LastUsedAt *Time `json:"lastUsedAt"`
	// Name of a token for a program.
	Name *string `json:"name"`
	// Permissions of a token for a program; null if it has all permissions of its user.
	Permissions []string `json:"permissions"`
	// User agent of the last client; null if unknown.
	UserAgent *string `json:"userAgent"`
}

type Order struct {
	CatalogID string      `json:"catalogId"`
	Items     []OrderItem `json:"items"`
	Text      *string     `json:"text,omitzero"`
}

type OrderItem struct {
	Currency string `json:"currency"`
	// Price of one item, in units of the currency.
	Price     float64 `json:"price"`
	ProductID string  `json:"productId"`
	// Quantity of the item.
	Quantity float64 `json:"quantity"`
}

type Part struct {
	// Whether the search matches this part.
	Match bool   `json:"match"`
	Text  string `json:"text"`
}

type Participant struct {
	// Id of the chat with this person alone, for use in a send. Empty in old messages, which were
	// stored without it.
	ChatID    string `json:"chatId"`
	PushName  string `json:"pushName"`
	RemoteJID string `json:"remoteJid"`
}

type Passage struct {
	// Id of the file.
	File string `json:"file"`
	Name string `json:"name"`
	// Number of the passage in its file, from 1.
	Part int64  `json:"part"`
	Text string `json:"text"`
}

type Passages struct {
	// The passages, best match first.
	Items []Passage `json:"items"`
}

type Passkey struct {
	// A code to compare with the one on the phone; null if there is none.
	Code *string `json:"code"`
	// UNIX seconds.
	ExpiresAt Time `json:"expiresAt"`
	// To be signed with the owner's passkey: the PublicKeyCredentialRequestOptionsJSON of WebAuthn.
	// null once it is signed.
	Options *PasskeyOptions `json:"options"`
}

type PasskeyAssertion struct {
	AuthenticatorData string  `json:"authenticatorData"`
	ClientDataJSON    string  `json:"clientDataJSON"`
	Signature         string  `json:"signature"`
	UserHandle        *string `json:"userHandle,omitzero"`
}

type PasskeyCredential struct {
	// Not used.
	AuthenticatorAttachment *string `json:"authenticatorAttachment,omitzero"`
	// Not used.
	ClientExtensionResults map[string]json.RawMessage `json:"clientExtensionResults,omitzero"`
	// Same value as rawId.
	ID string `json:"id"`
	// Id of the passkey. Base64url without padding, as all bytes here.
	RawID    string           `json:"rawId"`
	Response PasskeyAssertion `json:"response"`
	// One of public-key.
	Type string `json:"type"`
}

type PasskeyOptions struct {
	// The passkeys that may answer; empty: any of the site.
	AllowCredentials []ProviderPasskeyCredential `json:"allowCredentials"`
	// Base64url without padding.
	Challenge  string                     `json:"challenge"`
	Extensions map[string]json.RawMessage `json:"extensions,omitzero"`
	// The site to which the passkey belongs. Browsers sign only on pages of this site.
	RpID string `json:"rpId"`
	// Milliseconds that the person has.
	Timeout          *int64  `json:"timeout,omitzero"`
	UserVerification *string `json:"userVerification,omitzero"`
}

type PasskeyView struct {
	// UNIX seconds.
	CreatedAt Time   `json:"createdAt"`
	ID        string `json:"id"`
	// null if it was never used. UNIX seconds.
	LastUsedAt *Time  `json:"lastUsedAt"`
	Name       string `json:"name"`
}

type Password struct {
	// The caller's own password.
	Password string `json:"password"`
}

type PastRuns struct {
	// Ids of chats. Replays the newest runs in these chats, at most 50 in total.
	Chats []ReplayChat `json:"chats,omitzero"`
	// Ids of runs.
	Runs []string `json:"runs,omitzero"`
}

type PathChange struct {
	// Index among the steps of the run, from 0.
	At int64 `json:"at"`
	// One of added, removed.
	Change string `json:"change"`
	// The frames, node and output of the step.
	Step string `json:"step"`
}

type Permission struct {
	Description string `json:"description"`
	// Whether it can be limited to one reference, as in chats.read@17.
	Limitable bool   `json:"limitable"`
	Name      string `json:"name"`
}

type Permissions struct {
	Catalogue []Permission `json:"catalogue"`
	// Permissions of the caller; with a scoped token, those of the token. chats.read@17 is the
	// permission chats.read for the reference 17 only.
	Permissions []string `json:"permissions"`
	// Named sets of permissions that you can give to users.
	Roles []Role `json:"roles"`
}

type Poll struct {
	// Of a vote: id of the message with the poll.
	MessageID *string  `json:"messageId,omitzero"`
	Multiple  bool     `json:"multiple"`
	Options   []string `json:"options"`
	Question  string   `json:"question"`
	// Of a poll, in records: its options with the votes until now. Absent before the first vote.
	Results []PollResult `json:"results,omitzero"`
	// Of a vote: the options that are selected now. Absent if the vote was withdrawn.
	Selected []string `json:"selected,omitzero"`
}

type PollResult struct {
	Option string `json:"option"`
	// The remoteJid of each person who selects it now, in the order of the votes.
	Voters []string `json:"voters"`
	// Number of people who select it now.
	Votes int64 `json:"votes"`
}

type PreviewTemplateRequest struct {
	// Id of the reference.
	Reference int64        `json:"reference"`
	Template  TemplateCall `json:"template"`
}

type PriceItem struct {
	// Price of input that was written to a cache. If absent, a call with such input has no cost.
	CacheWrite *float64 `json:"cacheWrite,omitzero"`
	// Like cacheWrite, for input that is cached for one hour.
	CacheWrite1h *float64 `json:"cacheWrite1h,omitzero"`
	// Price of input that was read from a cache. If absent, cached input costs as much as other input,
	// and the cost is an estimate.
	CachedInput *float64 `json:"cachedInput,omitzero"`
	// Required without sameAs.
	Input *float64 `json:"input,omitzero"`
	Model string   `json:"model"`
	// Required without sameAs.
	Output   *float64 `json:"output,omitzero"`
	Provider string   `json:"provider"`
	// Price of output that is not shown. Default: the price of output.
	Reasoning *float64 `json:"reasoning,omitzero"`
	// Another model with the same prices, as provider/model. Cannot be combined with prices.
	SameAs *string `json:"sameAs,omitzero"`
	// Tiers, in ascending order of over.
	Tiers []PriceTier `json:"tiers,omitzero"`
}

type PriceSource struct {
	// Number of models with a price.
	Models int64 `json:"models"`
	// file or built-in.
	Source  string `json:"source"`
	Version string `json:"version"`
}

type PriceTier struct {
	// Price of input that was written to a cache. If absent, a call with such input has no cost.
	CacheWrite *float64 `json:"cacheWrite,omitzero"`
	// Like cacheWrite, for input that is cached for one hour.
	CacheWrite1h *float64 `json:"cacheWrite1h,omitzero"`
	// Price of input that was read from a cache. If absent, cached input costs as much as other input,
	// and the cost is an estimate.
	CachedInput *float64 `json:"cachedInput,omitzero"`
	// Required without sameAs.
	Input *float64 `json:"input,omitzero"`
	// Required without sameAs.
	Output *float64 `json:"output,omitzero"`
	// Number of input tokens. A call with more input tokens has these prices for all of its tokens.
	Over int64 `json:"over"`
	// Price of output that is not shown. Default: the price of output.
	Reasoning *float64 `json:"reasoning,omitzero"`
}

type Pricing struct {
	Items   []PriceItem   `json:"items"`
	Sources []PriceSource `json:"sources"`
}

type Probe struct {
	// One of sqlite, postgres.
	Database string `json:"database"`
	// One of ok.
	Status string `json:"status"`
	// Seconds since the server started.
	Uptime  int64  `json:"uptime"`
	Version string `json:"version"`
}

type ProblemList struct {
	// The problems, in the order of the nodes.
	Problems []FlowProblem `json:"problems"`
}

type Project struct {
	// UNIX seconds.
	CreatedAt   Time   `json:"createdAt"`
	Description string `json:"description"`
	ID          string `json:"id"`
	Name        string `json:"name"`
	// UNIX seconds.
	UpdatedAt Time `json:"updatedAt"`
}

type ProjectFile struct {
	Description string     `json:"description"`
	Flows       []FileFlow `json:"flows"`
	// One of trunkline-project/1.
	Format string `json:"format"`
	Name   string `json:"name"`
}

type ProjectFileView struct {
	// UNIX seconds.
	CreatedAt Time   `json:"createdAt"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	// Number of passages that the file is split into.
	Passages int64 `json:"passages"`
	// Size of the uploaded file, in bytes.
	Size int64 `json:"size"`
	// One of text/plain, text/markdown, text/csv, application/json, text/html.
	Type string `json:"type"`
}

type ProviderPasskeyCredential struct {
	// Base64url without padding.
	ID         string   `json:"id"`
	Transports []string `json:"transports,omitzero"`
	Type       string   `json:"type"`
}

type Published struct {
	// A document of the flow language. A draft may be any object.
	Document json.RawMessage `json:"document"`
	// Number of the published version, from 1.
	Version int64 `json:"version"`
}

type PutRequest struct {
	// Format of the requests. Default: trunkline for a new webhook; for an existing one, no change.
	// One of trunkline, cloud, evolution, waha, wuzapi.
	Format  *string  `json:"format,omitzero"`
	Headers []Header `json:"headers,omitzero"`
	// Id of the reference, as a string or an integer.
	ID      any    `json:"id"`
	Webhook string `json:"webhook"`
}

type QR struct {
	Code string `json:"code"`
	// UNIX seconds.
	ExpiresAt Time `json:"expiresAt"`
	// A data: URL of a PNG.
	Image string `json:"image"`
}

type QuotaState struct {
	// null if there is no limit.
	Limit *int64 `json:"limit"`
	// Time when the count starts again at 0; null if the count only falls when something is deleted.
	// UNIX seconds.
	ResetsAt *Time `json:"resetsAt"`
	// The used amount.
	Used int64 `json:"used"`
}

type Quote struct {
	Forwarded *bool  `json:"forwarded,omitzero"`
	MessageID string `json:"messageId"`
}

type Quoted struct {
	MessageID string `json:"messageId"`
}

type Reaction struct {
	Emoji     string `json:"emoji"`
	MessageID string `json:"messageId"`
}

type ReadResult struct {
	Success bool `json:"success"`
	// Number of messages that are still unread.
	Unread int64 `json:"unread"`
}

type Recovery struct {
	// Each code works once. The codes are not shown again.
	RecoveryCodes []string `json:"recoveryCodes"`
}

type Reference struct {
	Capabilities Capabilities `json:"capabilities"`
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// Id of the reference.
	ID      int64   `json:"id"`
	Name    string  `json:"name"`
	Session Session `json:"session"`
	// The settings: strings, or objects of strings and booleans. Of secrets, only the last four
	// characters are returned.
	Settings map[string]json.RawMessage `json:"settings"`
	Type     string                     `json:"type"`
	// UNIX seconds.
	UpdatedAt Time `json:"updatedAt"`
}

type RefreshRequest struct {
}

// RegisterAnswer: What Webhooks_Register answers: the members of whatever it may be.
type RegisterAnswer struct {
	// UNIX seconds.
	CreatedAt  *Time    `json:"createdAt,omitzero"`
	Enabled    *bool    `json:"enabled,omitzero"`
	EndpointID string   `json:"endpointId,omitzero"`
	Events     []string `json:"events,omitzero"`
	// Format of the requests: trunkline, or that of Meta's Cloud API, Evolution API, WAHA or wuzapi.
	// One of trunkline, cloud, evolution, waha, wuzapi.
	Format  string   `json:"format,omitzero"`
	Headers []Header `json:"headers,omitzero"`
	// Id of the reference, as a string.
	ID        string   `json:"id,omitzero"`
	Include   []string `json:"include,omitzero"`
	LastError *string  `json:"lastError,omitzero"`
	// Id of the reference.
	Reference *int64 `json:"reference,omitzero"`
	// Signs the deliveries. It is returned only when it was just created.
	Secret string `json:"secret,omitzero"`
	// One of ok, paused, disabled.
	State   string `json:"state,omitzero"`
	Success *bool  `json:"success,omitzero"`
	// UNIX seconds.
	UpdatedAt *Time  `json:"updatedAt,omitzero"`
	Webhook   string `json:"webhook,omitzero"`
}

type RegisterRequest struct {
	// With provider: the address that the network posts its events to.
	CallbackURL *string `json:"callbackUrl,omitzero"`
	// Kinds of events: message, status, data, calls, subscription, session. Default: all except
	// session.
	Events []string `json:"events,omitzero"`
	// Format of the requests: trunkline, or that of Meta's Cloud API, Evolution API, WAHA or wuzapi,
	// which have no data and subscription events. Default: trunkline. One of trunkline, cloud,
	// evolution, waha, wuzapi.
	Format  *string  `json:"format,omitzero"`
	Headers []Header `json:"headers,omitzero"`
	// Id of the reference, as a string or an integer.
	ID any `json:"id,omitzero"`
	// extracted: deliver message events after the extractors have read the message.
	Include []string `json:"include,omitzero"`
	// true: subscribe at the reference's network instead of registering a webhook.
	Provider *bool `json:"provider,omitzero"`
	// Id of the reference. Required without id.
	Reference *int64 `json:"reference,omitzero"`
	// Signing secret: whsec_ and base64 of 24 to 64 bytes. Default: a new secret.
	Secret *string `json:"secret,omitzero"`
	// URL to deliver events to. Required without provider.
	Webhook *string `json:"webhook,omitzero"`
}

type RejectCallRequest struct {
	// The id in the event of the call.
	CallID string `json:"callId"`
	ChatID string `json:"chatId"`
	// Id of the reference.
	Reference int64 `json:"reference"`
}

type RemoteCreateRequest struct {
	// Id of the credential for the requests.
	Credential *string `json:"credential,omitzero"`
	// Name by which flows call the server.
	Name string `json:"name"`
	// URL of the server's Streamable HTTP endpoint.
	URL string `json:"url"`
}

type RemoteTool struct {
	// Whether flows may use the tool.
	Approved bool `json:"approved"`
	// The approved definition of a tool that has changed, if it is known.
	Before *ApprovedTool `json:"before"`
	// Whether the tool was approved and has changed since.
	Changed bool `json:"changed"`
	// The server's own description.
	Description string `json:"description"`
	// Whether the tool may delete or overwrite data. true unless its server says otherwise.
	Destructive bool `json:"destructive"`
	// SHA-256 of the members above.
	Hash string `json:"hash"`
	// Whether a repeated call has no further effect, according to its server.
	Idempotent bool   `json:"idempotent"`
	Name       string `json:"name"`
	// Whether the tool reaches people or systems outside its server. true unless its server says
	// otherwise.
	OpenWorld bool `json:"openWorld"`
	// Whether the tool changes nothing, according to its server.
	ReadOnly bool `json:"readOnly"`
	// JSON Schema of the arguments.
	Schema json.RawMessage `json:"schema"`
}

type RemoteUpdateRequest struct {
	Credential *string `json:"credential,omitzero"`
	Enabled    *bool   `json:"enabled,omitzero"`
	Name       *string `json:"name,omitzero"`
	// Tools that are not listed keep their approval.
	Tools []Item  `json:"tools,omitzero"`
	URL   *string `json:"url,omitzero"`
}

type RemoteView struct {
	// Time when the tools were last fetched. UNIX seconds.
	CheckedAt *Time `json:"checkedAt"`
	// UNIX seconds.
	CreatedAt  Time    `json:"createdAt"`
	Credential *string `json:"credential"`
	Enabled    bool    `json:"enabled"`
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	// The reason why fetching them failed.
	Problem *string      `json:"problem"`
	Tools   []RemoteTool `json:"tools"`
	// UNIX seconds.
	UpdatedAt Time   `json:"updatedAt"`
	URL       string `json:"url"`
}

type RenameRequest struct {
	Slug string `json:"slug"`
}

type RenamedFlow struct {
	// Other drafts that were changed.
	Drafts []RenamedIn `json:"drafts"`
	Flow   Flow        `json:"flow"`
	// Published versions that still use the old slug.
	Published []FunctionUse `json:"published"`
}

type RenamedIn struct {
	FlowID string `json:"flowId"`
	Name   string `json:"name"`
	// Number of changes of the draft.
	Revision int64 `json:"revision"`
}

type Replay struct {
	// Calls of the draft that the run did not make, or made with other data.
	Calls    []ReplayedCall  `json:"calls"`
	Messages []MessageChange `json:"messages"`
	// null if the output is the same.
	Output *ValueChange `json:"output"`
	Path   []PathChange `json:"path"`
	// The reason why the run could not be replayed; null if it was replayed.
	Problem *string `json:"problem"`
	// Whether that version takes the same path again. If not, the run depended on data that is not
	// recorded, such as the contact's fields.
	Reproduced bool   `json:"reproduced"`
	RunID      string `json:"runId"`
	// Whether the draft does the same as that version.
	Same bool `json:"same"`
	// completed, failed, cancelled, or what the run waits for.
	Status BeforeAfter `json:"status"`
	// Ids of messages that the draft did not wait for.
	Untaken   []string      `json:"untaken"`
	Variables []ValueChange `json:"variables"`
	// The version that the run used.
	Version int64 `json:"version"`
}

type ReplayChat struct {
	ChatID string `json:"chatId"`
	// Id of the reference.
	Reference int64 `json:"reference"`
}

type ReplayDeadLettersRequest struct {
	// The next of the previous answer.
	Cursor *string `json:"cursor,omitzero"`
	// Number of dead letters to replay at most.
	Limit *int64 `json:"limit,omitzero"`
}

type ReplayResult struct {
	// Number of deliveries that are sent again.
	Queued int64 `json:"queued"`
}

type ReplayedCall struct {
	// other: the call got the answer that the run received for another request of the node; missing:
	// the run made no such call, and the call failed. One of other, missing.
	Answer string `json:"answer"`
	// One of http, assistant, agent, extract, tool, node.
	Kind string `json:"kind"`
	Node string `json:"node"`
}

type ReplayedDeadLetter struct {
	// Why it still cannot be read; null if replayed.
	Reason *string `json:"reason"`
	// true: it is stored, and the dead letter is deleted.
	Replayed bool `json:"replayed"`
}

type ReplayedDeadLetters struct {
	// Number of dead letters that remain.
	Failed int64 `json:"failed"`
	// Cursor of the next page; null if there is none.
	Next *string `json:"next"`
	// Number of dead letters that are stored now.
	Replayed int64 `json:"replayed"`
}

type Reply struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

type RepriceRequest struct {
	// UNIX seconds. Only calls that started at this time or later. 0: no limit.
	From *Time `json:"from,omitzero"`
	// UNIX seconds. Only calls that started before this time. 0: no limit.
	To *Time `json:"to,omitzero"`
}

type Repriced struct {
	// Number of calls whose cost, or cost status, has changed.
	Changed int64 `json:"changed"`
}

type ResetRequest struct {
	// E-mail of the user. Requests a link.
	Email *string `json:"email,omitzero"`
	// The new password, of at least 10 characters. Required with token.
	Password *string `json:"password,omitzero"`
	// The part of the link after the #. Sets the new password.
	Token *string `json:"token,omitzero"`
}

type RetryRequest struct {
	// Whether to repeat a call that must not be made twice and whose outcome is unknown.
	Repeat *bool `json:"repeat,omitzero"`
}

type Role struct {
	Description string `json:"description"`
	// One of owner, admin, builder, agent, viewer.
	Name        string   `json:"name"`
	Permissions []string `json:"permissions"`
}

type RollbackRequest struct {
	// Number of the published version, from 1.
	Version int64 `json:"version"`
}

type Run struct {
	ChatID *string `json:"chatId"`
	// UNIX seconds.
	EndedAt *Time `json:"endedAt"`
	// One of botengine, aiflow.
	Engine string     `json:"engine"`
	Error  *FlowError `json:"error"`
	// Id of the flow or the bot.
	FlowID string `json:"flowId"`
	// Slug of the function that the run executes. Such a run belongs to the flow of its parent and is
	// not in lists by flow.
	Function *string `json:"function"`
	ID       string  `json:"id"`
	// A document of the flow language. A draft may be any object.
	Input json.RawMessage `json:"input"`
	// Any JSON value.
	Output json.RawMessage `json:"output"`
	// Id of the run that started it: an agent of that run called a function or run_flow.
	Parent *string `json:"parent"`
	// Id of the reference.
	Reference *int64 `json:"reference"`
	// UNIX seconds.
	StartedAt Time `json:"startedAt"`
	// One of running, waiting, completed, failed, cancelled.
	Status string `json:"status"`
	// Usage of language models; null on the stream.
	Usage *RunUsage `json:"usage"`
	// 0 for a draft.
	Version int64 `json:"version"`
	// One of reply, timer, event, handoff, effect, approval.
	WaitingFor *string `json:"waitingFor"`
}

type RunDetail struct {
	// Actions of the run's agents, in order: the last 200 answers, calls and messages.
	Agent  []AgentEntry `json:"agent"`
	ChatID *string      `json:"chatId"`
	// UNIX seconds.
	EndedAt *Time `json:"endedAt"`
	// One of botengine, aiflow.
	Engine string     `json:"engine"`
	Error  *FlowError `json:"error"`
	// Id of the flow or the bot.
	FlowID string `json:"flowId"`
	// Slug of the function that the run executes. Such a run belongs to the flow of its parent and is
	// not in lists by flow.
	Function *string `json:"function"`
	ID       string  `json:"id"`
	// A document of the flow language. A draft may be any object.
	Input json.RawMessage `json:"input"`
	// Any JSON value.
	Output json.RawMessage `json:"output"`
	// Id of the run that started it: an agent of that run called a function or run_flow.
	Parent *string `json:"parent"`
	// Id of the reference.
	Reference *int64 `json:"reference"`
	// The last 1,000 messages that the run sent.
	Sent []Message `json:"sent"`
	// UNIX seconds.
	StartedAt Time `json:"startedAt"`
	// One of running, waiting, completed, failed, cancelled.
	Status string `json:"status"`
	// The last 1,000 steps.
	Steps []Step `json:"steps"`
	// Usage of language models; null on the stream.
	Usage *RunUsage `json:"usage"`
	// Current values, or the last values of an ended run. Secret variables are left out.
	Variables map[string]json.RawMessage `json:"variables"`
	// 0 for a draft.
	Version int64 `json:"version"`
	// One of reply, timer, event, handoff, effect, approval.
	WaitingFor *string `json:"waitingFor"`
}

type RunReply struct {
	Run RunDetail `json:"run"`
}

type RunRequest struct {
	ChatID string `json:"chatId"`
	// Whether to run the draft instead of the published version.
	Draft *bool `json:"draft,omitzero"`
	// Text of the contact.
	Input string `json:"input"`
}

type RunUsage struct {
	// Number of input tokens that the provider read from its cache.
	CachedInputTokens int64 `json:"cachedInputTokens"`
	// Number of calls of language models.
	Calls int64 `json:"calls"`
	// In micro-USD, for the calls whose cost is known; null if no cost is known.
	Cost *float64 `json:"cost"`
	// Including cached tokens.
	InputTokens int64 `json:"inputTokens"`
	// Including reasoning.
	OutputTokens int64 `json:"outputTokens"`
	// Number of output tokens for reasoning.
	ReasoningTokens int64 `json:"reasoningTokens"`
	// Number of calls without a known price.
	UnpricedCalls int64 `json:"unpricedCalls"`
}

type SearchRequest struct {
	Text string `json:"text"`
}

type SecondFactor struct {
	Enabled bool `json:"enabled"`
	// Number of recovery codes that are left.
	RecoveryCodes int64 `json:"recoveryCodes"`
	// UNIX seconds.
	Since *Time `json:"since,omitzero"`
}

type Section struct {
	Rows  []Choice `json:"rows"`
	Title *string  `json:"title,omitzero"`
}

// SendAnswer: What Messaging_Send answers: the members of whatever it may be.
type SendAnswer struct {
	Allowed *bool `json:"allowed,omitzero"`
	// UNIX seconds.
	Earliest *Time    `json:"earliest,omitzero"`
	Message  *Message `json:"message,omitzero"`
	// Code of the problem if the send is not allowed.
	Reason *string `json:"reason,omitzero"`
	// Type of the message that would be sent.
	SentAs  string `json:"sentAs,omitzero"`
	Success *bool  `json:"success,omitzero"`
	// UNIX seconds.
	WindowExpiresAt *Time `json:"windowExpiresAt,omitzero"`
}

type SendRequest struct {
	ChatID string `json:"chatId"`
	// Your own id of the message, without control characters. It is in the record and in every event
	// of the message. You may use it more than once.
	ClientID *string `json:"clientId,omitzero"`
	// The message to reply to.
	Context *Quoted `json:"context,omitzero"`
	// One of these types, as `type` says.
	Message Content `json:"message"`
	// Id of the reference.
	Reference int64 `json:"reference"`
}

type SentTemplate struct {
	// The parameters, in the network's form.
	Components []json.RawMessage `json:"components"`
	Language   TemplateLanguage  `json:"language"`
	Name       string            `json:"name"`
}

type Session struct {
	// The connected account, as the network reports it.
	Account *SessionAccount `json:"account"`
	// UNIX seconds.
	ConnectedAt *Time         `json:"connectedAt"`
	Health      Health        `json:"health"`
	LastError   *SessionError `json:"lastError"`
	Node        *string       `json:"node"`
	PairingCode *string       `json:"pairingCode"`
	// What the network asks the owner of the account for before it links the reference. Absent if it
	// does not.
	Passkey *Passkey `json:"passkey,omitzero"`
	QR      *QR      `json:"qr"`
	// Id of the reference.
	Reference int64 `json:"reference"`
	// One of STOPPED, STARTING, PAIRING, CONNECTED, RECONNECTING, LOGGED_OUT, FAILED.
	State string `json:"state"`
}

type SessionAccount struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	VerifiedBizName string `json:"verifiedBizName"`
}

type SessionError struct {
	// UNIX seconds.
	At Time `json:"at"`
	// One of passkey_required, banned, client_outdated, replaced, logged_out_on_phone,
	// reachout_limited, deaf, credentials, network, unknown.
	Code    string `json:"code"`
	Message string `json:"message"`
	// UNIX seconds.
	RetryAt *Time `json:"retryAt"`
}

type SessionView struct {
	// UNIX seconds.
	ExpiresAt Time `json:"expiresAt"`
	// A JWT for the Authorization header.
	Token string `json:"token"`
	User  User   `json:"user"`
}

type SetBudgetsRequest struct {
	Items []BudgetItem `json:"items"`
}

type SetPricingRequest struct {
	Items []PriceItem `json:"items"`
}

// SignUpAnswer: What Auth_SignUp answers: the members of whatever it may be.
type SignUpAnswer struct {
	// UNIX seconds.
	ExpiresAt *Time `json:"expiresAt,omitzero"`
	Success   *bool `json:"success,omitzero"`
	// A JWT for the Authorization header.
	Token string `json:"token,omitzero"`
	User  *User  `json:"user,omitzero"`
}

type SignUpRequest struct {
	// Whether to set a session cookie as well. Default: false.
	Cookie   *bool  `json:"cookie,omitzero"`
	Email    string `json:"email"`
	Name     string `json:"name"`
	Password string `json:"password"`
}

type SimulatedEffect struct {
	// UNIX seconds.
	At Time `json:"at"`
	// The request of a call, the name and data of an event, or the details of another effect.
	Data json.RawMessage `json:"data"`
	// One of call, contact, event, handoff, endHandoff, ask, jump.
	Kind string `json:"kind"`
	Node string `json:"node"`
}

type SimulatedEnd struct {
	Error *FlowError `json:"error"`
	// Any JSON value.
	Output json.RawMessage `json:"output"`
	// One of completed, cancelled, failed.
	Status string `json:"status"`
}

type SimulatedMessage struct {
	// UNIX seconds.
	At Time `json:"at"`
	// The message in the form of a send request.
	Message json.RawMessage `json:"message"`
	Node    string          `json:"node"`
}

type Simulation struct {
	// Other effects of this step.
	Effects []SimulatedEffect `json:"effects"`
	// null if the run has not ended.
	Ended *SimulatedEnd `json:"ended"`
	// Messages that this step sent.
	Messages []SimulatedMessage `json:"messages"`
	// Time on the clock of the simulation.
	Now int64 `json:"now"`
	// Send it with the next request.
	State json.RawMessage `json:"state"`
	// The last 1,000 node steps of this request.
	Steps []Step `json:"steps"`
	// Time when it stops waiting.
	Until *int64 `json:"until"`
	// Variables without the secret ones, which are in state.
	Variables map[string]json.RawMessage `json:"variables"`
	// One of reply, timer, event, handoff, effect, approval.
	WaitingFor *string `json:"waitingFor"`
}

type SimulationInput struct {
	// Time that passes, as an ISO 8601 duration.
	Advance *string `json:"advance,omitzero"`
	// Whether an agent that waits for approval may call its tool.
	Approve *bool `json:"approve,omitzero"`
	Cancel  *bool `json:"cancel,omitzero"`
	// The person gives the chat back.
	Close *bool                       `json:"close,omitzero"`
	Event *SimulationInputEventStruct `json:"event,omitzero"`
	// The environment of a new run: now, contact, chat, input, args, vars, mocks, refuse.
	Given json.RawMessage `json:"given,omitzero"`
	// Text that the contact writes.
	Input *string `json:"input,omitzero"`
	// A message of the contact that is not a text, in the form that expressions use.
	Message json.RawMessage `json:"message,omitzero"`
	// The state of the previous answer, unchanged. If absent, a new run starts.
	State json.RawMessage `json:"state,omitzero"`
	// A person takes over the chat.
	Take *bool `json:"take,omitzero"`
	// The version to play. 0 is the draft.
	Version *int64 `json:"version,omitzero"`
}

type SimulationInputEventStruct struct {
	Data map[string]json.RawMessage `json:"data,omitzero"`
	Name string                     `json:"name"`
}

type StartRequest struct {
	ChatID *string `json:"chatId,omitzero"`
	FlowID string  `json:"flowId"`
	// Available in expressions as start and input.
	Input map[string]json.RawMessage `json:"input,omitzero"`
	// Id of the reference.
	Reference *int64 `json:"reference,omitzero"`
}

type StartSessionRequest struct {
	// How to link a reference that is not linked to a phone yet: with a QR code that the session
	// returns, or with a code that you type on the phone. One of qr, code.
	Method *string `json:"method,omitzero"`
	// The phone number to link. Required with the method code.
	Phone *string `json:"phone,omitzero"`
	// Id of the reference.
	Reference int64 `json:"reference"`
}

type Step struct {
	// UNIX seconds.
	At Time `json:"at"`
	// How long the step waited, in milliseconds. Milliseconds.
	DurationMs int64      `json:"durationMs"`
	Error      *FlowError `json:"error"`
	// Input of the node, with secrets masked.
	In   map[string]json.RawMessage `json:"in"`
	Node string                     `json:"node"`
	// Output of the node.
	Out map[string]json.RawMessage `json:"out"`
	// The output that the run left the node by; null while it waits, and at the end of a graph.
	Output *string `json:"output"`
	// The frames above the node, for example each[2] and call:vat. Loop rounds count from 0.
	Path []string `json:"path"`
	// Number of the run's retry, on the first step after that retry; otherwise null.
	Retry *int64 `json:"retry"`
	// Number within the run, from 1.
	Seq  int64  `json:"seq"`
	Type string `json:"type"`
	// Something that the node ignored.
	Warning *string `json:"warning"`
}

type Template struct {
	// MARKETING, UTILITY or AUTHENTICATION.
	Category string `json:"category"`
	// The components, in the network's form.
	Components []json.RawMessage `json:"components"`
	// The network's id of the template.
	ID       string `json:"id"`
	Language string `json:"language"`
	Name     string `json:"name"`
	// The network's name of the status.
	ProviderStatus string `json:"providerStatus"`
	// GREEN, YELLOW, RED or UNKNOWN.
	Quality *string `json:"quality"`
	// The network's reason for the status.
	Reason *string `json:"reason"`
	// Id of the reference.
	Reference int64 `json:"reference"`
	// One of PENDING, APPROVED, REJECTED, DISABLED.
	Status string `json:"status"`
	// UNIX seconds.
	UpdatedAt Time `json:"updatedAt"`
}

type TemplateButton struct {
	Text string `json:"text"`
	Type string `json:"type"`
	// Address that the button opens.
	URL *string `json:"url,omitzero"`
}

type TemplateCall struct {
	Components []json.RawMessage `json:"components,omitzero"`
	Language   TemplateLanguage  `json:"language"`
	Name       string            `json:"name"`
}

type TemplateLanguage struct {
	Code   string  `json:"code"`
	Policy *string `json:"policy,omitzero"`
}

type TemplatePreview struct {
	Buttons []TemplateButton `json:"buttons,omitzero"`
	Footer  *string          `json:"footer,omitzero"`
	// Text of the header; for a file, its address or else its kind.
	Header *string `json:"header,omitzero"`
	Text   string  `json:"text"`
}

type TestList struct {
	// Each test is an object {name, given, steps}.
	Tests []json.RawMessage `json:"tests"`
}

type TestOutcome struct {
	// The first difference from what the test expects.
	Failure *FailureView `json:"failure"`
	Name    string       `json:"name"`
	Passed  bool         `json:"passed"`
	// The last 200 steps of the run.
	Steps []Step `json:"steps"`
}

type TestReport struct {
	Coverage Coverage `json:"coverage"`
	// Whether all tests passed.
	Passed bool `json:"passed"`
	// The results, in the order of the tests.
	Tests []TestOutcome `json:"tests"`
}

type TestRun struct {
	// Tests to play instead of the stored ones.
	Tests []json.RawMessage `json:"tests,omitzero"`
	// The version to play. 0 is the draft.
	Version *int64 `json:"version,omitzero"`
}

type Token struct {
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// UNIX seconds.
	ExpiresAt   Time     `json:"expiresAt"`
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Permissions []string `json:"permissions"`
}

type TryRequest struct {
	// Chat of the message.
	ChatID *string `json:"chatId,omitzero"`
	// Language of the text.
	Locale *string `json:"locale,omitzero"`
	// Id of the message.
	MessageID *string `json:"messageId,omitzero"`
	// Time that relative dates start from. Default: the current time, or the time of the message.
	Now any `json:"now,omitzero"`
	// Reference of the message.
	Reference *int64 `json:"reference,omitzero"`
	// Country of phone numbers without a country code.
	Region *string `json:"region,omitzero"`
	Text   *string `json:"text,omitzero"`
}

type Typing struct {
	ChatID string `json:"chatId"`
	// UNIX seconds.
	Since Time `json:"since"`
}

type Unknown struct {
	Type string `json:"type"`
}

type UpdateChatRequest struct {
	BotActive *bool  `json:"botActive,omitzero"`
	ChatID    string `json:"chatId"`
	// Merged with the stored ones by name. null removes a name.
	Fields map[string]json.RawMessage `json:"fields,omitzero"`
	// take: a person answers from now on; close: bots may answer again. One of take, close.
	Handoff *string `json:"handoff,omitzero"`
	// null or empty: remove the language.
	Language *string `json:"language,omitzero"`
	// null or empty: show the contact's own name again.
	Name     *string `json:"name,omitzero"`
	OptedOut *bool   `json:"optedOut,omitzero"`
	// Id of the reference.
	Reference int64 `json:"reference"`
	// Replaces all tags.
	Tags []string `json:"tags,omitzero"`
	// Merged with the stored ones by name. null removes a name.
	Variables map[string]json.RawMessage `json:"variables,omitzero"`
}

type UpdateProjectRequest struct {
	Description *string `json:"description,omitzero"`
	Name        *string `json:"name,omitzero"`
}

type UpdateReferenceRequest struct {
	Name *string `json:"name,omitzero"`
	// Merged with the stored settings by name, also within an object. A name that is absent keeps its
	// value. null removes a setting, or all of an object.
	Settings map[string]json.RawMessage `json:"settings,omitzero"`
}

type UpdateUserRequest struct {
	// Required to change your own e-mail or password.
	CurrentPassword *string `json:"currentPassword,omitzero"`
	// Whether the user is disabled: a disabled user cannot log in, and the user's tokens and cookies
	// are refused.
	Disabled    *bool    `json:"disabled,omitzero"`
	Email       *string  `json:"email,omitzero"`
	Name        *string  `json:"name,omitzero"`
	Password    *string  `json:"password,omitzero"`
	Permissions []string `json:"permissions,omitzero"`
	// A named set of permissions, to be used instead of permissions. One of owner, admin, builder,
	// agent, viewer.
	Role *string `json:"role,omitzero"`
}

type UsageCall struct {
	// Time when the call started. UNIX seconds.
	At Time `json:"at"`
	// Number of input tokens that the provider read from its cache.
	CachedInputTokens int64 `json:"cachedInputTokens"`
	// null if there is no chat, or it was erased.
	ChatID *string `json:"chatId"`
	// Micro-USD, with at most three decimals. One million are one USD.
	Cost *float64 `json:"cost"`
	// priced; estimated: an upper bound, because the price of cached input is unknown; unpriced_model,
	// unpriced_usage_kind: a price is missing; no_usage: the provider did not report the usage;
	// unknown: the call has not ended, or its end was not recorded. More values may be added.
	CostStatus string `json:"costStatus"`
	// Milliseconds; 0 while the call is in progress. Milliseconds.
	DurationMs float64 `json:"durationMs"`
	// An error code; null if the call succeeded or is in progress.
	Error   *string `json:"error"`
	Feature string  `json:"feature"`
	FlowID  *string `json:"flowId"`
	ID      string  `json:"id"`
	// All input tokens, including cached ones.
	InputTokens int64 `json:"inputTokens"`
	// The model that answered. While the call is in progress, the model that was asked.
	Model string `json:"model"`
	// All output tokens, including reasoning.
	OutputTokens int64 `json:"outputTokens"`
	// account, file or built-in.
	PriceSource  *string `json:"priceSource"`
	PriceVersion *string `json:"priceVersion"`
	ProjectID    *string `json:"projectId"`
	Provider     string  `json:"provider"`
	// Number of output tokens for reasoning.
	ReasoningTokens int64 `json:"reasoningTokens"`
	// Id of the reference.
	Reference *int64 `json:"reference"`
	// Tokens that budgets count for a call without reported usage; otherwise 0.
	ReservedTokens int64   `json:"reservedTokens"`
	RunID          *string `json:"runId"`
	// Id of the user who requested it; null if a contact or the server did.
	UserID *string `json:"userId"`
}

type UsageRollup struct {
	Items     []UsageRow `json:"items"`
	Total     UsageSum   `json:"total"`
	Truncated bool       `json:"truncated"`
}

type UsageRow struct {
	// Number of input tokens that the provider read from its cache.
	CachedInputTokens int64 `json:"cachedInputTokens"`
	// Number of calls of language models.
	Calls int64 `json:"calls"`
	// Micro-USD, with at most three decimals. One million are one USD.
	Cost float64 `json:"cost"`
	// Number of failed calls.
	Errors int64 `json:"errors"`
	// All input tokens, including cached ones.
	InputTokens int64 `json:"inputTokens"`
	// The keys, separated by |.
	Key string `json:"key"`
	// The value of each group: an hour as 2026-07-02T13:00:00+02:00, a day as 2026-07-02, an ISO 8601
	// week as 2026-W27, a month as 2026-07, a chat as 7/ana (reference and chatId). Empty if the calls
	// have no value.
	Keys map[string]string `json:"keys"`
	// All output tokens, including reasoning.
	OutputTokens int64 `json:"outputTokens"`
	// Number of output tokens for reasoning.
	ReasoningTokens int64 `json:"reasoningTokens"`
	// Number of calls without a cost.
	UnpricedCalls int64 `json:"unpricedCalls"`
}

type UsageSum struct {
	// Number of input tokens that the provider read from its cache.
	CachedInputTokens int64 `json:"cachedInputTokens"`
	// Number of calls of language models.
	Calls int64 `json:"calls"`
	// Micro-USD, with at most three decimals. One million are one USD.
	Cost float64 `json:"cost"`
	// Number of failed calls.
	Errors int64 `json:"errors"`
	// All input tokens, including cached ones.
	InputTokens int64 `json:"inputTokens"`
	// All output tokens, including reasoning.
	OutputTokens int64 `json:"outputTokens"`
	// Number of output tokens for reasoning.
	ReasoningTokens int64 `json:"reasoningTokens"`
	// Number of calls without a cost.
	UnpricedCalls int64 `json:"unpricedCalls"`
}

type User struct {
	AccountID string `json:"accountId"`
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// Whether the user is disabled: a disabled user cannot log in, and the user's tokens and cookies
	// are refused.
	Disabled    bool     `json:"disabled"`
	Email       string   `json:"email"`
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Permissions []string `json:"permissions"`
	// The role with exactly these permissions; null if no role has them. Owners have every permission.
	// One of owner, admin, builder, agent, viewer.
	Role *string `json:"role"`
}

type ValueChange struct {
	// Any JSON value.
	After json.RawMessage `json:"after"`
	// Any JSON value.
	Before json.RawMessage `json:"before"`
	// Name of the variable; empty for the output.
	Name string `json:"name"`
}

type Version struct {
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// A document of the flow language. A draft may be any object.
	Document json.RawMessage `json:"document"`
	// Number of the published version, from 1.
	Version int64 `json:"version"`
}

type WebhooksReplayRequest struct {
	// An endpointId. Give it instead of ids.
	Endpoint *string `json:"endpoint,omitzero"`
	// Ids of deliveries, of any reference of the account.
	IDs []string `json:"ids,omitzero"`
	// UNIX seconds. Only deliveries whose last attempt was at this time or later. Default: no limit.
	Since *Time `json:"since,omitzero"`
	// Only deliveries in this state. Default: failed and dead. One of failed, dead, delivered.
	State *string `json:"state,omitzero"`
	// UNIX seconds. Only deliveries whose last attempt was at this time or earlier. Default: now.
	Until *Time `json:"until,omitzero"`
}

type WebhooksUpdateRequest struct {
	Enabled *bool    `json:"enabled,omitzero"`
	Events  []string `json:"events,omitzero"`
	// Format of the requests, including deliveries that already wait. One of trunkline, cloud,
	// evolution, waha, wuzapi.
	Format *string `json:"format,omitzero"`
	// Replaces all headers. The value •••• keeps the stored value.
	Headers []Header `json:"headers,omitzero"`
	Include []string `json:"include,omitzero"`
	// Whether to create a new secret. For 24 hours, deliveries are signed with both the old and the
	// new secret.
	RotateSecret *bool `json:"rotateSecret,omitzero"`
}

// WriteRequest: One of these types, as `type` says.
type WriteRequest struct {
	Address string `json:"address,omitzero"`
	Caption string `json:"caption,omitzero"`
	Emoji   string `json:"emoji,omitzero"`
	// Name of a document. Default: the name of the stored file.
	FileName string `json:"fileName,omitzero"`
	// Id of the simulated contact: ana writes from ana@sandbox.
	From string `json:"from"`
	// Chat id of the group to write in. If absent, it writes to the reference.
	Group string `json:"group,omitzero"`
	ID    string `json:"id,omitzero"`
	// Degrees. Positive north of the equator.
	Latitude *float64 `json:"latitude,omitzero"`
	// Degrees. Positive east of Greenwich.
	Longitude *float64 `json:"longitude,omitzero"`
	// Id of a file from POST /media. Give either this or url.
	MediaID   string   `json:"mediaId,omitzero"`
	Mentions  []string `json:"mentions,omitzero"`
	MessageID string   `json:"messageId,omitzero"`
	// With a location, the name of the place. Otherwise the same as pushName.
	Name       string `json:"name,omitzero"`
	PreviewURL *bool  `json:"previewUrl,omitzero"`
	// Name that the contact shows. Default: its previous name.
	PushName string `json:"pushName,omitzero"`
	Text     string `json:"text,omitzero"`
	Title    string `json:"title,omitzero"`
	// Which of them it is. One of text, location, reaction, reply, edit, revoke, image, video,
	// document, audio, sticker.
	Type string `json:"type"`
	// URL from which the network fetches the file.
	URL string `json:"url,omitzero"`
	// Whether to send it as a voice note. It must be one channel of Opus in Ogg; if the server has
	// ffmpeg, it converts other recordings.
	Voice *bool `json:"voice,omitzero"`
}

type Written struct {
	// Id of the message.
	ID      string `json:"id"`
	Success bool   `json:"success"`
}
