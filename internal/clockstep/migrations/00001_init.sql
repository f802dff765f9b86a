-- +goose Up
-- The latest time that the database's clock has shown, in one row.
CREATE TABLE clock_mark (
	id      BIGINT PRIMARY KEY, -- 1
	seen_us BIGINT NOT NULL
);
