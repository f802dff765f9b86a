-- +goose Up
CREATE TABLE passkey_credential (
	id         TEXT PRIMARY KEY,
	user_id    TEXT NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
	credential TEXT NOT NULL UNIQUE, -- the id that the authenticator gave it, in base64url
	name       TEXT NOT NULL,
	record     TEXT NOT NULL,        -- JSON of the public key and what else is known of it
	sign_count BIGINT NOT NULL,      -- how often it has signed, as it says; 0: it does not count
	added_us   BIGINT NOT NULL,
	used_us    BIGINT NOT NULL       -- 0: never
);
CREATE INDEX passkey_credential_user ON passkey_credential (user_id, added_us);

-- What an authenticator is asked to sign. It is deleted by the answer, whatever
-- comes of that.
CREATE TABLE passkey_challenge (
	hash       TEXT PRIMARY KEY,
	user_id    TEXT REFERENCES auth_user (id) ON DELETE CASCADE, -- who adds a passkey; null: somebody signs in
	asker      TEXT NOT NULL, -- a user or an address, each of which has only so many
	expires_us BIGINT NOT NULL
);
CREATE INDEX passkey_challenge_asker ON passkey_challenge (asker, expires_us);
CREATE INDEX passkey_challenge_expires ON passkey_challenge (expires_us);
