-- +goose Up
-- What the probe writes: one row, for a moment two.
CREATE TABLE server_probe (
	id    BIGINT PRIMARY KEY,
	at_us BIGINT NOT NULL,
	room  TEXT NOT NULL -- noise of a message's size
);
