-- +goose Up
-- lines that are connections: which are to stand, and which node has them
CREATE TABLE messaging_lease (
	reference BIGINT PRIMARY KEY, -- outlives its line: what the provider keeps of it is still to be forgotten
	kind TEXT NOT NULL,
	desired TEXT NOT NULL, -- 'connect', 'unlink': end the pairing and forget it, 'forget'
	phone TEXT NOT NULL, -- to pair with by code; '': by QR
	asked BIGINT NOT NULL, -- raised by each wish of a user
	node TEXT NOT NULL, -- who holds it, '' when nobody does
	fence BIGINT NOT NULL, -- raised when it changes hands
	until_us BIGINT NOT NULL -- not to be taken before that
);
CREATE INDEX messaging_lease_node ON messaging_lease (node);

-- calls whose answers are awaited on another node than the one that has the line
CREATE TABLE messaging_remote_call (
	id {identity},
	reference BIGINT NOT NULL REFERENCES messaging_reference (id) ON DELETE CASCADE,
	request TEXT NOT NULL, -- JSON
	answer TEXT NOT NULL, -- JSON, '' until there is one
	started_us BIGINT NOT NULL, -- the call began then; 0: it has not
	created_us BIGINT NOT NULL
);
CREATE INDEX messaging_remote_call_reference ON messaging_remote_call (reference);
CREATE INDEX messaging_remote_call_created ON messaging_remote_call (created_us);

ALTER TABLE messaging_reference ADD COLUMN qr TEXT NOT NULL DEFAULT '';
ALTER TABLE messaging_reference ADD COLUMN pairing_code TEXT NOT NULL DEFAULT '';
ALTER TABLE messaging_reference ADD COLUMN pairing_until_us BIGINT NOT NULL DEFAULT 0; -- end of either
ALTER TABLE messaging_reference ADD COLUMN node TEXT NOT NULL DEFAULT ''; -- who holds the line, as last said
