-- +goose Up
-- How far each counter has counted.
CREATE TABLE counter_mark (
	name    TEXT PRIMARY KEY,
	counted BIGINT NOT NULL -- id of the last row that is in counter_day
);

CREATE TABLE counter_day (
	name    TEXT NOT NULL,
	account TEXT NOT NULL,
	day     BIGINT NOT NULL, -- since 1970, in UTC
	what    TEXT NOT NULL,
	n       BIGINT NOT NULL,
	PRIMARY KEY (name, account, day, what)
);
