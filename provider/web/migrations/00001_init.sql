-- +goose Up
-- which paired device a reference has; its keys are in whatsmeow's own tables
CREATE TABLE web_device (
	reference BIGINT PRIMARY KEY,
	jid TEXT NOT NULL -- with the number of the device
);

-- the phone numbers of hidden ids, as far as a line was told
CREATE TABLE web_lid (
	reference BIGINT NOT NULL,
	lid TEXT NOT NULL,
	phone TEXT NOT NULL,
	PRIMARY KEY (reference, lid)
);
CREATE INDEX web_lid_phone ON web_lid (reference, phone);

-- history that the phone has announced and that is not imported yet
CREATE TABLE web_history (
	reference BIGINT NOT NULL,
	id TEXT NOT NULL, -- digest of the notice
	message TEXT NOT NULL, -- the id of the message that announced it; '': not known yet
	notice TEXT NOT NULL, -- base64 of what it takes to fetch it
	at_us BIGINT NOT NULL,
	PRIMARY KEY (reference, id)
);

-- the phone's book: how often it has changed, and which change was the last
-- before it was reported as a whole
CREATE TABLE web_contacts (
	reference BIGINT PRIMARY KEY,
	changed BIGINT NOT NULL,
	published BIGINT NOT NULL
);

-- how fast a line may go on beginning chats: whatever process opens it next
CREATE TABLE web_outreach (
	reference BIGINT PRIMARY KEY,
	free_us BIGINT NOT NULL, -- when it may begin as many chats at once as ever
	restricted_us BIGINT NOT NULL -- until when the network forbids it; 0: it does not
);
