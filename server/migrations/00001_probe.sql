-- +goose Up
-- The row that the probe writes.
CREATE TABLE server_probe (
	id    BIGINT PRIMARY KEY CHECK (id = 1),
	at_us BIGINT NOT NULL
);
