-- +goose Up
-- what runs are runs of; a document never changes under its hash
CREATE TABLE flow_document (
	hash TEXT {bytewise} PRIMARY KEY,
	body TEXT NOT NULL, -- JSON: the flow and the functions that it calls
	created_us BIGINT NOT NULL
);
CREATE INDEX flow_document_created ON flow_document (created_us);

CREATE TABLE flow_run (
	seq {identity},
	id TEXT {bytewise} NOT NULL UNIQUE,
	account TEXT NOT NULL,
	engine TEXT NOT NULL,
	owner TEXT {bytewise} NOT NULL, -- the engine's id of the flow or bot
	version BIGINT NOT NULL, -- 0: a draft
	document TEXT {bytewise} NOT NULL REFERENCES flow_document (hash),
	reference BIGINT NOT NULL, -- 0: it has no chat
	inbox TEXT {bytewise} NOT NULL, -- key of the chat; of a run without one, "run:" and its id
	chat_id TEXT NOT NULL,
	status TEXT NOT NULL,
	waits TEXT NOT NULL, -- what for, '' when it has not begun, is to go on, or is over
	event TEXT NOT NULL, -- the event that it waits for
	state TEXT NOT NULL, -- JSON, '' before the first turn and after the last
	turn BIGINT NOT NULL, -- counts turns: who has seen an older one must not write
	input TEXT NOT NULL, -- JSON
	output TEXT NOT NULL, error TEXT NOT NULL, -- JSON or ''
	started_us BIGINT NOT NULL,
	ended_us BIGINT NOT NULL -- 0: it goes on
);
CREATE INDEX flow_run_inbox ON flow_run (inbox, ended_us, seq);
CREATE INDEX flow_run_event ON flow_run (account, event) WHERE event <> '';
CREATE INDEX flow_run_account ON flow_run (account, seq);
CREATE INDEX flow_run_owner ON flow_run (owner, seq);
CREATE INDEX flow_run_chat ON flow_run (reference, chat_id);
CREATE INDEX flow_run_document ON flow_run (document);
CREATE INDEX flow_run_ended ON flow_run (ended_us) WHERE ended_us > 0;

-- what came for a chat or a run and is not worked on yet, in order
CREATE TABLE flow_input (
	id {identity},
	inbox TEXT {bytewise} NOT NULL,
	reference BIGINT NOT NULL,
	account TEXT NOT NULL,
	chat_id TEXT NOT NULL,
	run BIGINT NOT NULL, -- flow_run.seq; 0: whoever takes it
	after_run BIGINT NOT NULL, -- a run that must have ended before; 0: none
	kind TEXT NOT NULL,
	body TEXT NOT NULL, -- JSON
	created_us BIGINT NOT NULL
);
CREATE INDEX flow_input_inbox ON flow_input (inbox, id);
CREATE INDEX flow_input_chat ON flow_input (reference, chat_id);

CREATE TABLE flow_timer (
	run BIGINT NOT NULL REFERENCES flow_run (seq) ON DELETE CASCADE,
	timer TEXT {bytewise} NOT NULL,
	at_us BIGINT NOT NULL,
	PRIMARY KEY (run, timer)
);
CREATE INDEX flow_timer_at ON flow_timer (at_us);

-- the journal of calls to the world
CREATE TABLE flow_effect (
	id {identity},
	run BIGINT NOT NULL REFERENCES flow_run (seq) ON DELETE CASCADE,
	effect TEXT {bytewise} NOT NULL, -- its id in the run
	node TEXT NOT NULL,
	kind TEXT NOT NULL,
	once BOOLEAN NOT NULL, -- it must not be made twice
	idempotency_key TEXT NOT NULL,
	attempt BIGINT NOT NULL,
	timeout_us BIGINT NOT NULL,
	request TEXT NOT NULL, -- JSON
	started_us BIGINT NOT NULL, -- noted before a call that must not be made twice; 0: it was not begun
	done_us BIGINT NOT NULL, -- 0: nobody knows its result
	result TEXT NOT NULL, error TEXT NOT NULL, -- JSON or ''
	UNIQUE (run, effect)
);

-- the trace; a step that waits has a row when it begins to, and one when it
-- goes on
CREATE TABLE flow_step (
	id {identity},
	run BIGINT NOT NULL REFERENCES flow_run (seq) ON DELETE CASCADE,
	body TEXT NOT NULL -- JSON
);
CREATE INDEX flow_step_run ON flow_step (run, id);

-- messages that runs have sent
CREATE TABLE flow_sent (
	id {identity},
	run BIGINT NOT NULL REFERENCES flow_run (seq) ON DELETE CASCADE,
	message TEXT NOT NULL
);
CREATE INDEX flow_sent_run ON flow_sent (run, id);

-- messages of groups that runs have heard: who wrote one may have it erased
CREATE TABLE flow_seen (
	run BIGINT NOT NULL REFERENCES flow_run (seq) ON DELETE CASCADE,
	message TEXT NOT NULL,
	PRIMARY KEY (run, message)
);
CREATE INDEX flow_seen_message ON flow_seen (message);
