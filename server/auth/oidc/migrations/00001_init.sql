-- +goose Up
-- Who at a provider is which user here.
CREATE TABLE oidc_identity (
	issuer     TEXT NOT NULL,
	subject    TEXT NOT NULL,
	user_id    TEXT NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
	created_us BIGINT NOT NULL,
	PRIMARY KEY (issuer, subject)
);
CREATE INDEX oidc_identity_user ON oidc_identity (user_id);
