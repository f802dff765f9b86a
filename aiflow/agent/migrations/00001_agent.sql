-- +goose Up
-- the work of an agent at one visit to its node; waits for people are part of it
CREATE TABLE agent_session (
	id TEXT {bytewise} PRIMARY KEY, -- the key of the call that began it
	account TEXT NOT NULL,
	run TEXT {bytewise} NOT NULL REFERENCES flow_run (id) ON DELETE CASCADE,
	node TEXT NOT NULL,
	depth BIGINT NOT NULL, -- 1, or more in a run that an agent began
	note TEXT NOT NULL, -- what the model is told of what was said too long ago
	messages TEXT NOT NULL, -- JSON: what was said before, and what is to be answered
	created_us BIGINT NOT NULL
);
CREATE INDEX agent_session_run ON agent_session (run);

-- what it did, in order
CREATE TABLE agent_entry (
	session TEXT {bytewise} NOT NULL REFERENCES agent_session (id) ON DELETE CASCADE,
	seq BIGINT NOT NULL,
	leg TEXT {bytewise} NOT NULL, -- the key of the call during which it was begun, or last asked for
	kind TEXT NOT NULL, -- turn: of the model; tool: a call; told: what somebody said
	status TEXT NOT NULL, -- asked, approved, denied, started, done, failed, unknown
	child TEXT {bytewise} NOT NULL, -- the run that the tool begins, if it begins one; '' of what is no tool
	request TEXT NOT NULL, -- JSON
	result TEXT NOT NULL, -- JSON, '' before it is done
	started_us BIGINT NOT NULL, -- 0: it was not begun
	done_us BIGINT NOT NULL, -- 0: it is not done
	PRIMARY KEY (session, seq)
);
CREATE INDEX agent_entry_child ON agent_entry (child) WHERE child <> '';
