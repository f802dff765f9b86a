-- +goose Up
-- How far each counter has counted.
CREATE TABLE tally_mark (
	name    TEXT PRIMARY KEY,
	counted BIGINT NOT NULL -- id of the last row that is in tally_day
);

CREATE TABLE tally_day (
	name    TEXT NOT NULL,
	account TEXT NOT NULL,
	day     BIGINT NOT NULL, -- since 1970, in UTC
	what    TEXT NOT NULL,
	n       BIGINT NOT NULL,
	PRIMARY KEY (name, account, day, what)
);
