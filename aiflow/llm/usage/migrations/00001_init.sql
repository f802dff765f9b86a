-- +goose Up
-- A row for each account that ever called a model: who counts locks it.
CREATE TABLE usage_account (
	account TEXT PRIMARY KEY
);

CREATE TABLE usage_call (
	seq {identity},
	id TEXT NOT NULL UNIQUE,
	account TEXT NOT NULL,
	at_us BIGINT NOT NULL, -- when it began
	reference BIGINT NOT NULL, -- 0: in no chat
	chat_id TEXT NOT NULL, -- '' in no chat, or erased
	feature TEXT NOT NULL,
	project TEXT NOT NULL,
	flow TEXT NOT NULL,
	run TEXT NOT NULL,
	caller TEXT NOT NULL, -- a user
	provider TEXT NOT NULL,
	model TEXT NOT NULL, -- that answered; before: that was asked
	cost_status TEXT NOT NULL,
	error TEXT NOT NULL, -- code, '' if it answered
	measured BOOLEAN NOT NULL, -- the provider said what it took
	input BIGINT NOT NULL, -- tokens; all of it
	cached BIGINT NOT NULL, -- inside input
	cache_write BIGINT NOT NULL, -- inside input
	cache_write_1h BIGINT NOT NULL, -- inside input
	output BIGINT NOT NULL, -- all of it
	reasoning BIGINT NOT NULL, -- inside output
	cost BIGINT, -- nano-USD
	price_source TEXT NOT NULL,
	price_version TEXT NOT NULL,
	held_tokens BIGINT NOT NULL, -- what budgets count
	held_cost BIGINT NOT NULL, -- as well, nano-USD
	duration_us BIGINT NOT NULL
);
CREATE INDEX usage_call_time ON usage_call (account, at_us, seq);
CREATE INDEX usage_call_chat ON usage_call (account, reference, chat_id, at_us);
CREATE INDEX usage_call_project ON usage_call (account, project, at_us);
CREATE INDEX usage_call_flow ON usage_call (account, flow, at_us);
CREATE INDEX usage_call_run ON usage_call (account, run);

-- Prices of an account's own, as JSON.
CREATE TABLE usage_price (
	account TEXT NOT NULL,
	provider TEXT NOT NULL,
	model TEXT NOT NULL,
	price TEXT NOT NULL,
	PRIMARY KEY (account, provider, model)
);

-- The last good copy of a table of prices that lies elsewhere.
CREATE TABLE usage_table (
	source TEXT PRIMARY KEY,
	etag TEXT NOT NULL,
	checked_us BIGINT NOT NULL,
	version TEXT NOT NULL,
	items TEXT NOT NULL
);

CREATE TABLE usage_budget (
	seq {identity},
	account TEXT NOT NULL,
	scope TEXT NOT NULL, -- account, project, flow, chat
	reference BIGINT NOT NULL, -- of a chat, else 0
	scope_id TEXT NOT NULL, -- '' each of them
	period TEXT NOT NULL, -- day, month, total
	timezone TEXT NOT NULL, -- IANA
	cost BIGINT, -- nano-USD, NULL no bound
	tokens BIGINT, -- NULL no bound
	refuse_unpriced BOOLEAN NOT NULL
);
CREATE INDEX usage_budget_account ON usage_budget (account);

-- What is spent in the windows of budgets, counted from usage_call when a
-- window is first asked for.
CREATE TABLE usage_spent (
	account TEXT NOT NULL,
	scope TEXT NOT NULL,
	reference BIGINT NOT NULL,
	scope_id TEXT NOT NULL,
	starts_us BIGINT NOT NULL,
	ends_us BIGINT NOT NULL,
	cost BIGINT NOT NULL,
	tokens BIGINT NOT NULL,
	PRIMARY KEY (account, scope, reference, scope_id, starts_us, ends_us)
);
CREATE INDEX usage_spent_ends ON usage_spent (ends_us);
