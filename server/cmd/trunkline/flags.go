package main

// flags are the settings as they are written. All of them are strings, so that the
// program refuses wrong values with its own messages, which never repeat a value.
type flags struct {
	Addr                string `placeholder:"HOST:PORT" help:"Listening address (default :3000)."`
	Data                string `placeholder:"FOLDER" help:"Folder of the embedded store, media files and the generated secret (default ./trunkline-data)."`
	DatabaseURL         string `name:"database-url" placeholder:"URL" help:"postgres://… or sqlite://PATH (default: a SQLite file in the data folder)."`
	DatabaseConnections string `name:"database-connections" placeholder:"N" help:"Connections to PostgreSQL at most, besides one for notifications (default 10)."`
	DatabaseListenURL   string `name:"database-listen-url" placeholder:"URL" help:"Address of PostgreSQL itself, for notifications, where --database-url leads to a pooler with pool_mode=transaction."`
	BaseURL             string `name:"base-url" placeholder:"URL" help:"Address that integrators and providers reach (default http://localhost:PORT)."`
	Secret              string `placeholder:"SECRET" help:"At least 32 characters, or a comma list, newest first (default: generated once, kept in the data folder)."`

	TLSCert        string `name:"tls-cert" placeholder:"FILE" help:"TLS certificate chain, reloaded when it changes."`
	TLSKey         string `name:"tls-key" placeholder:"FILE" help:"Key of the TLS certificate."`
	TrustedProxies string `placeholder:"CIDR,…" help:"Networks whose X-Forwarded-For header is trusted."`
	Signup         string `placeholder:"open|closed" help:"Who may sign up: everyone (open, the default) or only the first account (closed)."`

	GraphURL        string `name:"graph-url" placeholder:"URL" help:"Address of the Graph API (default https://graph.facebook.com)."`
	MetaAppSecret   string `name:"meta-app-secret" placeholder:"SECRET" help:"Secret of the app at Meta that signs callbacks, for references without an appSecret of their own."`
	MetaVerifyToken string `name:"meta-verify-token" placeholder:"SECRET" help:"Token of the callback's verification, for references without a verifyToken of their own."`

	WebhookAllow string `placeholder:"CIDR|HOST,…" help:"Private targets that outgoing requests may reach."`
	Media        string `placeholder:"FOLDER|s3://BUCKET" help:"Where media files are kept (default: the data folder)."`

	OpenAIURL        string `name:"openai-url" placeholder:"URL" help:"Address of an OpenAI-compatible model server, with its /v1 (default https://api.openai.com/v1)."`
	OpenAIKey        string `name:"openai-key" placeholder:"SECRET" help:"Its key; a server of your own may need none."`
	AnthropicURL     string `name:"anthropic-url" placeholder:"URL" help:"Address of an Anthropic-compatible model server (default https://api.anthropic.com)."`
	AnthropicKey     string `name:"anthropic-key" placeholder:"SECRET" help:"Its key."`
	Model            string `placeholder:"PROVIDER/MODEL" help:"Model that is used where none is named, such as for drafts of flows (default: mock/assistant, if there is no other)."`
	EmbeddingModel   string `placeholder:"PROVIDER/MODEL" help:"Model for searching project files by meaning (default: they are searched by their words)."`
	Prices           string `placeholder:"FILE|URL" help:"Prices of models (default: a built-in table)."`
	SMTPURL          string `name:"smtp-url" placeholder:"URL" help:"Mail server for password resets: smtp:// or smtps://, with ?from=ADDRESS."`
	OIDCIssuer       string `name:"oidc-issuer" placeholder:"URL" help:"OpenID provider at which users sign in (default: none)."`
	OIDCClientID     string `name:"oidc-client-id" placeholder:"ID" help:"Client ID of this server at the provider."`
	OIDCClientSecret string `name:"oidc-client-secret" placeholder:"SECRET" help:"Client secret; a public client has none."`
	OIDCName         string `name:"oidc-name" placeholder:"NAME" help:"Name of the provider for users (default Single sign-on)."`

	PaymentsSecret  string `placeholder:"SECRET" help:"Verifies payment notifications."`
	MetricsAddr     string `placeholder:"HOST:PORT" help:"Serves Prometheus /metrics here (default: nowhere)."`
	MCPLimit        string `name:"mcp-limit" placeholder:"N" help:"MCP calls a minute for each user and function (default 60)."`
	MCPLimitAccount string `name:"mcp-limit-account" placeholder:"N" help:"MCP calls a minute for each account (default 600)."`
	APILimit        string `name:"api-limit" placeholder:"N" help:"Requests a minute for each token; 0: no limit (default 0)."`

	QuotaReferences string `placeholder:"N" help:"References of an account; 0: unlimited, as with all quotas (default 100)."`
	QuotaContacts   string `placeholder:"N" help:"Contacts of an account (default 1000000)."`
	QuotaStorage    string `placeholder:"BYTES" help:"Bytes of files of an account (default 107374182400)."`
	QuotaMessages   string `placeholder:"N" help:"Own messages of an account a day (default 1000000)."`
	QuotaRuns       string `placeholder:"N" help:"Runs of flows of an account a day (default 1000000)."`
	QuotaAPI        string `name:"quota-api" placeholder:"N" help:"Requests of an account a minute and node (default 12000)."`

	RetentionMessages   string `placeholder:"TIME" help:"How long messages are kept, like 90d; 0: for ever (default 0)."`
	RetentionDeliveries string `placeholder:"TIME" help:"How long webhook deliveries are kept; 0: for ever (default 30d)."`
	RetentionAudit      string `placeholder:"TIME" help:"How long the log of calls by agents is kept; 0: for ever (default 90d)."`
	RetentionChanges    string `placeholder:"TIME" help:"How long the audit log of accounts is kept; 0: for ever (default 365d)."`

	GCPercent   string `name:"gc-percent" placeholder:"N" help:"How much the heap may grow until it is collected, in percent: more takes more memory and less CPU (default: GOGC, or 200)."`
	MemoryLimit string `placeholder:"BYTES" help:"Memory at which garbage is collected more often (default: GOMEMLIMIT, or none)."`

	Log       string `placeholder:"LEVEL" help:"debug, info (default), warn or error."`
	LogFormat string `placeholder:"text|json" help:"Format of the log (default text)."`
}

// commandLine is what kong parses. Each flag is also an environment variable:
// --tls-cert is TRUNKLINE_TLS_CERT.
type commandLine struct {
	Flags   flags          `embed:""`
	Serve   serveCommand   `cmd:"" default:"1" help:"Run the server (the default command)."`
	Version versionCommand `cmd:"" help:"Print the version, how the program was built, and its licence."`
	Backup  backupCommand  `cmd:"" help:"Write everything that the server stores into one file, while it runs."`
	Restore restoreCommand `cmd:"" help:"Restore a backup into an empty database, SQLite or PostgreSQL."`
	Pair    pairCommand    `cmd:"" help:"Link a line of WhatsApp Web to a phone: show its QR code here."`
	User    struct {
		List     listCommand     `cmd:"" help:"List the users of all accounts."`
		Create   createCommand   `cmd:"" help:"Create a user, in an account that exists or as the owner of a new one."`
		Password passwordCommand `cmd:"" help:"Set a new password for a user, and end the sessions and tokens of that user."`
		Owner    ownerCommand    `cmd:"" help:"Make a user an owner of the account."`
		Disable  disableCommand  `cmd:"" help:"Disable a user: refuse the sessions and tokens of that user."`
		Enable   enableCommand   `cmd:"" help:"Enable a disabled user."`
		Factor   factorCommand   `cmd:"" name:"second-factor-off" help:"Remove the second factor of a user, for example after the phone was lost."`
		Reset    resetCommand    `cmd:"" help:"Print a link with which a user can set a new password, once and within 30 minutes."`
	} `cmd:"" help:"Manage users, directly in the database."`
	Account struct {
		Quota quotaCommand `cmd:"" help:"Show the quotas of an account, and set them."`
	} `cmd:"" help:"Manage accounts, directly in the database."`
	Doctor     doctorCommand     `cmd:"" help:"Check everything that a server needs, and tell how to fix what is wrong."`
	Completion completionCommand `cmd:"" help:"Print the completion of a shell."`
}
