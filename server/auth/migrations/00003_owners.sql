-- +goose Up
ALTER TABLE auth_user ADD COLUMN owner BIGINT NOT NULL DEFAULT 0; -- 1: an owner of the account, with every permission

-- The oldest user who manages users owns the account; one who may log in comes first.
UPDATE auth_user SET owner = 1 WHERE seq IN (
	SELECT seq FROM (
		SELECT seq, ROW_NUMBER() OVER (
			PARTITION BY account_id ORDER BY CASE WHEN disabled_us > 0 THEN 1 ELSE 0 END, seq
		) AS place
		FROM auth_user WHERE ' ' || permissions || ' ' LIKE '% users.manage %'
	) AS managers WHERE place = 1
);

-- Whatever lets a user in: log-ins, with a token and perhaps a cookie, and
-- scoped tokens. A log-in of an older version that has a token alone is not
-- here: it ends.
ALTER TABLE auth_session RENAME TO auth_cookie;
DROP INDEX auth_session_user;
DROP INDEX auth_session_used;
CREATE TABLE auth_session (
	seq         {identity},
	id          TEXT NOT NULL UNIQUE, -- the jti of its token
	user_id     TEXT NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
	kind        TEXT NOT NULL,        -- token, cookie or scoped
	cookie      TEXT UNIQUE,          -- the hash of the cookie
	version     BIGINT NOT NULL,      -- of the user when the session began
	name        TEXT NOT NULL,        -- of a scoped token
	permissions TEXT NOT NULL,        -- of a scoped token
	expires_us  BIGINT NOT NULL,
	created_us  BIGINT NOT NULL,
	used_us     BIGINT NOT NULL,      -- 0: never
	address     TEXT NOT NULL,        -- of the last client
	agent       TEXT NOT NULL         -- of the last client
);
CREATE INDEX auth_session_user ON auth_session (user_id, seq);
CREATE INDEX auth_session_expires ON auth_session (expires_us);

-- A cookie ends 12 hours after its last request and 7 days after its log-in.
INSERT INTO auth_session (id, user_id, kind, cookie, version, name, permissions, expires_us, created_us, used_us, address, agent)
SELECT SUBSTR(hash, 1, 32), user_id, 'cookie', hash, version, '', '',
	CASE WHEN used_us + 43200000000 < created_us + 604800000000 THEN used_us + 43200000000 ELSE created_us + 604800000000 END,
	created_us, used_us, '', ''
FROM auth_cookie ORDER BY created_us;
INSERT INTO auth_session (id, user_id, kind, version, name, permissions, expires_us, created_us, used_us, address, agent)
SELECT id, user_id, 'scoped', 0, name, permissions, expires_us, created_us, 0, '', ''
FROM auth_token ORDER BY seq;
DROP TABLE auth_cookie;
DROP TABLE auth_token;
