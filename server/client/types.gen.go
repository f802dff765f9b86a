// Code generated from the OpenAPI document; DO NOT EDIT.

package client

import "encoding/json"

type AcceptInvitationRequest struct {
	// Also set a session cookie.
	Cookie *bool `json:"cookie,omitzero"`
	// Required when the invitation has none.
	Name     *string `json:"name,omitzero"`
	Password string  `json:"password"`
	// The part behind # in the link.
	Token string `json:"token"`
}

type Account struct {
	// Of the subscription; null: unknown.
	CurrentPeriodEnd *int64 `json:"currentPeriodEnd"`
	ID               string `json:"id"`
	// What its subscription is called; null: it has none.
	Plan   *string       `json:"plan"`
	Quotas AccountQuotas `json:"quotas"`
	// Of the subscription, in the words of Stripe: trialing, active, past_due, canceled, unpaid,
	// paused, …; null: it has none.
	Status *string      `json:"status"`
	Usage  AccountUsage `json:"usage"`
}

type AccountQuotas struct {
	// Requests a minute, on each node.
	API QuotaState `json:"api"`
	// Chats with people. A contact who writes first is never refused.
	Contacts QuotaState `json:"contacts"`
	// Own messages, a day in UTC. Received ones are never refused.
	Messages QuotaState `json:"messages"`
	// Connected numbers, pages and accounts.
	References QuotaState `json:"references"`
	// Runs of flows and bots, a day in UTC. A run that a message of a contact begins is counted and
	// never refused.
	Runs QuotaState `json:"runs"`
	// Bytes of the files that are kept, of chats and projects, and of the published versions of flows
	// and bots. A file that a contact sends is never refused.
	Storage QuotaState `json:"storage"`
}

type AccountUsage struct {
	// Webhook deliveries that arrived.
	Deliveries int64 `json:"deliveries"`
	// Of the files that are kept now.
	MediaBytes int64 `json:"mediaBytes"`
	// Messages of contacts, also those that were deleted.
	MessagesIn int64 `json:"messagesIn"`
	// Own messages, wherever they were written.
	MessagesOut int64 `json:"messagesOut"`
	// Lines of the account.
	References int64 `json:"references"`
	// Messages and deliveries are counted from here on: the beginning of this month in UTC. UNIX
	// seconds.
	Since Time `json:"since"`
	// Users of the account.
	Users int64 `json:"users"`
}

type ActiveBot struct {
	Engine string `json:"engine"`
	ID     string `json:"id"`
}

type AddPasskeyRequest struct {
	// What toJSON() of the browser's credential gives.
	Credential map[string]json.RawMessage `json:"credential"`
	// By which the user tells passkeys apart.
	Name string `json:"name"`
}

type AddRequest struct {
	// With its ending, which says what it is.
	Name string `json:"name"`
	// What is in it.
	Text string `json:"text"`
	// Its media type, when the name does not say it.
	Type *string `json:"type,omitzero"`
}

type AgentEntry struct {
	// An object; null: there are none, or more than 2 KiB.
	Arguments json.RawMessage `json:"arguments"`
	// The tools that an answer wants called.
	Calls []string `json:"calls"`
	// Micro-USD, with at most three decimals: a million are one USD.
	Cost *float64 `json:"cost"`
	// UNIX seconds.
	EndedAt *Time `json:"endedAt"`
	// Code of the error of an attempt that failed.
	Error *string `json:"error"`
	// Tokens of what was asked.
	InputTokens int64 `json:"inputTokens"`
	// The call failed, or was not made.
	IsError bool `json:"isError"`
	// turn: an answer of the model; tool: a call; told: what somebody said to it. One of turn, tool,
	// told.
	Kind  string  `json:"kind"`
	Model *string `json:"model"`
	Node  string  `json:"node"`
	// Tokens of what was answered, reasoning among them.
	OutputTokens int64  `json:"outputTokens"`
	Result       string `json:"result"`
	// Counts through the session, from 1.
	Seq int64 `json:"seq"`
	// Names the visit to the node.
	Session string `json:"session"`
	// Of the whole result, in bytes.
	Size int64 `json:"size"`
	// UNIX seconds.
	StartedAt *Time `json:"startedAt"`
	// asked: it waits for consent; unknown: nobody knows whether it happened. One of asked, approved,
	// denied, started, done, failed, unknown.
	Status string `json:"status"`
	// Why the model stopped.
	Stop *string `json:"stop"`
	// Of an answer, or what was said: at most 2 KiB, from its beginning and its end, as result.
	Text string `json:"text"`
	// As flows name it.
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
	// null after a 2xx.
	Error *string `json:"error"`
	// The first KiB of the body.
	Response string `json:"response"`
	// null: there was no response.
	StatusCode *int64 `json:"statusCode"`
}

type AuditActor struct {
	// Of the user, at that time.
	Email *string `json:"email"`
	// cookie: a person in a browser; login: the token of a log-in; token: a program's; agent: a model
	// or a flow; operator: the command line of the server; system: the server; nobody: a log-in that
	// failed. One of cookie, login, token, agent, operator, system, nobody.
	Kind string `json:"kind"`
	// Of the run in which an agent did it.
	RunID *string `json:"runId"`
	// Of the token that was used.
	TokenID *string `json:"tokenId"`
	// Also of a user who has been deleted since.
	UserID *string `json:"userId"`
}

type AuditEntry struct {
	// What was done: see docs/audit.md.
	Action string     `json:"action"`
	Actor  AuditActor `json:"actor"`
	// Of the client; null: it was no request.
	Address *string `json:"address"`
	// UNIX seconds.
	At Time `json:"at"`
	// An object. changed: the names of what was changed; what else there is depends on the action.
	Details json.RawMessage `json:"details"`
	ID      string          `json:"id"`
	Object  AuditObject     `json:"object"`
	// That the object is, or belongs to.
	Reference *int64 `json:"reference"`
	// X-Request-Id of the answer; null: it was no request.
	RequestID *string `json:"requestId"`
}

type AuditObject struct {
	// null: it has none, or is a contact who was erased.
	ID *string `json:"id"`
	// As it was called then.
	Name *string `json:"name"`
	Type string  `json:"type"`
}

type AuditedCall struct {
	// An object of what may be shown of them. Texts in brackets stand for what is left out.
	Arguments json.RawMessage `json:"arguments"`
	// When it was answered. UNIX seconds.
	At     Time `json:"at"`
	DryRun bool `json:"dryRun"`
	// Milliseconds.
	DurationMs float64 `json:"durationMs"`
	Function   string  `json:"function"`
	ID         string  `json:"id"`
	// ok, or the code of the error.
	Outcome string `json:"outcome"`
	// The token for programs that was used; null: that of a log-in.
	TokenID *string `json:"tokenId"`
	// Who called.
	UserID string `json:"userId"`
}

type BatchRequest struct {
	Calls []ExecuteRequest `json:"calls"`
}

type BatchResult struct {
	// What became of each call, in their order.
	Results []McpOutcome `json:"results"`
}

type BeforeAfter struct {
	After  string `json:"after"`
	Before string `json:"before"`
}

type BindRequest struct {
	Enabled bool `json:"enabled"`
	// Over that of the trigger node; the higher one answers.
	Priority *int64 `json:"priority,omitzero"`
	// Id of the line.
	Reference int64 `json:"reference"`
}

type Binding struct {
	Enabled bool `json:"enabled"`
	// null: that of the trigger node.
	Priority *int64 `json:"priority"`
	// Id of the line.
	Reference int64 `json:"reference"`
}

type Bot struct {
	// Whether what is published answers.
	Active bool `json:"active"`
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// The draft.
	Flow json.RawMessage `json:"flow"`
	ID   string          `json:"id"`
	// Of the triggers keyword and regex.
	Keywords []string `json:"keywords,omitzero"`
	Name     string   `json:"name"`
	// What is wrong with the draft.
	Problems []FlowProblem `json:"problems"`
	// Id of the line.
	Reference int64 `json:"reference"`
	// Raised by every change; the ETag.
	Revision int64 `json:"revision"`
	// One of draft, published.
	Status string `json:"status"`
	// What starts it, by its draft; the first of triggers.
	Trigger  string   `json:"trigger"`
	Triggers []string `json:"triggers"`
	// UNIX seconds.
	UpdatedAt Time `json:"updatedAt"`
	// The published one; 0: none is.
	Version int64 `json:"version"`
}

type BotAction struct {
}

type BotengineCreateRequest struct {
	// A document of the flow language. A draft may be any object.
	Flow json.RawMessage `json:"flow,omitzero"`
	// Of the triggers keyword and regex.
	Keywords []string `json:"keywords,omitzero"`
	Name     string   `json:"name"`
	// Id of the line.
	Reference int64 `json:"reference"`
	// always, keyword, regex, first_message, button, referral, schedule or manual.
	Trigger *string `json:"trigger,omitzero"`
}

type BotengineUpdateRequest struct {
	// false: it begins no conversation.
	Active *bool `json:"active,omitzero"`
	// A document of the flow language. A draft may be any object.
	Flow     json.RawMessage `json:"flow,omitzero"`
	Keywords []string        `json:"keywords,omitzero"`
	Name     *string         `json:"name,omitzero"`
	// Replaces what starts the bot in its draft.
	Trigger *string `json:"trigger,omitzero"`
}

type BudgetItem struct {
	// Of one chat; without it each.
	ChatID *string `json:"chatId,omitzero"`
	// The most that calls may cost. At least one of cost and tokens is there.
	Cost *float64 `json:"cost,omitzero"`
	// Of one flow; without it each.
	FlowID *string `json:"flowId,omitzero"`
	// When it begins anew. One of day, month, total.
	Period string `json:"period"`
	// Of one project; without it each.
	ProjectID *string `json:"projectId,omitzero"`
	// The line of chatId.
	Reference *int64 `json:"reference,omitzero"`
	// One of account, project, flow, chat.
	Scope string `json:"scope"`
	// IANA name: whose days and months.
	Timezone *string `json:"timezone,omitzero"`
	// The most tokens, of input and output together.
	Tokens *int64 `json:"tokens,omitzero"`
	// What becomes of calls of models whose price is not known. One of allow, refuse.
	Unpriced *string `json:"unpriced,omitzero"`
}

type BudgetState struct {
	// Of one chat; without it each.
	ChatID *string `json:"chatId,omitzero"`
	// The most that calls may cost. At least one of cost and tokens is there.
	Cost *float64 `json:"cost,omitzero"`
	// Of one flow; without it each.
	FlowID *string `json:"flowId,omitzero"`
	// When it begins anew. One of day, month, total.
	Period string `json:"period"`
	// Of one project; without it each.
	ProjectID *string `json:"projectId,omitzero"`
	// The line of chatId.
	Reference *int64 `json:"reference,omitzero"`
	// One of account, project, flow, chat.
	Scope string `json:"scope"`
	// With what calls under way reserve; null: it is for each of something.
	SpentCost *float64 `json:"spentCost"`
	// As spentCost.
	SpentTokens *int64 `json:"spentTokens"`
	// IANA name: whose days and months.
	Timezone *string `json:"timezone,omitzero"`
	// The most tokens, of input and output together.
	Tokens *int64 `json:"tokens,omitzero"`
	// What becomes of calls of models whose price is not known. One of allow, refuse.
	Unpriced *string `json:"unpriced,omitzero"`
	// When it begins anew; null: never.
	Until *int64 `json:"until"`
}

type Budgets struct {
	Items []BudgetState `json:"items"`
}

type CancelRequest struct {
}

type Capabilities struct {
	Groups bool `json:"groups"`
	// Most bytes by type.
	Media    map[string]int64 `json:"media"`
	Receipts bool             `json:"receipts"`
	// Types that it sends as they are.
	Send      []string `json:"send"`
	Templates bool     `json:"templates"`
	Typing    bool     `json:"typing"`
	// Hours in which free-form messages may follow the contact's last one; null: always.
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
	// An object for the browser.
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
	// Id of the line.
	Reference int64    `json:"reference"`
	Tags      []string `json:"tags"`
	// Messages that nobody has read.
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
	// That the app shows now.
	Code string `json:"code"`
}

type ConfirmSignUpRequest struct {
	// Also set a session cookie.
	Cookie *bool `json:"cookie,omitzero"`
	// The one that was given at the sign-up.
	Password string `json:"password"`
	// The part behind # in the link.
	Token string `json:"token"`
}

type Confusion struct {
	// Text of one of these tests.
	Example string `json:"example"`
	// That was meant; nomatch: none.
	Intent string `json:"intent"`
	// That was found; nomatch: none.
	Taken string `json:"taken"`
	// Tests of which this is so.
	Times int64 `json:"times"`
}

type Connect struct {
	// At the provider.
	URL string `json:"url"`
}

// Content: One of the types by its `type`.
type Content struct {
	Address  string   `json:"address,omitzero"`
	Button   string   `json:"button,omitzero"`
	Buttons  []Choice `json:"buttons,omitzero"`
	Caption  string   `json:"caption,omitzero"`
	Contacts []Card   `json:"contacts,omitzero"`
	Emoji    string   `json:"emoji,omitzero"`
	// Of a document; absent: the name it was kept under.
	FileName    string          `json:"fileName,omitzero"`
	Interactive json.RawMessage `json:"interactive,omitzero"`
	// Degrees, north of the equator positive.
	Latitude *float64 `json:"latitude,omitzero"`
	// Degrees, east of Greenwich positive.
	Longitude *float64 `json:"longitude,omitzero"`
	// Of a file from POST /media; this or url.
	MediaID    string    `json:"mediaId,omitzero"`
	Mentions   []string  `json:"mentions,omitzero"`
	MessageID  string    `json:"messageId,omitzero"`
	Multiple   *bool     `json:"multiple,omitzero"`
	Name       string    `json:"name,omitzero"`
	Options    []string  `json:"options,omitzero"`
	PreviewURL *bool     `json:"previewUrl,omitzero"`
	Question   string    `json:"question,omitzero"`
	Sections   []Section `json:"sections,omitzero"`
	// Why it may go out although the window is closed, in Messenger's word. Other lines ignore it.
	Tag      string        `json:"tag,omitzero"`
	Template *TemplateCall `json:"template,omitzero"`
	Text     string        `json:"text,omitzero"`
	// Which of them it is. One of text, template, buttons, list, location, contacts, reaction, edit,
	// revoke, poll, interactive, image, video, document, audio, sticker.
	Type string `json:"type"`
	// Where the network finds the file.
	URL string `json:"url,omitzero"`
	// A voice note: one channel of Opus in Ogg, or what ffmpeg, where the server has it, can make that
	// of.
	Voice *bool `json:"voice,omitzero"`
}

type Coverage struct {
	// That no test has reached.
	MissingNodes []string `json:"missingNodes"`
	// That no test has taken.
	MissingOutputs []string `json:"missingOutputs"`
	// How often each node was entered.
	Nodes map[string]int64 `json:"nodes"`
	// How often each connected output was taken, as ask.timeout.
	Outputs map[string]int64 `json:"outputs"`
}

type CreateGroupRequest struct {
	// Chat ids of at least one person.
	Participants []string `json:"participants"`
	// Id of the line.
	Reference int64  `json:"reference"`
	Subject   string `json:"subject"`
}

type CreateProjectRequest struct {
	Description *string `json:"description,omitzero"`
	Name        string  `json:"name"`
}

type CreateReferenceRequest struct {
	Name string `json:"name"`
	// What the type needs. provider-web: nothing, or markOnline, historySync and proxyUrl;
	// provider-cloud: phoneNumberId and accessToken, and businessAccountId (asked from the network
	// when absent), appSecret and verifyToken (those of the server when absent); provider-messenger:
	// pageId and accessToken, and appSecret and verifyToken likewise; provider-sandbox: nothing, or
	// lateIds.
	Settings map[string]string `json:"settings,omitzero"`
	// provider-web, provider-cloud, provider-messenger or provider-sandbox.
	Type string `json:"type"`
}

type CreateTemplateRequest struct {
	// MARKETING, UTILITY or AUTHENTICATION.
	Category string `json:"category"`
	// As the network takes them.
	Components []json.RawMessage `json:"components"`
	Language   string            `json:"language"`
	// Lower-case letters, digits and underscores.
	Name string `json:"name"`
	// How variables are called; absent: positional. One of positional, named.
	ParameterFormat *string `json:"parameterFormat,omitzero"`
	// Id of the line.
	Reference int64 `json:"reference"`
}

type CreateTokenRequest struct {
	// UNIX seconds
	ExpiresAt Time   `json:"expiresAt"`
	Name      string `json:"name"`
	// Some of the caller's.
	Permissions []string `json:"permissions"`
}

type CreateUserRequest struct {
	Email    string `json:"email"`
	Name     string `json:"name"`
	Password string `json:"password"`
	// Some of the caller's. GET /user/permissions lists what there is. Required without a role.
	Permissions []string `json:"permissions,omitzero"`
	// A set of permissions, instead of them. One of owner, admin, builder, agent, viewer.
	Role *string `json:"role,omitzero"`
}

type CredentialCreateRequest struct {
	// Of the kinds header and query.
	Field *string `json:"field,omitzero"`
	// Where it may be sent, with or without a port; none: everywhere.
	Hosts []string `json:"hosts,omitzero"`
	// bearer and basic: the header Authorization; header and query: the header or the parameter that
	// field names. One of bearer, basic, header, query.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// The token, the password or the key: one line.
	Secret string `json:"secret"`
	// Of the kind basic.
	Username *string `json:"username,omitzero"`
}

type CredentialView struct {
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// The header or the parameter that carries it.
	Field *string `json:"field"`
	// Where it may be sent; none: everywhere.
	Hosts []string `json:"hosts"`
	ID    string   `json:"id"`
	// One of bearer, basic, header, query.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Masked.
	Secret   string  `json:"secret"`
	Username *string `json:"username"`
}

type DeleteAccountRequest struct {
	// The caller's own.
	Password string `json:"password"`
}

type Deleting struct {
	Job     Job  `json:"job"`
	Success bool `json:"success"`
}

type Delivery struct {
	// The oldest first; at most the last 50.
	Attempts []Attempt `json:"attempts"`
	ChatID   *string   `json:"chatId"`
	// UNIX seconds.
	CreatedAt  Time   `json:"createdAt"`
	EndpointID string `json:"endpointId"`
	// One of message, status, data, calls, subscription, session.
	Event     string  `json:"event"`
	ID        string  `json:"id"`
	MessageID *string `json:"messageId"`
	// null: none is planned, or one is under way. UNIX seconds.
	NextAttemptAt *Time `json:"nextAttemptAt"`
	// Counts the events of a chat to the webhook; 0: a test.
	Sequence int64 `json:"sequence"`
	// One of pending, delivered, failed, dead.
	State string `json:"state"`
}

type DocumentChange struct {
	// Any JSON value; null where there was none.
	From json.RawMessage `json:"from"`
	// One of added, removed, changed.
	Kind string `json:"kind"`
	// JSON pointer into the document.
	Path string `json:"path"`
	// Any JSON value; null where there is none.
	To json.RawMessage `json:"to"`
}

type Done struct {
	Success bool `json:"success"`
}

type DraftFromTextRequest struct {
	// provider/model; without it the server's.
	Model *string `json:"model,omitzero"`
	Text  string  `json:"text"`
}

type DraftProposal struct {
	// To be looked at.
	Draft json.RawMessage `json:"draft"`
	// That wrote it.
	Model string `json:"model"`
	// What is wrong with it.
	Problems []FlowProblem `json:"problems"`
	Usage    DraftUsage    `json:"usage"`
}

type DraftUsage struct {
	// Calls of language models.
	Calls int64 `json:"calls"`
	// In micro-USD; null: unknown.
	Cost *float64 `json:"cost"`
	// Tokens of what was asked.
	InputTokens int64 `json:"inputTokens"`
	// Tokens of what was answered, reasoning among them.
	OutputTokens int64 `json:"outputTokens"`
}

type Echoed struct {
	// UNIX seconds.
	At      Time            `json:"at"`
	Body    json.RawMessage `json:"body"`
	Headers []Header        `json:"headers"`
}

type EdgeDiff struct {
	// Id of a node; null: it led nowhere.
	From   *string `json:"from"`
	Node   string  `json:"node"`
	Output string  `json:"output"`
	// Id of a node; null: it leads nowhere.
	To *string `json:"to"`
}

type EditGroupRequest struct {
	// Chat ids of people.
	Add    []string `json:"add,omitzero"`
	ChatID string   `json:"chatId"`
	Demote []string `json:"demote,omitzero"`
	Leave  *bool    `json:"leave,omitzero"`
	// To administrators.
	Promote []string `json:"promote,omitzero"`
	// Id of the line.
	Reference int64    `json:"reference"`
	Remove    []string `json:"remove,omitzero"`
	// The links of before lead nowhere any more.
	ResetInvite *bool   `json:"resetInvite,omitzero"`
	Subject     *string `json:"subject,omitzero"`
}

type Endpoint struct {
	// UNIX seconds.
	CreatedAt  Time     `json:"createdAt"`
	Enabled    bool     `json:"enabled"`
	EndpointID string   `json:"endpointId"`
	Events     []string `json:"events"`
	// The form of its requests: our own, or that of Evolution API, WAHA or wuzapi. One of trunkline,
	// evolution, waha, wuzapi.
	Format  string   `json:"format"`
	Headers []Header `json:"headers"`
	// Id of the reference, as a string.
	ID        string   `json:"id"`
	Include   []string `json:"include"`
	LastError *string  `json:"lastError"`
	// Id of the line.
	Reference int64 `json:"reference"`
	// Signs deliveries. Shown once: when it was just made.
	Secret *string `json:"secret,omitzero"`
	// One of ok, paused, disabled.
	State string `json:"state"`
	// UNIX seconds.
	UpdatedAt Time   `json:"updatedAt"`
	Webhook   string `json:"webhook"`
}

type Enrolment struct {
	// The same as a QR code: a data URL of a PNG.
	QR string `json:"qr"`
	// In base32, to be typed into the app.
	Secret string `json:"secret"`
	// otpauth://…, to be opened by an app on the same device.
	URL string `json:"url"`
}

type EvaluateRequest struct {
}

type Evaluation struct {
	// The share of tests that are right; null: there are none.
	Accuracy *float64 `json:"accuracy"`
	// Of intents: what is taken for what, the most frequent first.
	Confused []Confusion `json:"confused"`
	Failures []Miss      `json:"failures"`
	// Tests that found what they should.
	Right int64 `json:"right"`
	// Tests that were run.
	Tests int64 `json:"tests"`
}

type EventRequest struct {
	Data map[string]json.RawMessage `json:"data,omitzero"`
	Name string                     `json:"name"`
}

type ExecuteRequest struct {
	// By the names of the function's arguments; absent: none.
	Arguments json.RawMessage `json:"arguments,omitzero"`
	// Only say what it would do.
	DryRun   *bool  `json:"dryRun,omitzero"`
	Function string `json:"function"`
}

type Explained struct {
	// Milliseconds since the first step. Milliseconds.
	AfterMs int64 `json:"afterMs"`
	// Who listens on the line, in the order in which they were asked.
	Asked []ExplainedAsked `json:"asked,omitzero"`
	// UNIX seconds.
	At         Time    `json:"at"`
	DeliveryID *string `json:"deliveryId,omitzero"`
	// Milliseconds.
	DurationMs *int64  `json:"durationMs,omitzero"`
	EndpointID *string `json:"endpointId,omitzero"`
	// Of the run: botengine or aiflow.
	Engine  *string  `json:"engine,omitzero"`
	Error   *Failure `json:"error,omitzero"`
	Event   *string  `json:"event,omitzero"`
	FileURL *string  `json:"fileUrl,omitzero"`
	// Of the run: its flow or bot.
	FlowID *string `json:"flowId,omitzero"`
	// The last of these. UNIX seconds.
	LastAt *Time `json:"lastAt,omitzero"`
	// Of what the run sent.
	MessageID *string `json:"messageId,omitzero"`
	// UNIX seconds.
	NextAttemptAt *Time `json:"nextAttemptAt,omitzero"`
	// Of an attempt: sent, failed, retried or unconfirmed; of a file: waiting, kept or lost; of a
	// webhook: pending, delivered, retried, failed or dead; of routed: continued (a run waited for
	// it), begun, queued (behind an earlier run), silent (no bot may speak in the chat), nobody
	// (nothing that listens takes it) or failed.
	Outcome *string `json:"outcome,omitzero"`
	// What the network reported.
	Raw   json.RawMessage `json:"raw,omitzero"`
	RunID *string         `json:"runId,omitzero"`
	// When it happened, as the network says. UNIX seconds.
	SaidAt *Time   `json:"saidAt,omitzero"`
	Status *string `json:"status,omitzero"`
	// The HTTP status of the answer.
	StatusCode *int64 `json:"statusCode,omitzero"`
	// An open list.
	Step string `json:"step"`
	// How many attempts in a row ended so.
	Times *int64 `json:"times,omitzero"`
	// What extractors found, by name.
	Values map[string]json.RawMessage `json:"values,omitzero"`
	// Of the run.
	Version *int64 `json:"version,omitzero"`
}

type ExplainedAsked struct {
	Engine string `json:"engine"`
	ID     string `json:"id"`
	// Empty when it does not listen there any more.
	Name string `json:"name"`
	// answers; behind: it would, but another one was asked first; passes: its trigger does not take
	// the message; cooling: it was begun here a short time ago; busy: a run of it is active here.
	Outcome string `json:"outcome"`
	// Whoever has the higher one is asked first.
	Priority int64 `json:"priority"`
	// Counts what is published, from 1.
	Version int64 `json:"version"`
}

type Explanation struct {
	Message Message `json:"message"`
	// In the order of time.
	Steps []Explained `json:"steps"`
}

type Exported struct {
	Calls []ExportedCall `json:"calls"`
	// null: it has none, but has written in groups, or was looked up.
	Chat *Chat `json:"chat"`
	// What of it could not be read.
	DeadLetters []ExportedReport `json:"deadLetters"`
	// To webhooks.
	Deliveries []ExportedDelivery `json:"deliveries"`
	// UNIX seconds.
	ExportedAt Time     `json:"exportedAt"`
	Identity   Identity `json:"identity"`
	// Every id by which the contact is or was known.
	IDs []string `json:"ids"`
	// Oldest first; then what it wrote in groups.
	Messages []ExportedMessage `json:"messages"`
	// What was asked about its phone number.
	Numbers []Number `json:"numbers"`
	// Id of the line.
	Reference int64 `json:"reference"`
	// What else the network reported of it.
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
	// Bytes.
	FileLength int64 `json:"fileLength"`
	// Path below the base address.
	FileURL  string `json:"fileUrl"`
	MediaID  string `json:"mediaId"`
	Mimetype string `json:"mimetype"`
	Name     string `json:"name"`
	// It is still being fetched.
	Waiting bool `json:"waiting"`
}

type ExportedMessage struct {
	// What was sent, of a message of the account.
	Content json.RawMessage `json:"content,omitzero"`
	File    *ExportedFile   `json:"file,omitzero"`
	Message Message         `json:"message"`
	// What the network reported, of a message that was not understood.
	Raw json.RawMessage `json:"raw,omitzero"`
	// When it reached them.
	Statuses []ExportedStatus `json:"statuses"`
}

type ExportedReport struct {
	Body json.RawMessage `json:"body"`
	// UNIX seconds.
	CreatedAt Time   `json:"createdAt"`
	ID        string `json:"id"`
	// Of a dead letter: why it could not be read.
	Kind string `json:"kind"`
}

type ExportedStatus struct {
	// UNIX seconds.
	At     Time   `json:"at"`
	Status string `json:"status"`
}

type ExtractorCreateRequest struct {
	// As the kind has it. regex: {pattern, flags?, groups?: {name: string|number|date|phone|email}},
	// RE2. entity: {types: [email, url, phone, number, ordinal, money, percentage, date, time,
	// duration, boolean, quantity, document, dictionary], locale?, region?, possiblePhones?,
	// dictionary?: [{value, synonyms?}]}. intent: {intents: [{name, examples}], threshold? (0.5),
	// fallback?: {model}}. ai: {model, instructions?, schema, when?: always|missing}. All take tests:
	// [{text, locale?, region?, now? (ISO 8601), values?}].
	Config  json.RawMessage `json:"config"`
	Enabled *bool           `json:"enabled,omitzero"`
	// Upper and lower case are the same. One of regex, ai, intent, entity.
	Kind  string         `json:"kind"`
	Name  string         `json:"name"`
	Scope ExtractorScope `json:"scope"`
}

type ExtractorFound struct {
	// Milliseconds.
	DurationMs float64 `json:"durationMs"`
	// In the order of their place.
	Matches []Match `json:"matches"`
	// null: no model was asked.
	Usage *ExtractorUsage `json:"usage"`
	// By name: the first of each.
	Values map[string]json.RawMessage `json:"values"`
}

type ExtractorScope struct {
	// Those of the line of this bot.
	Bot *string `json:"bot,omitzero"`
	// Those of chats on whose line this flow listens, or in which it has a run.
	Flow *string `json:"flow,omitzero"`
	// Those of this line.
	Reference *int64 `json:"reference,omitzero"`
}

type ExtractorUpdateRequest struct {
	// As the kind has it. regex: {pattern, flags?, groups?: {name: string|number|date|phone|email}},
	// RE2. entity: {types: [email, url, phone, number, ordinal, money, percentage, date, time,
	// duration, boolean, quantity, document, dictionary], locale?, region?, possiblePhones?,
	// dictionary?: [{value, synonyms?}]}. intent: {intents: [{name, examples}], threshold? (0.5),
	// fallback?: {model}}. ai: {model, instructions?, schema, when?: always|missing}. All take tests:
	// [{text, locale?, region?, now? (ISO 8601), values?}].
	Config  json.RawMessage `json:"config,omitzero"`
	Enabled *bool           `json:"enabled,omitzero"`
	Name    *string         `json:"name,omitzero"`
	Scope   *ExtractorScope `json:"scope,omitzero"`
}

type ExtractorUsage struct {
	// Tokens of what was asked that the provider had in its cache.
	CachedInputTokens int64 `json:"cachedInputTokens"`
	// Calls of language models.
	Calls int64 `json:"calls"`
	// Micro-USD; null: the price of a call is not known.
	Cost *float64 `json:"cost"`
	// Tokens of what was asked.
	InputTokens int64 `json:"inputTokens"`
	// Tokens of what was answered, reasoning among them.
	OutputTokens int64 `json:"outputTokens"`
	// Tokens of what was answered that are reasoning.
	ReasoningTokens int64 `json:"reasoningTokens"`
	// Calls whose price is not known.
	UnpricedCalls int64 `json:"unpricedCalls"`
}

type ExtractorView struct {
	// As the kind has it. regex: {pattern, flags?, groups?: {name: string|number|date|phone|email}},
	// RE2. entity: {types: [email, url, phone, number, ordinal, money, percentage, date, time,
	// duration, boolean, quantity, document, dictionary], locale?, region?, possiblePhones?,
	// dictionary?: [{value, synonyms?}]}. intent: {intents: [{name, examples}], threshold? (0.5),
	// fallback?: {model}}. ai: {model, instructions?, schema, when?: always|missing}. All take tests:
	// [{text, locale?, region?, now? (ISO 8601), values?}].
	Config json.RawMessage `json:"config"`
	// UNIX seconds.
	CreatedAt Time   `json:"createdAt"`
	Enabled   bool   `json:"enabled"`
	ID        string `json:"id"`
	// One of regex, ai, intent, entity.
	Kind  string         `json:"kind"`
	Name  string         `json:"name"`
	Scope ExtractorScope `json:"scope"`
	// Whether the intents of the config have been learned; null: nothing is to be learned. One of
	// training, ready, failed.
	Training *string `json:"training"`
	// Why they could not be.
	TrainingError *string `json:"trainingError"`
	// UNIX seconds.
	UpdatedAt Time `json:"updatedAt"`
}

type Failure struct {
	// What can be done about it, where that is known.
	Advice  *string `json:"advice,omitzero"`
	Code    string  `json:"code"`
	Message string  `json:"message"`
}

type FailureView struct {
	Message string `json:"message"`
	// Of the test, from 0; the number of its steps: after the last one.
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
	// What it calls, in whatever depth, by slug.
	Functions []json.RawMessage `json:"functions"`
}

type Flow struct {
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// A document of the flow language. A draft may be any object.
	Draft json.RawMessage `json:"draft"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	// What is wrong with the draft.
	Problems  []FlowProblem `json:"problems"`
	ProjectID string        `json:"projectId"`
	Published *Published    `json:"published"`
	// Raised by every change; the ETag.
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
	// The rest, by path: settings, variables, start and so on.
	Document []DocumentChange `json:"document"`
	// Outputs that lead elsewhere, by node and output; also those of nodes that came or went.
	Edges []EdgeDiff `json:"edges"`
	// 0: nothing, because nothing is published.
	From int64 `json:"from"`
	// Those that come in another version, by slug. Of a draft with errors none are known.
	Functions []FunctionDiff `json:"functions"`
	// By id.
	Nodes []NodeDiff `json:"nodes"`
	// 0: the draft.
	To int64 `json:"to"`
}

type FlowError struct {
	// Counts the attempts, from 1.
	Attempt *int64                     `json:"attempt,omitzero"`
	Code    string                     `json:"code"`
	Detail  map[string]json.RawMessage `json:"detail,omitzero"`
	Message string                     `json:"message"`
	Node    *string                    `json:"node,omitzero"`
}

type FlowLimits struct {
	// Bytes of a document.
	Bytes int64 `json:"bytes"`
	// Functions that a flow may come with.
	Functions int64 `json:"functions"`
	// Nodes of a document.
	Nodes int64 `json:"nodes"`
	// Bytes of the editor's own data.
	UIBytes int64 `json:"uiBytes"`
	// Variables of a document.
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
	// Byte at which it begins in the expression or template at `path`, from 0.
	At       *int64  `json:"at"`
	Code     string  `json:"code"`
	Hint     *string `json:"hint"`
	Message  string  `json:"message"`
	NodeID   string  `json:"nodeId"`
	Path     string  `json:"path"`
	Severity string  `json:"severity"`
}

type Form struct {
	// The answers as the network gives them, usually an object.
	Data json.RawMessage `json:"data"`
	Name string          `json:"name"`
}

type FunctionDiff struct {
	// Its version; 0: one of before the project was imported, null: none.
	From *int64 `json:"from"`
	Slug string `json:"slug"`
	// Its version; 0: one of before the project was imported, null: none.
	To *int64 `json:"to"`
}

type FunctionList struct {
	// Functions in the list.
	Count     int64           `json:"count"`
	Functions []McpDescriptor `json:"functions"`
	// Of the catalogue, as semantic version.
	Version string `json:"version"`
}

type FunctionUse struct {
	// Whether its draft calls the function.
	Draft  bool   `json:"draft"`
	FlowID string `json:"flowId"`
	Name   string `json:"name"`
	// The version that its published version came with; 0: one of before the project was imported,
	// null: none.
	Published *int64 `json:"published"`
}

type Group struct {
	// The account may change it.
	Admin  bool   `json:"admin"`
	ChatID string `json:"chatId"`
	// UNIX seconds.
	CreatedAt   *Time  `json:"createdAt"`
	Description string `json:"description"`
	// By which anybody can join; null: only administrators see it.
	InviteLink *string `json:"inviteLink"`
	// The account has just left it.
	Left bool `json:"left"`
	// The account itself is not among them.
	Participants []GroupMember `json:"participants"`
	// Id of the line.
	Reference int64 `json:"reference"`
	// With whom the network did not do what this request asked for.
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
	// In the network's own words.
	Error Failure `json:"error"`
}

type Handoff struct {
	// What the bot says about it.
	Note string `json:"note"`
	// UNIX seconds.
	Since Time `json:"since"`
	// A person has it; else one is asked for.
	Taken bool `json:"taken"`
	// Whom the bot asked for.
	Target string `json:"target"`
	// When bots answer again; null: when the chat is given back.
	Until *int64 `json:"until"`
}

type Header struct {
	Key string `json:"key"`
	// Shown as •••• afterwards.
	Value string `json:"value"`
}

type Health struct {
	// UNIX seconds.
	LastAckAt *Time `json:"lastAckAt"`
	// UNIX seconds.
	LastInboundAt *Time `json:"lastInboundAt"`
	// UNIX seconds.
	LastProbeAt *Time `json:"lastProbeAt"`
	// What does not work with the settings that the line has, such as callbacks.unverified. When the
	// session is asked for by itself also what the network last said of the line: its quality, limits,
	// account and credentials.
	Reports []HealthReport `json:"reports,omitzero"`
}

type HealthReport struct {
	// UNIX seconds.
	At Time `json:"at"`
	// The network's word for what it is about.
	Kind string `json:"kind"`
	// One of news, good, warning, stopped.
	Level string `json:"level"`
	// In the network's words.
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
	// Of the chat, as it is written now.
	ChatID string `json:"chatId"`
	// WhatsApp's hidden id.
	Lid   *string `json:"lid"`
	Phone *string `json:"phone"`
	// Business-scoped, or page-scoped.
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
	// Of the published document: why it stayed a draft, or warnings. Of an export of Typebot: what the
	// draft lacks.
	Problems  []FlowProblem `json:"problems"`
	Published bool          `json:"published"`
}

type ImportedProject struct {
	// UNIX seconds.
	CreatedAt   Time   `json:"createdAt"`
	Description string `json:"description"`
	// In the order of the document.
	Flows []ImportedFlow `json:"flows"`
	ID    string         `json:"id"`
	Name  string         `json:"name"`
	// UNIX seconds.
	UpdatedAt Time `json:"updatedAt"`
}

type Invitation struct {
	// UNIX seconds
	CreatedAt Time   `json:"createdAt"`
	Email     string `json:"email"`
	// UNIX seconds
	ExpiresAt Time   `json:"expiresAt"`
	ID        string `json:"id"`
	// Id of the user.
	InvitedBy string `json:"invitedBy"`
	// null: the person gives it.
	Name        *string  `json:"name"`
	Permissions []string `json:"permissions"`
	// The role that has these permissions; null: no role has. One of owner, admin, builder, agent,
	// viewer.
	Role *string `json:"role"`
}

type InviteRequest struct {
	Email string `json:"email"`
	// Whether to send the link where there is a mail server. Default: true.
	Mail *bool `json:"mail,omitzero"`
	// What the person may change; absent: the person gives it.
	Name *string `json:"name,omitzero"`
	// Some of the caller's. Required without a role.
	Permissions []string `json:"permissions,omitzero"`
	// A set of permissions, instead of them. One of owner, admin, builder, agent, viewer.
	Role *string `json:"role,omitzero"`
}

type Invited struct {
	Invitation Invitation `json:"invitation"`
	// Shown only now; null: a mail brings it.
	Link *string `json:"link"`
}

type Item struct {
	Approved bool `json:"approved"`
	// That is approved; not needed to withdraw.
	Hash *string `json:"hash,omitzero"`
	Name string  `json:"name"`
}

type Job struct {
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// UNIX seconds.
	EndedAt *Time  `json:"endedAt"`
	ID      string `json:"id"`
	// What is being deleted. One of chat, reference, account.
	Kind string `json:"kind"`
	// That it is, or in which the chat was; null: it is the account.
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
	// Whoever has the higher one is asked first.
	Priority int64 `json:"priority"`
	// The first of triggers; manual: nothing that comes on the line starts it.
	Trigger  string   `json:"trigger"`
	Triggers []string `json:"triggers"`
	// That is published.
	Version int64 `json:"version"`
}

type Location struct {
	Address *string `json:"address,omitzero"`
	// Degrees, north of the equator positive.
	Latitude float64 `json:"latitude"`
	// Degrees, east of Greenwich positive.
	Longitude float64 `json:"longitude"`
	Name      *string `json:"name,omitzero"`
}

type LoginPasskeyRequest struct {
	// Also set a session cookie.
	Cookie *bool `json:"cookie,omitzero"`
	// What toJSON() of the browser's credential gives.
	Credential map[string]json.RawMessage `json:"credential"`
}

type LoginRequest struct {
	// Of the user's authenticator app, or a recovery code; needed when the answer was
	// second_factor_required.
	Code *string `json:"code,omitzero"`
	// Also set a session cookie.
	Cookie   *bool  `json:"cookie,omitzero"`
	Email    string `json:"email"`
	Password string `json:"password"`
}

type MarkReadRequest struct {
	ChatID string `json:"chatId"`
	// Up to this message; absent: all.
	MessageID *string `json:"messageId,omitzero"`
	// Id of the line.
	Reference int64 `json:"reference"`
	// Show the contact also that an answer is being written, where the line can.
	Typing *bool `json:"typing,omitzero"`
}

type Match struct {
	// From 0 to 1.
	Confidence float64 `json:"confidence"`
	// Where they end.
	End  int64  `json:"end"`
	Name string `json:"name"`
	// Where they begin in the text, in bytes of UTF-8.
	Start int64 `json:"start"`
	// The words that say it.
	Text string `json:"text"`
	Type string `json:"type"`
	// Any JSON value.
	Value json.RawMessage `json:"value"`
}

type McpArgument struct {
	Default     json.RawMessage `json:"default,omitzero"`
	Description *string         `json:"description,omitzero"`
	Enum        []string        `json:"enum,omitzero"`
	// The most characters.
	MaxLength *int64 `json:"maxLength,omitzero"`
	// The largest value.
	Maximum *float64 `json:"maximum,omitzero"`
	// The fewest characters.
	MinLength *int64 `json:"minLength,omitzero"`
	// The smallest value.
	Minimum  *float64 `json:"minimum,omitzero"`
	Required bool     `json:"required"`
	// string, number, boolean, object, array or any.
	Type string `json:"type"`
}

type McpDescriptor struct {
	Arguments   map[string]McpArgument `json:"arguments"`
	Description string                 `json:"description"`
	Name        string                 `json:"name"`
	// What a caller needs besides mcp.execute.
	Permission string `json:"permission"`
	// It changes nothing.
	ReadOnly bool       `json:"readOnly"`
	Returns  McpReturns `json:"returns"`
	Title    string     `json:"title"`
}

type McpDetail struct {
	// Path of the argument, "input.items[2].name"; "arguments": all of them.
	Argument string `json:"argument"`
	// Which rule it breaks.
	Message string `json:"message"`
}

type McpError struct {
	// Which error it is. Stable.
	Code string `json:"code"`
	// What is wrong with which argument.
	Details []McpDetail `json:"details"`
	// What went wrong, for models and people.
	Message string `json:"message"`
}

type McpOutcome struct {
	Error *McpError `json:"error"`
	// Milliseconds.
	ExecutionTime float64         `json:"executionTime"`
	Function      string          `json:"function"`
	Result        json.RawMessage `json:"result"`
	Success       bool            `json:"success"`
	// When it was answered, ISO 8601.
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
	// Bytes.
	FileLength int64 `json:"fileLength"`
	// Path below the base address.
	FileURL  string `json:"fileUrl"`
	MediaID  string `json:"mediaId"`
	Mimetype string `json:"mimetype"`
}

// Message: A message as its owner sees it: one of the types by its `type`.
type Message struct {
	// One of contact, user, api, bot, flow, agent, phone.
	Actor   string `json:"actor"`
	Caption string `json:"caption,omitzero"`
	// Id of the chat, as a send takes it.
	ChatID string `json:"chatId"`
	// The clientId that the send was given.
	ClientID string `json:"clientId,omitzero"`
	Contacts []Card `json:"contacts,omitzero"`
	Context  *Quote `json:"context,omitzero"`
	// One of in, out.
	Direction string `json:"direction"`
	// The message whose content this one replaces.
	Edited *MessageRef `json:"edited,omitzero"`
	Error  *Failure    `json:"error"`
	// What the extractors found, by name.
	Extracted map[string]json.RawMessage `json:"extracted,omitzero"`
	// Bytes.
	FileLength json.Number `json:"fileLength,omitzero"`
	FileName   string      `json:"fileName,omitzero"`
	// Path below the base address; empty when the file could not be had.
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
	// May carry a codecs parameter.
	Mimetype string `json:"mimetype,omitzero"`
	// The account itself wrote it.
	Mine  bool   `json:"mine"`
	Order *Order `json:"order,omitzero"`
	// Pages of the document.
	PageCount   *int64       `json:"pageCount,omitzero"`
	Participant *Participant `json:"participant,omitzero"`
	Poll        *Poll        `json:"poll,omitzero"`
	PushName    string       `json:"pushName"`
	Reaction    *Reaction    `json:"reaction,omitzero"`
	// The same as reference.
	Ref int64 `json:"ref"`
	// Id of the line.
	Reference int64 `json:"reference"`
	// The advertisement or post that it came from, as the network gives it.
	Referral  json.RawMessage `json:"referral,omitzero"`
	RemoteJID string          `json:"remoteJid"`
	Reply     *Reply          `json:"reply,omitzero"`
	// Of a message that was sent here: our id of it, which is its id until the network has given one.
	// It stays the same, and is in the answer of the send.
	RequestID string `json:"requestId,omitzero"`
	// The message that was deleted.
	Revoked *MessageRef `json:"revoked,omitzero"`
	// Duration.
	Seconds *int64 `json:"seconds,omitzero"`
	// The type that was sent when the line lacks the one asked for.
	SentAs string `json:"sentAs,omitzero"`
	// One of FAIL, PENDING, SENDING, DELIVERED, READ, PLAYED.
	Status string `json:"status"`
	// The image is a sticker.
	Sticker *bool `json:"sticker,omitzero"`
	// The template that the message is, with its parameters; the text is what the contact reads of it,
	// as far as that is known.
	Template *SentTemplate `json:"template,omitzero"`
	Text     string        `json:"text,omitzero"`
	// Of the document.
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
	// Its place among the messages of the draft, if added, or of the run, from 0.
	At int64 `json:"at"`
	// One of added, removed.
	Change string `json:"change"`
	// As a send request has it.
	Message json.RawMessage `json:"message"`
	Node    string          `json:"node"`
}

type MessageRef struct {
	MessageID string `json:"messageId"`
}

type MessagingLogoutRequest struct {
	// Id of the line.
	Reference int64 `json:"reference"`
}

type Methods struct {
	// null: there is no provider.
	Oidc *Oidc `json:"oidc"`
	// Whether passkeys can be added and used: they need a base URL with https and a host name, or
	// http://localhost.
	Passkeys bool `json:"passkeys"`
	// One of open, closed.
	SignUp string `json:"signUp"`
}

type Miss struct {
	Found map[string]json.RawMessage `json:"found"`
	// Its place among the tests, from 0.
	Test   int64                      `json:"test"`
	Text   string                     `json:"text"`
	Wanted map[string]json.RawMessage `json:"wanted"`
}

type MissingPrice struct {
	// Calls of language models.
	Calls int64 `json:"calls"`
	// UNIX seconds.
	FirstSeen Time `json:"firstSeen"`
	// Tokens of what was asked.
	InputTokens int64 `json:"inputTokens"`
	// UNIX seconds.
	LastSeen Time   `json:"lastSeen"`
	Model    string `json:"model"`
	// Tokens of what was answered, reasoning among them.
	OutputTokens int64  `json:"outputTokens"`
	Provider     string `json:"provider"`
}

type MissingPrices struct {
	Items []MissingPrice `json:"items"`
}

type Model struct {
	// As flows name it.
	ID string `json:"id"`
	// As its provider names it.
	Name     string `json:"name"`
	Provider string `json:"provider"`
	// As people call it; empty: nothing else.
	Title string `json:"title"`
}

type ModelProblem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type ModelProvider struct {
	// Why its models are not listed; null: they are.
	Error *ModelProblem `json:"error"`
	Name  string        `json:"name"`
}

type Models struct {
	Items     []Model         `json:"items"`
	Providers []ModelProvider `json:"providers"`
}

type NewToken struct {
	ID string `json:"id"`
	// A JWT for the Authorization header, shown only now.
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
	// What a send takes.
	ChatID string `json:"chatId"`
	// null: the network does not say.
	Exists *bool `json:"exists"`
	// As it was understood.
	Phone string `json:"phone"`
}

type Oidc struct {
	// What users know the provider by.
	Name string `json:"name"`
	// Open it in the browser: it leads to the provider, back, and to the panel with a session cookie.
	URL string `json:"url"`
}

type Open struct {
	// Of the last client; null: unknown.
	Address *string `json:"address"`
	// UNIX seconds
	CreatedAt Time `json:"createdAt"`
	// It is the session of this request.
	Current bool `json:"current"`
	// UNIX seconds. That of a cookie moves on with each use, for 7 days at most.
	ExpiresAt Time   `json:"expiresAt"`
	ID        string `json:"id"`
	// cookie: a log-in of a browser; token: a log-in with a token alone; scoped: a token for programs.
	// One of cookie, token, scoped.
	Kind string `json:"kind"`
	// Exact to a minute; null: never. UNIX seconds.
	LastUsedAt *Time `json:"lastUsedAt"`
	// Of a token for programs.
	Name *string `json:"name"`
	// Of a token for programs; null: all of the user's.
	Permissions []string `json:"permissions"`
	// What the last client calls itself; null: unknown.
	UserAgent *string `json:"userAgent"`
}

type Order struct {
	CatalogID string      `json:"catalogId"`
	Items     []OrderItem `json:"items"`
	Text      *string     `json:"text,omitzero"`
}

type OrderItem struct {
	Currency string `json:"currency"`
	// Of one, in units of the currency.
	Price     float64 `json:"price"`
	ProductID string  `json:"productId"`
	// How many of it.
	Quantity float64 `json:"quantity"`
}

type Participant struct {
	// Id of the chat with this person alone, as a send takes it; empty in messages that are older than
	// this member.
	ChatID    string `json:"chatId"`
	PushName  string `json:"pushName"`
	RemoteJID string `json:"remoteJid"`
}

type Passage struct {
	// Id of the file.
	File string `json:"file"`
	Name string `json:"name"`
	// Which of its passages, from 1.
	Part int64  `json:"part"`
	Text string `json:"text"`
}

type Passages struct {
	// The best first.
	Items []Passage `json:"items"`
}

type Passkey struct {
	// UNIX seconds
	CreatedAt Time   `json:"createdAt"`
	ID        string `json:"id"`
	// null: never. UNIX seconds.
	LastUsedAt *Time  `json:"lastUsedAt"`
	Name       string `json:"name"`
}

type Password struct {
	// The caller's own.
	Password string `json:"password"`
}

type PastRuns struct {
	// The runs that these chats have had, the newest first, 50 in all.
	Chats []ReplayChat `json:"chats,omitzero"`
	// Ids of runs.
	Runs []string `json:"runs,omitzero"`
}

type PathChange struct {
	// Its place among the steps of the run, from 0.
	At int64 `json:"at"`
	// One of added, removed.
	Change string `json:"change"`
	// Frames, node and output.
	Step string `json:"step"`
}

type Permission struct {
	Description string `json:"description"`
	// Whether it can be limited to a reference, as in chats.read@17.
	Limitable bool   `json:"limitable"`
	Name      string `json:"name"`
}

type Permissions struct {
	Catalogue []Permission `json:"catalogue"`
	// Of the caller; a scoped token's own. chats.read@17 is chats.read on the reference 17 alone.
	Permissions []string `json:"permissions"`
	// Sets of permissions that users can be given.
	Roles []Role `json:"roles"`
}

type Poll struct {
	// Of a vote: the message with the poll.
	MessageID *string  `json:"messageId,omitzero"`
	Multiple  bool     `json:"multiple"`
	Options   []string `json:"options"`
	Question  string   `json:"question"`
	// Of a vote: the options that are ticked now.
	Selected []string `json:"selected,omitzero"`
}

type PreviewTemplateRequest struct {
	// Id of the line.
	Reference int64        `json:"reference"`
	Template  TemplateCall `json:"template"`
}

type PriceItem struct {
	// Input that was written to a cache. Without it a call with such input has no cost.
	CacheWrite *float64 `json:"cacheWrite,omitzero"`
	// As cacheWrite, of what is kept for an hour.
	CacheWrite1h *float64 `json:"cacheWrite1h,omitzero"`
	// Input that was read from a cache. Without it such input counts like any other, and the cost is
	// an estimate.
	CachedInput *float64 `json:"cachedInput,omitzero"`
	// Required, unless there is sameAs.
	Input *float64 `json:"input,omitzero"`
	Model string   `json:"model"`
	// Required, unless there is sameAs.
	Output   *float64 `json:"output,omitzero"`
	Provider string   `json:"provider"`
	// Output that is not shown; without it as output.
	Reasoning *float64 `json:"reasoning,omitzero"`
	// provider/model: another model whose prices these are. It takes no prices beside it.
	SameAs *string `json:"sameAs,omitzero"`
	// By over, ascending.
	Tiers []PriceTier `json:"tiers,omitzero"`
}

type PriceSource struct {
	// Models with a price.
	Models int64 `json:"models"`
	// file or built-in.
	Source  string `json:"source"`
	Version string `json:"version"`
}

type PriceTier struct {
	// Input that was written to a cache. Without it a call with such input has no cost.
	CacheWrite *float64 `json:"cacheWrite,omitzero"`
	// As cacheWrite, of what is kept for an hour.
	CacheWrite1h *float64 `json:"cacheWrite1h,omitzero"`
	// Input that was read from a cache. Without it such input counts like any other, and the cost is
	// an estimate.
	CachedInput *float64 `json:"cachedInput,omitzero"`
	// Required, unless there is sameAs.
	Input *float64 `json:"input,omitzero"`
	// Required, unless there is sameAs.
	Output *float64 `json:"output,omitzero"`
	// Tokens of input: calls that have more cost this, all of them.
	Over int64 `json:"over"`
	// Output that is not shown; without it as output.
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
	// Seconds since the start
	Uptime  int64  `json:"uptime"`
	Version string `json:"version"`
}

type ProblemList struct {
	// In the order of the nodes.
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
	// Into how many it is cut.
	Passages int64 `json:"passages"`
	// In bytes, as it was given.
	Size int64 `json:"size"`
	// One of text/plain, text/markdown, text/csv, application/json, text/html.
	Type string `json:"type"`
}

type Published struct {
	// A document of the flow language. A draft may be any object.
	Document json.RawMessage `json:"document"`
	// Counts what is published, from 1.
	Version int64 `json:"version"`
}

type PutRequest struct {
	// The form of its requests; absent: trunkline, or as it is. One of trunkline, evolution, waha,
	// wuzapi.
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
	// null: unlimited.
	Limit *int64 `json:"limit"`
	// When it begins anew; null: it goes down when something is deleted. UNIX seconds.
	ResetsAt *Time `json:"resetsAt"`
	// How much of it is used.
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
	// Messages that are still unread.
	Unread int64 `json:"unread"`
}

type Recovery struct {
	// Each works once. They are shown only now.
	RecoveryCodes []string `json:"recoveryCodes"`
}

type Reference struct {
	Capabilities Capabilities `json:"capabilities"`
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// Id of the line.
	ID      int64   `json:"id"`
	Name    string  `json:"name"`
	Session Session `json:"session"`
	// Secrets show only their last four characters.
	Settings map[string]string `json:"settings"`
	Type     string            `json:"type"`
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
	// The form of its requests: our own, or that of Evolution API, WAHA or wuzapi. One of trunkline,
	// evolution, waha, wuzapi.
	Format  string   `json:"format,omitzero"`
	Headers []Header `json:"headers,omitzero"`
	// Id of the reference, as a string.
	ID        string   `json:"id,omitzero"`
	Include   []string `json:"include,omitzero"`
	LastError *string  `json:"lastError,omitzero"`
	// Id of the line.
	Reference *int64 `json:"reference,omitzero"`
	// Signs deliveries. Shown once: when it was just made.
	Secret string `json:"secret,omitzero"`
	// One of ok, paused, disabled.
	State   string `json:"state,omitzero"`
	Success *bool  `json:"success,omitzero"`
	// UNIX seconds.
	UpdatedAt *Time  `json:"updatedAt,omitzero"`
	Webhook   string `json:"webhook,omitzero"`
}

type RegisterRequest struct {
	// With provider: where the network shall post.
	CallbackURL *string `json:"callbackUrl,omitzero"`
	// message, status, data, calls, subscription, session; absent: all but session.
	Events []string `json:"events,omitzero"`
	// The form of its requests: our own, or that of Evolution API, WAHA or wuzapi, which have no data
	// and subscription events; absent: trunkline. One of trunkline, evolution, waha, wuzapi.
	Format  *string  `json:"format,omitzero"`
	Headers []Header `json:"headers,omitzero"`
	// Id of the reference, as a string or an integer.
	ID any `json:"id,omitzero"`
	// extracted: message events wait for what the extractors find.
	Include []string `json:"include,omitzero"`
	// true, instead of webhook: subscribe at the line's network.
	Provider *bool `json:"provider,omitzero"`
	// Id of the reference; or give id.
	Reference *int64 `json:"reference,omitzero"`
	// whsec_ and base64 of 24 to 64 bytes; absent: made.
	Secret *string `json:"secret,omitzero"`
	// Where to deliver; required without provider.
	Webhook *string `json:"webhook,omitzero"`
}

type RemoteCreateRequest struct {
	// Id of the credential that requests carry.
	Credential *string `json:"credential,omitzero"`
	// By which flows call it.
	Name string `json:"name"`
	// Of its Streamable HTTP endpoint.
	URL string `json:"url"`
}

type RemoteTool struct {
	// It may be used.
	Approved bool `json:"approved"`
	// What was approved of a tool that has changed, when that is known.
	Before *ApprovedTool `json:"before"`
	// It was approved, and is another now.
	Changed bool `json:"changed"`
	// The server's words.
	Description string `json:"description"`
	// It takes away or overwrites; true unless its server says otherwise.
	Destructive bool `json:"destructive"`
	// SHA-256 of all of the above.
	Hash string `json:"hash"`
	// A second call changes nothing more, says its server.
	Idempotent bool   `json:"idempotent"`
	Name       string `json:"name"`
	// It reaches people or systems beyond its server; true unless its server says otherwise.
	OpenWorld bool `json:"openWorld"`
	// It changes nothing, says its server.
	ReadOnly bool `json:"readOnly"`
	// JSON Schema of the arguments.
	Schema json.RawMessage `json:"schema"`
}

type RemoteUpdateRequest struct {
	Credential *string `json:"credential,omitzero"`
	Enabled    *bool   `json:"enabled,omitzero"`
	Name       *string `json:"name,omitzero"`
	// Those that are not named stay as they are.
	Tools []Item  `json:"tools,omitzero"`
	URL   *string `json:"url,omitzero"`
}

type RemoteView struct {
	// When its tools were last asked for. UNIX seconds.
	CheckedAt *Time `json:"checkedAt"`
	// UNIX seconds.
	CreatedAt  Time    `json:"createdAt"`
	Credential *string `json:"credential"`
	Enabled    bool    `json:"enabled"`
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	// Why that failed.
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
	// Others that were changed with it.
	Drafts []RenamedIn `json:"drafts"`
	Flow   Flow        `json:"flow"`
	// Published versions that know the old slug.
	Published []FunctionUse `json:"published"`
}

type RenamedIn struct {
	FlowID string `json:"flowId"`
	Name   string `json:"name"`
	// Counts the changes of the draft.
	Revision int64 `json:"revision"`
}

type Replay struct {
	// Of the draft, that the run did not make so.
	Calls    []ReplayedCall  `json:"calls"`
	Messages []MessageChange `json:"messages"`
	// null: the same.
	Output *ValueChange `json:"output"`
	Path   []PathChange `json:"path"`
	// Why it could not be replayed; null: it was.
	Problem *string `json:"problem"`
	// The version that the run ran takes the path that the run took. Else something was different then
	// that nobody has written down, as the contact's fields.
	Reproduced bool   `json:"reproduced"`
	RunID      string `json:"runId"`
	// The draft does the same.
	Same bool `json:"same"`
	// completed, failed, cancelled, or what it waits for.
	Status BeforeAfter `json:"status"`
	// Ids of messages that the draft did not wait for.
	Untaken   []string      `json:"untaken"`
	Variables []ValueChange `json:"variables"`
	// That the run ran.
	Version int64 `json:"version"`
}

type ReplayChat struct {
	ChatID string `json:"chatId"`
	// Id of the line.
	Reference int64 `json:"reference"`
}

type ReplayResult struct {
	// How many are delivered again.
	Queued int64 `json:"queued"`
}

type ReplayedCall struct {
	// other: it got what the run was answered to another request of the node; missing: the run made no
	// such call, and it failed. One of other, missing.
	Answer string `json:"answer"`
	// One of http, assistant, agent, extract, tool, node.
	Kind string `json:"kind"`
	Node string `json:"node"`
}

type Reply struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

type RepriceRequest struct {
	// UNIX seconds: calls begun then or later; 0: all.
	From *Time `json:"from,omitzero"`
	// UNIX seconds: calls begun before; 0: all.
	To *Time `json:"to,omitzero"`
}

type Repriced struct {
	// Calls whose cost, or the reason for it, is another than before.
	Changed int64 `json:"changed"`
}

type ResetRequest struct {
	// Asks for a link.
	Email *string `json:"email,omitzero"`
	// The new password, with token; at least 10 characters.
	Password *string `json:"password,omitzero"`
	// What stands behind # in the link; uses it.
	Token *string `json:"token,omitzero"`
}

type RetryRequest struct {
	// Make a call again that must not be made twice, and may have been made.
	Repeat *bool `json:"repeat,omitzero"`
}

type Role struct {
	Description string `json:"description"`
	// One of owner, admin, builder, agent, viewer.
	Name        string   `json:"name"`
	Permissions []string `json:"permissions"`
}

type RollbackRequest struct {
	// Counts what is published, from 1.
	Version int64 `json:"version"`
}

type Run struct {
	ChatID *string `json:"chatId"`
	// UNIX seconds.
	EndedAt *Time `json:"endedAt"`
	// One of botengine, aiflow.
	Engine string     `json:"engine"`
	Error  *FlowError `json:"error"`
	// Of the flow or the bot.
	FlowID string `json:"flowId"`
	// The slug of the function that it runs. It then belongs to the flow of its parent, and lists by
	// flow leave it out.
	Function *string `json:"function"`
	ID       string  `json:"id"`
	// A document of the flow language. A draft may be any object.
	Input json.RawMessage `json:"input"`
	// Any JSON value.
	Output json.RawMessage `json:"output"`
	// The id of the run that began it: an agent in that one called a function, or run_flow.
	Parent *string `json:"parent"`
	// Id of the line.
	Reference *int64 `json:"reference"`
	// UNIX seconds.
	StartedAt Time `json:"startedAt"`
	// One of running, waiting, completed, failed, cancelled.
	Status string `json:"status"`
	// What its language models took; null on the stream.
	Usage *RunUsage `json:"usage"`
	// 0: a draft.
	Version int64 `json:"version"`
	// One of reply, timer, event, handoff, effect, approval.
	WaitingFor *string `json:"waitingFor"`
}

type RunDetail struct {
	// What its agents did, in order: the last 200 answers, calls and what they were told.
	Agent  []AgentEntry `json:"agent"`
	ChatID *string      `json:"chatId"`
	// UNIX seconds.
	EndedAt *Time `json:"endedAt"`
	// One of botengine, aiflow.
	Engine string     `json:"engine"`
	Error  *FlowError `json:"error"`
	// Of the flow or the bot.
	FlowID string `json:"flowId"`
	// The slug of the function that it runs. It then belongs to the flow of its parent, and lists by
	// flow leave it out.
	Function *string `json:"function"`
	ID       string  `json:"id"`
	// A document of the flow language. A draft may be any object.
	Input json.RawMessage `json:"input"`
	// Any JSON value.
	Output json.RawMessage `json:"output"`
	// The id of the run that began it: an agent in that one called a function, or run_flow.
	Parent *string `json:"parent"`
	// Id of the line.
	Reference *int64 `json:"reference"`
	// The last 1,000 messages that it sent.
	Sent []Message `json:"sent"`
	// UNIX seconds.
	StartedAt Time `json:"startedAt"`
	// One of running, waiting, completed, failed, cancelled.
	Status string `json:"status"`
	// The last 1,000.
	Steps []Step `json:"steps"`
	// What its language models took; null on the stream.
	Usage *RunUsage `json:"usage"`
	// As they are now, or were last; secret ones are left out.
	Variables map[string]json.RawMessage `json:"variables"`
	// 0: a draft.
	Version int64 `json:"version"`
	// One of reply, timer, event, handoff, effect, approval.
	WaitingFor *string `json:"waitingFor"`
}

type RunReply struct {
	Run RunDetail `json:"run"`
}

type RunRequest struct {
	ChatID string `json:"chatId"`
	// Run the draft, whatever is published.
	Draft *bool `json:"draft,omitzero"`
	// What the contact says.
	Input string `json:"input"`
}

type RunUsage struct {
	// Tokens of what was asked that the provider had in its cache.
	CachedInputTokens int64 `json:"cachedInputTokens"`
	// Calls of language models.
	Calls int64 `json:"calls"`
	// In micro-USD, of the calls whose cost is known; null: of none it is.
	Cost *float64 `json:"cost"`
	// Cached ones among them.
	InputTokens int64 `json:"inputTokens"`
	// Those of reasoning among them.
	OutputTokens int64 `json:"outputTokens"`
	// Tokens of what was answered that are reasoning.
	ReasoningTokens int64 `json:"reasoningTokens"`
	// Calls whose price is not known.
	UnpricedCalls int64 `json:"unpricedCalls"`
}

type SearchRequest struct {
	Text string `json:"text"`
}

type SecondFactor struct {
	Enabled bool `json:"enabled"`
	// How many are left.
	RecoveryCodes int64 `json:"recoveryCodes"`
	// UNIX seconds
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
	// The problem's code when it is not allowed.
	Reason *string `json:"reason,omitzero"`
	// The type that would go out.
	SentAs  string `json:"sentAs,omitzero"`
	Success *bool  `json:"success,omitzero"`
	// UNIX seconds.
	WindowExpiresAt *Time `json:"windowExpiresAt,omitzero"`
}

type SendRequest struct {
	ChatID string `json:"chatId"`
	// What you call the message, without control characters. It is in the record and in every event of
	// the message; a repeat is no error.
	ClientID *string `json:"clientId,omitzero"`
	// The message that this one answers.
	Context *Quoted `json:"context,omitzero"`
	// One of the types by its `type`.
	Message Content `json:"message"`
	// Id of the line.
	Reference int64 `json:"reference"`
}

type SentTemplate struct {
	// The parameters, as the network takes them.
	Components []json.RawMessage `json:"components"`
	Language   TemplateLanguage  `json:"language"`
	Name       string            `json:"name"`
}

type Session struct {
	// Who the line speaks for, as the network says.
	Account *SessionAccount `json:"account"`
	// UNIX seconds.
	ConnectedAt *Time         `json:"connectedAt"`
	Health      Health        `json:"health"`
	LastError   *SessionError `json:"lastError"`
	Node        *string       `json:"node"`
	PairingCode *string       `json:"pairingCode"`
	QR          *QR           `json:"qr"`
	// Id of the line.
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
	// UNIX seconds
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
	// UNIX seconds
	ExpiresAt *Time `json:"expiresAt,omitzero"`
	Success   *bool `json:"success,omitzero"`
	// A JWT for the Authorization header.
	Token string `json:"token,omitzero"`
	User  *User  `json:"user,omitzero"`
}

type SignUpRequest struct {
	// Also set a session cookie.
	Cookie   *bool  `json:"cookie,omitzero"`
	Email    string `json:"email"`
	Name     string `json:"name"`
	Password string `json:"password"`
}

type SimulatedEffect struct {
	// UNIX seconds.
	At Time `json:"at"`
	// The request of a call, the name and the data of an event, else what is to be done.
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
	// As a send request has it.
	Message json.RawMessage `json:"message"`
	Node    string          `json:"node"`
}

type Simulation struct {
	// What else it did now.
	Effects []SimulatedEffect `json:"effects"`
	// null: it has not.
	Ended *SimulatedEnd `json:"ended"`
	// What it wrote now.
	Messages []SimulatedMessage `json:"messages"`
	// By the clock of the simulation.
	Now int64 `json:"now"`
	// To be given back with what happens next.
	State json.RawMessage `json:"state"`
	// The last 1,000 that it took now.
	Steps []Step `json:"steps"`
	// When it stops waiting.
	Until *int64 `json:"until"`
	// Secret ones are left out; state has them.
	Variables map[string]json.RawMessage `json:"variables"`
	// One of reply, timer, event, handoff, effect, approval.
	WaitingFor *string `json:"waitingFor"`
}

type SimulationInput struct {
	// So much time passes: an ISO 8601 duration.
	Advance *string `json:"advance,omitzero"`
	// Whether an agent that asks may use its tool.
	Approve *bool `json:"approve,omitzero"`
	Cancel  *bool `json:"cancel,omitzero"`
	// The person is done.
	Close *bool                       `json:"close,omitzero"`
	Event *SimulationInputEventStruct `json:"event,omitzero"`
	// The world of a run that begins: now, contact, chat, input, args, vars, mocks, refuse.
	Given json.RawMessage `json:"given,omitzero"`
	// What the contact writes.
	Input *string `json:"input,omitzero"`
	// What the contact writes, if it is no text: as expressions see it.
	Message json.RawMessage `json:"message,omitzero"`
	// Of the answer before, as it is; without it a run begins.
	State json.RawMessage `json:"state,omitzero"`
	// A person takes the chat.
	Take *bool `json:"take,omitzero"`
	// That is played; 0: the draft.
	Version *int64 `json:"version,omitzero"`
}

type SimulationInputEventStruct struct {
	Data map[string]json.RawMessage `json:"data,omitzero"`
	Name string                     `json:"name"`
}

type StartRequest struct {
	ChatID *string `json:"chatId,omitzero"`
	FlowID string  `json:"flowId"`
	// What expressions see as start and input.
	Input map[string]json.RawMessage `json:"input,omitzero"`
	// Id of the line.
	Reference *int64 `json:"reference,omitzero"`
}

type StartSessionRequest struct {
	// How a line is linked to a phone that has none yet: by a QR code that the session shows, or by a
	// code that is typed on the phone. One of qr, code.
	Method *string `json:"method,omitzero"`
	// With the method code: the number of that phone.
	Phone *string `json:"phone,omitzero"`
	// Id of the line.
	Reference int64 `json:"reference"`
}

type Step struct {
	// UNIX seconds.
	At Time `json:"at"`
	// How long it waited. Milliseconds.
	DurationMs int64      `json:"durationMs"`
	Error      *FlowError `json:"error"`
	// What the node was given; secrets are masked.
	In   map[string]json.RawMessage `json:"in"`
	Node string                     `json:"node"`
	// What it made.
	Out map[string]json.RawMessage `json:"out"`
	// By which it was left; null while it waits, and where a graph ends.
	Output *string `json:"output"`
	// The frames above the node, as each[2] and call:vat; the rounds of a loop count from 0.
	Path []string `json:"path"`
	// Counts the retries of the run, on the first step after one; else null.
	Retry *int64 `json:"retry"`
	// Counts through the run, from 1.
	Seq  int64  `json:"seq"`
	Type string `json:"type"`
	// What the node passed over.
	Warning *string `json:"warning"`
}

type Template struct {
	// MARKETING, UTILITY or AUTHENTICATION.
	Category string `json:"category"`
	// As the network has them.
	Components []json.RawMessage `json:"components"`
	// The network's id.
	ID       string `json:"id"`
	Language string `json:"language"`
	Name     string `json:"name"`
	// The network's own word.
	ProviderStatus string `json:"providerStatus"`
	// GREEN, YELLOW, RED or UNKNOWN.
	Quality *string `json:"quality"`
	// Why it has its status.
	Reason *string `json:"reason"`
	// Id of the line.
	Reference int64 `json:"reference"`
	// One of PENDING, APPROVED, REJECTED, DISABLED.
	Status string `json:"status"`
	// UNIX seconds.
	UpdatedAt Time `json:"updatedAt"`
}

type TemplateButton struct {
	Text string `json:"text"`
	Type string `json:"type"`
	// Where it leads.
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
	// Its text; of a file its address, or else its kind.
	Header *string `json:"header,omitzero"`
	Text   string  `json:"text"`
}

type TestList struct {
	// Each {name, given, steps}.
	Tests []json.RawMessage `json:"tests"`
}

type TestOutcome struct {
	// The first thing that was not as expected.
	Failure *FailureView `json:"failure"`
	Name    string       `json:"name"`
	Passed  bool         `json:"passed"`
	// The last 200 that the run took.
	Steps []Step `json:"steps"`
}

type TestReport struct {
	Coverage Coverage `json:"coverage"`
	// All of them have.
	Passed bool `json:"passed"`
	// In their order.
	Tests []TestOutcome `json:"tests"`
}

type TestRun struct {
	// Instead of those that are kept.
	Tests []json.RawMessage `json:"tests,omitzero"`
	// That is played; 0: the draft.
	Version *int64 `json:"version,omitzero"`
}

type Token struct {
	// UNIX seconds
	CreatedAt Time `json:"createdAt"`
	// UNIX seconds
	ExpiresAt   Time     `json:"expiresAt"`
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Permissions []string `json:"permissions"`
}

type TryRequest struct {
	// Chat of the message.
	ChatID *string `json:"chatId,omitzero"`
	// Of the text.
	Locale *string `json:"locale,omitzero"`
	// The message.
	MessageID *string `json:"messageId,omitzero"`
	// What dates are relative to; the clock, or the message's time.
	Now any `json:"now,omitzero"`
	// Line of the message.
	Reference *int64 `json:"reference,omitzero"`
	// Of phone numbers without a country.
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
	// Merged; null removes one.
	Fields map[string]json.RawMessage `json:"fields,omitzero"`
	// take: a person answers from now on; close: the bot may again. One of take, close.
	Handoff *string `json:"handoff,omitzero"`
	// null or empty clears it.
	Language *string `json:"language,omitzero"`
	// null or empty: the contact's own name shows again.
	Name     *string `json:"name,omitzero"`
	OptedOut *bool   `json:"optedOut,omitzero"`
	// Id of the line.
	Reference int64 `json:"reference"`
	// Replaced.
	Tags []string `json:"tags,omitzero"`
	// Merged; null removes one.
	Variables map[string]json.RawMessage `json:"variables,omitzero"`
}

type UpdateProjectRequest struct {
	Description *string `json:"description,omitzero"`
	Name        *string `json:"name,omitzero"`
}

type UpdateReferenceRequest struct {
	Name *string `json:"name,omitzero"`
	// Merged: names that are absent stay.
	Settings map[string]string `json:"settings,omitzero"`
}

type UpdateUserRequest struct {
	// Required to change one's own e-mail or password.
	CurrentPassword *string `json:"currentPassword,omitzero"`
	// Whether to keep the user from logging in, and the user's tokens and cookies from being valid.
	Disabled    *bool    `json:"disabled,omitzero"`
	Email       *string  `json:"email,omitzero"`
	Name        *string  `json:"name,omitzero"`
	Password    *string  `json:"password,omitzero"`
	Permissions []string `json:"permissions,omitzero"`
	// A set of permissions, instead of them. One of owner, admin, builder, agent, viewer.
	Role *string `json:"role,omitzero"`
}

type UsageCall struct {
	// When it began. UNIX seconds.
	At Time `json:"at"`
	// Tokens of what was asked that the provider had in its cache.
	CachedInputTokens int64 `json:"cachedInputTokens"`
	// null also once the chat is erased.
	ChatID *string `json:"chatId"`
	// Micro-USD, with at most three decimals: a million are one USD.
	Cost *float64 `json:"cost"`
	// priced; estimated: the most it can have cost, the price of cached input is not known;
	// unpriced_model, unpriced_usage_kind: a price is missing; no_usage: the provider did not say what
	// it took; unknown: it has not ended, or its end was not seen. There may be more.
	CostStatus string `json:"costStatus"`
	// Milliseconds; 0 while it runs. Milliseconds.
	DurationMs float64 `json:"durationMs"`
	// A code; null: it has answered, or runs.
	Error   *string `json:"error"`
	Feature string  `json:"feature"`
	FlowID  *string `json:"flowId"`
	ID      string  `json:"id"`
	// All of the input, cached or not.
	InputTokens int64 `json:"inputTokens"`
	// That answered; before it has, the one that is asked.
	Model string `json:"model"`
	// All of the output, with reasoning.
	OutputTokens int64 `json:"outputTokens"`
	// account, file or built-in.
	PriceSource  *string `json:"priceSource"`
	PriceVersion *string `json:"priceVersion"`
	ProjectID    *string `json:"projectId"`
	Provider     string  `json:"provider"`
	// Tokens of what was answered that are reasoning.
	ReasoningTokens int64 `json:"reasoningTokens"`
	// Id of the line.
	Reference *int64 `json:"reference"`
	// What budgets count of a call that has not said what it took, else 0.
	ReservedTokens int64   `json:"reservedTokens"`
	RunID          *string `json:"runId"`
	// Who asked; null: a contact, or nobody.
	UserID *string `json:"userId"`
}

type UsageRollup struct {
	Items     []UsageRow `json:"items"`
	Total     UsageSum   `json:"total"`
	Truncated bool       `json:"truncated"`
}

type UsageRow struct {
	// Tokens of what was asked that the provider had in its cache.
	CachedInputTokens int64 `json:"cachedInputTokens"`
	// Calls of language models.
	Calls int64 `json:"calls"`
	// Micro-USD, with at most three decimals: a million are one USD.
	Cost float64 `json:"cost"`
	// Calls that failed.
	Errors int64 `json:"errors"`
	// All of the input, cached or not.
	InputTokens int64 `json:"inputTokens"`
	// The keys, with a | between two.
	Key string `json:"key"`
	// By group: an hour as 2026-07-02T13:00:00+02:00, a day as 2026-07-02, a week of ISO 8601 as
	// 2026-W27, a month as 2026-07, a chat as 7/ana: its reference and chatId. An empty text: none.
	Keys map[string]string `json:"keys"`
	// All of the output, with reasoning.
	OutputTokens int64 `json:"outputTokens"`
	// Tokens of what was answered that are reasoning.
	ReasoningTokens int64 `json:"reasoningTokens"`
	// Calls without a cost.
	UnpricedCalls int64 `json:"unpricedCalls"`
}

type UsageSum struct {
	// Tokens of what was asked that the provider had in its cache.
	CachedInputTokens int64 `json:"cachedInputTokens"`
	// Calls of language models.
	Calls int64 `json:"calls"`
	// Micro-USD, with at most three decimals: a million are one USD.
	Cost float64 `json:"cost"`
	// Calls that failed.
	Errors int64 `json:"errors"`
	// All of the input, cached or not.
	InputTokens int64 `json:"inputTokens"`
	// All of the output, with reasoning.
	OutputTokens int64 `json:"outputTokens"`
	// Tokens of what was answered that are reasoning.
	ReasoningTokens int64 `json:"reasoningTokens"`
	// Calls without a cost.
	UnpricedCalls int64 `json:"unpricedCalls"`
}

type User struct {
	AccountID string `json:"accountId"`
	// UNIX seconds
	CreatedAt Time `json:"createdAt"`
	// The user cannot log in, and the user's tokens and cookies are refused.
	Disabled    bool     `json:"disabled"`
	Email       string   `json:"email"`
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Permissions []string `json:"permissions"`
	// The role that has these permissions; null: no role has. Owners have every permission. One of
	// owner, admin, builder, agent, viewer.
	Role *string `json:"role"`
}

type ValueChange struct {
	// Any JSON value.
	After json.RawMessage `json:"after"`
	// Any JSON value.
	Before json.RawMessage `json:"before"`
	// Of the variable; empty for the output.
	Name string `json:"name"`
}

type Version struct {
	// UNIX seconds.
	CreatedAt Time `json:"createdAt"`
	// A document of the flow language. A draft may be any object.
	Document json.RawMessage `json:"document"`
	// Counts what is published, from 1.
	Version int64 `json:"version"`
}

type WebhooksReplayRequest struct {
	// An endpointId, instead of ids.
	Endpoint *string `json:"endpoint,omitzero"`
	// Ids of deliveries, of any of the account's lines.
	IDs []string `json:"ids,omitzero"`
	// UNIX seconds: not those whose last attempt was before; absent: from the first.
	Since *Time `json:"since,omitzero"`
	// Absent: failed and dead. One of failed, dead, delivered.
	State *string `json:"state,omitzero"`
	// UNIX seconds: not those whose last attempt was after; absent: now.
	Until *Time `json:"until,omitzero"`
}

type WebhooksUpdateRequest struct {
	Enabled *bool    `json:"enabled,omitzero"`
	Events  []string `json:"events,omitzero"`
	// Holds for what waits, too. One of trunkline, evolution, waha, wuzapi.
	Format *string `json:"format,omitzero"`
	// Replaced; a value of •••• keeps what is there.
	Headers []Header `json:"headers,omitzero"`
	Include []string `json:"include,omitzero"`
	// The old secret signs beside the new one for 24 hours.
	RotateSecret *bool `json:"rotateSecret,omitzero"`
}

// WriteRequest: One of the types by its `type`.
type WriteRequest struct {
	Address string `json:"address,omitzero"`
	Caption string `json:"caption,omitzero"`
	Emoji   string `json:"emoji,omitzero"`
	// Of a document; absent: the name it was kept under.
	FileName string `json:"fileName,omitzero"`
	// Who writes: ana writes from ana@sandbox.
	From string `json:"from"`
	// Chat id of the group that it writes in; absent: it writes to the line.
	Group string `json:"group,omitzero"`
	ID    string `json:"id,omitzero"`
	// Degrees, north of the equator positive.
	Latitude *float64 `json:"latitude,omitzero"`
	// Degrees, east of Greenwich positive.
	Longitude *float64 `json:"longitude,omitzero"`
	// Of a file from POST /media; this or url.
	MediaID   string   `json:"mediaId,omitzero"`
	Mentions  []string `json:"mentions,omitzero"`
	MessageID string   `json:"messageId,omitzero"`
	// Of a location, the name of the place; else the same as pushName.
	Name       string `json:"name,omitzero"`
	PreviewURL *bool  `json:"previewUrl,omitzero"`
	// The name that the contact shows; absent: the one it has shown before.
	PushName string `json:"pushName,omitzero"`
	Text     string `json:"text,omitzero"`
	Title    string `json:"title,omitzero"`
	// Which of them it is. One of text, location, reaction, reply, edit, revoke, image, video,
	// document, audio, sticker.
	Type string `json:"type"`
	// Where the network finds the file.
	URL string `json:"url,omitzero"`
	// A voice note: one channel of Opus in Ogg, or what ffmpeg, where the server has it, can make that
	// of.
	Voice *bool `json:"voice,omitzero"`
}

type Written struct {
	// Id of the message.
	ID      string `json:"id"`
	Success bool   `json:"success"`
}
