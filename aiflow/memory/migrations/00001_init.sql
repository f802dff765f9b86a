-- +goose Up
-- what was said in one turn of a conversation with a model, or a summary of
-- earlier turns
CREATE TABLE memory_turn (
	seq {identity}, -- the order of the conversation
	account TEXT NOT NULL,
	scope BIGINT NOT NULL, -- who may recall it: 1 its run, 2 its chat too, 3 its contact too
	run TEXT {bytewise} NOT NULL,
	reference BIGINT NOT NULL, -- 0: the run has no chat
	chat_id TEXT {bytewise} NOT NULL,
	message_id TEXT {bytewise} NOT NULL, -- the message that was answered; '' none
	call_key TEXT {bytewise} NOT NULL, -- names the turn: it is kept once
	messages TEXT NOT NULL, -- JSON; of a summary its text
	up_to BIGINT NOT NULL, -- of a summary: the last turn that it sums up; else 0
	covers TEXT NOT NULL, -- of a summary: JSON list of the chats whose turns it sums up; else ''
	at_us BIGINT NOT NULL,
	UNIQUE (account, call_key)
);
CREATE INDEX memory_turn_run ON memory_turn (run, seq);
CREATE INDEX memory_turn_chat ON memory_turn (reference, chat_id, seq);
CREATE INDEX memory_turn_at ON memory_turn (at_us);
CREATE INDEX memory_turn_covers ON memory_turn (account) WHERE covers <> '';
