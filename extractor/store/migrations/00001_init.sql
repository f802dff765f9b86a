-- +goose Up
CREATE TABLE extractor_item (
	number {identity}, -- the order of lists, and of which value counts
	id TEXT {bytewise} NOT NULL UNIQUE,
	account TEXT NOT NULL,
	name TEXT NOT NULL,
	kind TEXT NOT NULL,
	reference BIGINT NOT NULL, -- the line whose messages it reads; of a flow 0
	bot TEXT NOT NULL, -- '': of the line itself
	flow TEXT NOT NULL,
	config TEXT NOT NULL, -- JSON
	enabled BOOLEAN NOT NULL,
	revision BIGINT NOT NULL, -- raised by every change of the config
	training TEXT NOT NULL, -- of intents: training, ready or failed; else ''
	training_error TEXT NOT NULL,
	claim TEXT NOT NULL, -- who trains it
	claim_us BIGINT NOT NULL, -- until when
	created_us BIGINT NOT NULL,
	updated_us BIGINT NOT NULL
);
CREATE INDEX extractor_item_account ON extractor_item (account, number);
CREATE INDEX extractor_item_reference ON extractor_item (reference) WHERE enabled AND reference > 0;
CREATE INDEX extractor_item_training ON extractor_item (number) WHERE training = 'training';

-- what intents were last learned
CREATE TABLE extractor_model (
	extractor TEXT {bytewise} PRIMARY KEY REFERENCES extractor_item (id) ON DELETE CASCADE,
	revision BIGINT NOT NULL, -- of the config that it was learned from
	body TEXT NOT NULL -- base64
);

-- raised by every change of an account's extractors
CREATE TABLE extractor_account (
	account TEXT PRIMARY KEY,
	revision BIGINT NOT NULL
);
