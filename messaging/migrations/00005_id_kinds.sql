-- +goose Up
-- Ids get kinds: the digits of a hidden id (LID) are never a phone number.
ALTER TABLE messaging_chat ADD COLUMN psid TEXT NOT NULL DEFAULT ''; -- page-scoped id of Messenger
UPDATE messaging_chat SET psid = user_id, user_id = ''
	WHERE reference IN (SELECT id FROM messaging_reference WHERE kind = 'provider-messenger');

-- Hidden ids that the network named for participants of groups. They may have no chat.
CREATE TABLE messaging_lid (
	reference BIGINT NOT NULL REFERENCES messaging_reference (id) ON DELETE CASCADE,
	lid TEXT NOT NULL,
	chat_id TEXT NOT NULL, -- by which the person can be written to
	PRIMARY KEY (reference, lid)
);

-- Every id by which a chat is known. Its whole chat ids are of the kind 'chat'.
CREATE TABLE messaging_name (
	reference BIGINT NOT NULL,
	kind TEXT NOT NULL, -- chat, phone, user (business-scoped), psid or lid
	alias TEXT NOT NULL,
	chat BIGINT NOT NULL REFERENCES messaging_chat (id) ON DELETE CASCADE,
	PRIMARY KEY (reference, kind, alias)
);

-- Hidden ids, of each chat those that it has and those that it had.
INSERT INTO messaging_name (reference, kind, alias, chat)
	SELECT reference, 'lid', lid, MIN(id) FROM messaging_chat WHERE lid <> '' GROUP BY reference, lid;
INSERT INTO messaging_name (reference, kind, alias, chat)
	SELECT a.reference, 'lid', substr(a.alias, 1, length(a.alias) - 4), a.chat FROM messaging_alias a WHERE a.alias LIKE '%@lid'
	ON CONFLICT (reference, kind, alias) DO NOTHING;

-- A chat was poisoned when the digits of a hidden id were taken for its phone
-- number. Such a number is forgotten, and with it the chat id that it made. A
-- number that the network has told since is kept.
DELETE FROM messaging_alias WHERE alias LIKE '%@s.whatsapp.net' AND EXISTS (
	SELECT 1 FROM messaging_name n WHERE n.reference = messaging_alias.reference AND n.kind = 'lid'
		AND n.alias = substr(messaging_alias.alias, 1, length(messaging_alias.alias) - 15));
UPDATE messaging_chat SET phone = '' WHERE phone <> '' AND EXISTS (
	SELECT 1 FROM messaging_name n WHERE n.reference = messaging_chat.reference AND n.kind = 'lid' AND n.alias = messaging_chat.phone);
UPDATE messaging_chat SET phone = COALESCE((SELECT MIN(substr(a.alias, 1, length(a.alias) - 15)) FROM messaging_alias a
		WHERE a.chat = messaging_chat.id AND a.alias LIKE '%@s.whatsapp.net'), '')
	WHERE phone = '' AND chat_id LIKE '%@s.whatsapp.net';
UPDATE messaging_chat SET chat_id = CASE WHEN phone <> '' THEN phone || '@s.whatsapp.net' ELSE lid || '@lid' END
	WHERE chat_id LIKE '%@s.whatsapp.net' AND phone || '@s.whatsapp.net' <> chat_id AND (phone <> '' OR lid <> '');

-- The other names, of which those with a suffix and all own ids are whole chat ids.
INSERT INTO messaging_name (reference, kind, alias, chat) SELECT reference, 'chat', chat_id, id FROM messaging_chat;
INSERT INTO messaging_name (reference, kind, alias, chat)
	SELECT reference, 'phone', phone, MIN(id) FROM messaging_chat WHERE phone <> '' GROUP BY reference, phone;
INSERT INTO messaging_name (reference, kind, alias, chat)
	SELECT reference, 'user', user_id, MIN(id) FROM messaging_chat WHERE user_id <> '' GROUP BY reference, user_id;
INSERT INTO messaging_name (reference, kind, alias, chat)
	SELECT reference, 'psid', psid, MIN(id) FROM messaging_chat WHERE psid <> '' GROUP BY reference, psid;
INSERT INTO messaging_name (reference, kind, alias, chat)
	SELECT a.reference, 'chat', a.alias, a.chat FROM messaging_alias a JOIN messaging_reference r ON r.id = a.reference
	WHERE a.alias LIKE '%@%' OR r.kind = 'provider-cloud'
		OR r.kind NOT IN ('provider-web', 'provider-messenger', 'provider-sandbox')
			AND NOT EXISTS (SELECT 1 FROM messaging_name n WHERE n.reference = a.reference
				AND n.kind IN ('chat', 'phone', 'user', 'psid', 'lid') AND n.alias = a.alias)
	ON CONFLICT (reference, kind, alias) DO NOTHING;
INSERT INTO messaging_name (reference, kind, alias, chat)
	SELECT a.reference, 'phone', substr(a.alias, 1, length(a.alias) - 15), a.chat FROM messaging_alias a WHERE a.alias LIKE '%@s.whatsapp.net'
	ON CONFLICT (reference, kind, alias) DO NOTHING;
INSERT INTO messaging_name (reference, kind, alias, chat)
	SELECT a.reference, CASE WHEN trim(a.alias, '0123456789') = '' THEN 'phone' ELSE 'user' END, a.alias, a.chat
	FROM messaging_alias a JOIN messaging_reference r ON r.id = a.reference
	WHERE r.kind = 'provider-cloud' AND (trim(a.alias, '0123456789') = '' OR a.alias LIKE '__.%')
	ON CONFLICT (reference, kind, alias) DO NOTHING;
INSERT INTO messaging_name (reference, kind, alias, chat)
	SELECT a.reference, 'psid', a.alias, a.chat FROM messaging_alias a JOIN messaging_reference r ON r.id = a.reference
	WHERE r.kind = 'provider-messenger' AND a.alias NOT LIKE '%@%'
	ON CONFLICT (reference, kind, alias) DO NOTHING;
-- On WhatsApp Web digits without a suffix that are no phone number are hidden ids.
INSERT INTO messaging_name (reference, kind, alias, chat)
	SELECT a.reference, 'lid', a.alias, a.chat FROM messaging_alias a JOIN messaging_reference r ON r.id = a.reference
	WHERE r.kind = 'provider-web' AND a.alias NOT LIKE '%@%' AND NOT EXISTS (
		SELECT 1 FROM messaging_name n WHERE n.reference = a.reference AND n.kind = 'phone' AND n.alias = a.alias)
	ON CONFLICT (reference, kind, alias) DO NOTHING;

DROP TABLE messaging_alias;
ALTER TABLE messaging_name RENAME TO messaging_alias;
CREATE INDEX messaging_alias_chat ON messaging_alias (chat);
