-- +goose Up
-- How each account stands; event_us and event_rank are of the last
-- notification that was applied.
CREATE TABLE billing_subscription (
	account      TEXT PRIMARY KEY,
	subscription TEXT NOT NULL, -- the network's id, '' while it is not known
	plan         TEXT NOT NULL,
	status       TEXT NOT NULL,
	end_us       BIGINT NOT NULL, -- of the current period; 0: unknown
	event_us     BIGINT NOT NULL,
	event_rank   BIGINT NOT NULL
);

-- Whose the customers are, as notifications that named both have said.
CREATE TABLE billing_customer (
	customer TEXT PRIMARY KEY,
	account  TEXT NOT NULL,
	event_us BIGINT NOT NULL
);
CREATE INDEX billing_customer_account ON billing_customer (account);

-- Notifications that need not be looked at again.
CREATE TABLE billing_event (
	id      TEXT PRIMARY KEY,
	seen_us BIGINT NOT NULL
);
CREATE INDEX billing_event_seen ON billing_event (seen_us);

-- Notifications that belong to no account.
CREATE TABLE billing_dead (
	id       TEXT PRIMARY KEY, -- of the notification
	account  TEXT NOT NULL, -- that it names, '' when it names none
	customer TEXT NOT NULL,
	reason   TEXT NOT NULL,
	body     TEXT NOT NULL,
	seen_us  BIGINT NOT NULL
);
CREATE INDEX billing_dead_account ON billing_dead (account);
CREATE INDEX billing_dead_customer ON billing_dead (customer);
CREATE INDEX billing_dead_seen ON billing_dead (seen_us);
