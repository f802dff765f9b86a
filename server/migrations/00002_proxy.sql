-- +goose Up
-- Peers that look like proxies and are not trusted; trunkline doctor warns of them.
CREATE TABLE server_proxy (
	address TEXT PRIMARY KEY,
	seen_us BIGINT NOT NULL
);
