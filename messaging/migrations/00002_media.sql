-- +goose Up
-- files: those that messages brought, and those that users uploaded
CREATE TABLE messaging_media (
	id TEXT PRIMARY KEY, -- of the file in the library
	account TEXT NOT NULL,
	reference BIGINT NOT NULL,
	message BIGINT NOT NULL, -- messaging_message.seq of the one that brought it; 0: it was uploaded
	waiting BOOLEAN NOT NULL, -- it is to be fetched
	gone BOOLEAN NOT NULL, -- it is to be removed from the library
	detail TEXT NOT NULL, -- JSON: of one that waits, how to fetch it; else what is known of it
	bytes BIGINT NOT NULL DEFAULT 0, -- its size in the library
	used_us BIGINT NOT NULL, -- when it was uploaded, or last sent
	created_us BIGINT NOT NULL
);
CREATE UNIQUE INDEX messaging_media_message ON messaging_media (message) WHERE message > 0;
CREATE INDEX messaging_media_account ON messaging_media (account, bytes);
CREATE INDEX messaging_media_reference ON messaging_media (reference);
CREATE INDEX messaging_media_used ON messaging_media (used_us) WHERE message = 0;
CREATE INDEX messaging_media_gone ON messaging_media (id) WHERE gone;

-- under which ids networks keep files for lines
CREATE TABLE messaging_upload (
	reference BIGINT NOT NULL REFERENCES messaging_reference (id) ON DELETE CASCADE,
	media TEXT NOT NULL REFERENCES messaging_media (id) ON DELETE CASCADE,
	kind TEXT NOT NULL, -- what it was uploaded as
	revision BIGINT NOT NULL, -- of the reference: another one may be another line
	upload TEXT NOT NULL,
	until_us BIGINT NOT NULL,
	PRIMARY KEY (reference, media, kind)
);

-- the file by which every node knows that its library is this database's
CREATE TABLE messaging_library (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	media TEXT NOT NULL
);

-- whether events of a chat are held back: all further ones wait behind them
ALTER TABLE messaging_chat ADD COLUMN deferring BOOLEAN NOT NULL DEFAULT FALSE;

-- events that wait for the file of a message, and those behind them
CREATE TABLE messaging_deferred (
	id {identity}, -- their order within a chat
	chat BIGINT NOT NULL REFERENCES messaging_chat (id) ON DELETE CASCADE,
	event_id TEXT NOT NULL,
	kind TEXT NOT NULL,
	account TEXT NOT NULL,
	reference BIGINT NOT NULL,
	chat_id TEXT NOT NULL,
	message_id TEXT NOT NULL,
	actor TEXT NOT NULL,
	at_us BIGINT NOT NULL,
	payload TEXT NOT NULL,
	message BIGINT NOT NULL, -- messaging_message.seq of the one whose file it waits for; 0: it waits behind others only
	until_us BIGINT NOT NULL -- it waits no longer than this; 0: as long as those before it
);
CREATE INDEX messaging_deferred_chat ON messaging_deferred (chat, id);
CREATE INDEX messaging_deferred_until ON messaging_deferred (until_us) WHERE until_us > 0;
