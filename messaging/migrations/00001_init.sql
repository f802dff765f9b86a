-- +goose Up
CREATE TABLE messaging_reference (
	id {identity},
	account TEXT NOT NULL,
	name TEXT NOT NULL,
	kind TEXT NOT NULL,
	settings TEXT NOT NULL, -- JSON object; secrets are sealed
	callback_url TEXT NOT NULL, -- where the network was told to post, '' when it was not
	line_key TEXT NOT NULL, -- the network's id of the line, '' when it has none
	group_key TEXT NOT NULL,
	verify_hash TEXT NOT NULL, -- keyed hash of the handshake token
	revision BIGINT NOT NULL, -- raised by every change of the settings
	state TEXT NOT NULL,
	proved BOOLEAN NOT NULL, -- the network has confirmed that the credentials may read the line
	remote_id TEXT NOT NULL, remote_name TEXT NOT NULL, remote_biz TEXT NOT NULL,
	connected_us BIGINT NOT NULL,
	inbound_us BIGINT NOT NULL, ack_us BIGINT NOT NULL, probe_us BIGINT NOT NULL,
	error_code TEXT NOT NULL, error_message TEXT NOT NULL, error_us BIGINT NOT NULL, error_retry_us BIGINT NOT NULL,
	created_us BIGINT NOT NULL,
	updated_us BIGINT NOT NULL
);
CREATE INDEX messaging_reference_account ON messaging_reference (account, id);
CREATE INDEX messaging_reference_line ON messaging_reference (line_key) WHERE line_key <> '';
CREATE INDEX messaging_reference_group ON messaging_reference (group_key) WHERE group_key <> '';
CREATE INDEX messaging_reference_verify ON messaging_reference (verify_hash) WHERE verify_hash <> '';

CREATE TABLE messaging_chat (
	id {identity},
	reference BIGINT NOT NULL REFERENCES messaging_reference (id) ON DELETE CASCADE,
	chat_id TEXT NOT NULL, -- as users see it
	is_group BOOLEAN NOT NULL,
	phone TEXT NOT NULL, user_id TEXT NOT NULL, lid TEXT NOT NULL,
	label TEXT NOT NULL, -- the name that users gave it
	title TEXT NOT NULL, -- of the group, or the contact's name in the phone book of the account's phone
	title_us BIGINT NOT NULL, -- when that was said
	name TEXT NOT NULL, -- the name that the contact chose
	biz_name TEXT NOT NULL,
	username TEXT NOT NULL,
	name_us BIGINT NOT NULL, -- when the contact last showed its names
	moved_us BIGINT NOT NULL, -- when the contact took the present chat_id; 0: it had no other
	unread BIGINT NOT NULL,
	bot_active BOOLEAN NOT NULL,
	variables TEXT NOT NULL, tags TEXT NOT NULL, fields TEXT NOT NULL, -- JSON
	language TEXT NOT NULL,
	opted_out BOOLEAN NOT NULL,
	opted_us BIGINT NOT NULL, -- when that was said
	handoff_us BIGINT NOT NULL, -- a person took over then; 0: nobody
	taken BOOLEAN NOT NULL DEFAULT FALSE, -- until it is given back; else for a while
	asked_us BIGINT NOT NULL DEFAULT 0, -- a bot asked for a person then; 0: none did
	asked TEXT NOT NULL DEFAULT '', -- JSON of how
	active_bot TEXT NOT NULL DEFAULT '', -- JSON of the bot that has a conversation in it; '' none
	last_message BIGINT NOT NULL, -- messaging_message.seq, 0: none
	activity_us BIGINT NOT NULL, -- 0: nothing has happened in it, and it is not listed
	activity_slot BIGINT NOT NULL, -- activity_us in ten minutes: an index on it need not be written with every message
	window_us BIGINT NOT NULL,
	choices TEXT NOT NULL DEFAULT '', -- JSON: what it was asked in numbered text and has not answered, '' when nothing
	watermarks TEXT NOT NULL DEFAULT '', -- JSON: up to when what was written to it has been got and read, '' when the network does not say
	created_us BIGINT NOT NULL,
	updated_us BIGINT NOT NULL,
	UNIQUE (reference, chat_id)
);
CREATE INDEX messaging_chat_activity ON messaging_chat (reference, activity_slot);
CREATE INDEX messaging_chat_username ON messaging_chat (reference, username) WHERE username <> '';

-- every name by which a chat is known, its own id among them
CREATE TABLE messaging_alias (
	reference BIGINT NOT NULL,
	alias TEXT NOT NULL,
	chat BIGINT NOT NULL REFERENCES messaging_chat (id) ON DELETE CASCADE,
	PRIMARY KEY (reference, alias)
);
CREATE INDEX messaging_alias_chat ON messaging_alias (chat);

CREATE TABLE messaging_message (
	seq {identity},
	reference BIGINT NOT NULL,
	chat BIGINT NOT NULL,
	id TEXT NOT NULL, -- the network's, until there is one ours
	mine BOOLEAN NOT NULL,
	actor TEXT NOT NULL,
	sent_as TEXT NOT NULL,
	status INTEGER NOT NULL,
	body TEXT NOT NULL, -- JSON: the payload's members beyond the columns
	push_name TEXT NOT NULL,
	biz_name TEXT NOT NULL,
	error_code TEXT NOT NULL, error_message TEXT NOT NULL,
	at_us BIGINT NOT NULL,
	created_us BIGINT NOT NULL,
	past_us BIGINT NOT NULL, -- 0; of imported history: by when it was written, and below 0
	timeline TEXT NOT NULL DEFAULT '', -- what became of it since: JSON objects with commas between
	UNIQUE (reference, id)
);
CREATE INDEX messaging_message_chat ON messaging_message (chat, past_us, seq);

-- what the network said of who has an account there
CREATE TABLE messaging_number (
	reference BIGINT NOT NULL REFERENCES messaging_reference (id) ON DELETE CASCADE,
	number TEXT NOT NULL, -- as the chat id of the person is written
	answer INTEGER NOT NULL, -- 0: it has no account, 1: it has one, 2: it did not say
	chat_id TEXT NOT NULL, -- what the network calls the person
	created_us BIGINT NOT NULL,
	PRIMARY KEY (reference, number)
);
CREATE INDEX messaging_number_created ON messaging_number (created_us);

-- what is to be sent, and how far that has come
CREATE TABLE messaging_outbound (
	message BIGINT PRIMARY KEY,
	reference BIGINT NOT NULL,
	own_id TEXT NOT NULL, -- what we gave the network to carry back
	content TEXT NOT NULL, -- JSON with its type
	reply_to TEXT NOT NULL,
	announced BOOLEAN NOT NULL, -- its message event is out
	tried BOOLEAN NOT NULL, -- its first attempt is over
	started_us BIGINT NOT NULL, -- the attempt whose end is not recorded, or that the network took, began then; 0: none
	give_up_us BIGINT NOT NULL, -- unconfirmed until then; 0: not in doubt
	sent_us BIGINT NOT NULL DEFAULT 0, -- the network took it then; 0: it has not
	UNIQUE (reference, own_id)
);
CREATE INDEX messaging_outbound_uncertain ON messaging_outbound (give_up_us) WHERE give_up_us > 0;

-- statuses of messages that are not known yet
CREATE TABLE messaging_early_status (
	reference BIGINT NOT NULL REFERENCES messaging_reference (id) ON DELETE CASCADE,
	message_id TEXT NOT NULL,
	status INTEGER NOT NULL,
	error_code TEXT NOT NULL, error_message TEXT NOT NULL,
	at_us BIGINT NOT NULL,
	window_us BIGINT NOT NULL, -- the chat's window is open until then; 0: not said
	created_us BIGINT NOT NULL,
	PRIMARY KEY (reference, message_id, status)
);
CREATE INDEX messaging_early_status_created ON messaging_early_status (created_us);

-- how far calls have come
CREATE TABLE messaging_call (
	id {identity},
	reference BIGINT NOT NULL REFERENCES messaging_reference (id) ON DELETE CASCADE,
	call_id TEXT NOT NULL,
	chat BIGINT NOT NULL,
	status TEXT NOT NULL,
	created_us BIGINT NOT NULL,
	UNIQUE (reference, call_id)
);
CREATE INDEX messaging_call_chat ON messaging_call (chat);

-- the latest news of each kind and level about a line's health
CREATE TABLE messaging_health (
	reference BIGINT NOT NULL REFERENCES messaging_reference (id) ON DELETE CASCADE,
	kind TEXT NOT NULL,
	level INTEGER NOT NULL,
	code TEXT NOT NULL,
	message TEXT NOT NULL,
	at_us BIGINT NOT NULL,
	PRIMARY KEY (reference, kind, level)
);

-- what the networks reported that is no message and no status; the body is
-- empty where nothing more is to be had from it
CREATE TABLE messaging_raw (
	id {identity},
	reference BIGINT NOT NULL REFERENCES messaging_reference (id) ON DELETE CASCADE,
	kind TEXT NOT NULL,
	raw_id TEXT NOT NULL,
	body TEXT NOT NULL,
	created_us BIGINT NOT NULL,
	UNIQUE (reference, kind, raw_id)
);

-- items of callbacks that could not be read
CREATE TABLE messaging_dead_letter (
	id {identity},
	reference BIGINT NOT NULL REFERENCES messaging_reference (id) ON DELETE CASCADE,
	digest TEXT NOT NULL,
	reason TEXT NOT NULL,
	body TEXT NOT NULL,
	created_us BIGINT NOT NULL,
	UNIQUE (reference, digest)
);

-- what happened, in commit order, for the stream
CREATE TABLE messaging_change (
	id {identity},
	txid BIGINT NOT NULL DEFAULT {transaction}, -- later transactions have higher ones
	account TEXT NOT NULL,
	reference BIGINT NOT NULL,
	kind TEXT NOT NULL,
	data TEXT NOT NULL, -- JSON
	created_us BIGINT NOT NULL
);
CREATE INDEX messaging_change_order ON messaging_change (account, txid, id);

CREATE TABLE messaging_idempotency (
	account TEXT NOT NULL,
	idempotency_key TEXT NOT NULL,
	digest TEXT NOT NULL,
	message BIGINT NOT NULL,
	until_us BIGINT NOT NULL, -- the first request is answered by then
	created_us BIGINT NOT NULL,
	PRIMARY KEY (account, idempotency_key)
);
CREATE INDEX messaging_idempotency_created ON messaging_idempotency (created_us);

-- the templates of a line as its network described them last
CREATE TABLE messaging_template (
	seq {identity},
	reference BIGINT NOT NULL REFERENCES messaging_reference (id) ON DELETE CASCADE,
	id TEXT NOT NULL, -- the network's
	name TEXT NOT NULL,
	language TEXT NOT NULL,
	category TEXT NOT NULL,
	format TEXT NOT NULL, -- of its parameters: positional, named or ''
	components TEXT NOT NULL, -- JSON array
	status TEXT NOT NULL, provider_status TEXT NOT NULL,
	reason TEXT NOT NULL,
	quality TEXT NOT NULL,
	reported_us BIGINT NOT NULL, -- the latest news of it was of then, by the network's clock; 0: it was only listed
	updated_us BIGINT NOT NULL,
	UNIQUE (reference, name, language)
);

-- of which lines there is such a copy; who writes templates locks its row first
CREATE TABLE messaging_template_copy (
	reference BIGINT PRIMARY KEY REFERENCES messaging_reference (id) ON DELETE CASCADE,
	fetched_us BIGINT NOT NULL, -- 0: never
	due_us BIGINT NOT NULL
);
CREATE INDEX messaging_template_copy_due ON messaging_template_copy (due_us);
