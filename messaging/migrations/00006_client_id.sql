-- +goose Up
-- what the sender calls a message, '' when it calls it nothing
ALTER TABLE messaging_outbound ADD COLUMN client_id TEXT NOT NULL DEFAULT '';
-- of a further part of a send: the own_id of the part that the answer named; '' for that one itself
ALTER TABLE messaging_outbound ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
CREATE INDEX messaging_outbound_client ON messaging_outbound (reference, client_id, message) WHERE client_id <> '';

-- what can be done about the error, '' when there is no advice
ALTER TABLE messaging_message ADD COLUMN error_advice TEXT NOT NULL DEFAULT '';
ALTER TABLE messaging_early_status ADD COLUMN error_advice TEXT NOT NULL DEFAULT '';

-- where ids are chosen here, own_id is the id that the answer of the send had
UPDATE messaging_outbound SET own_id = (SELECT m.id FROM messaging_message m WHERE m.seq = messaging_outbound.message)
WHERE reference IN (SELECT r.id FROM messaging_reference r WHERE r.kind IN ('provider-web', 'provider-sandbox'))
	AND EXISTS (SELECT 1 FROM messaging_message m WHERE m.seq = messaging_outbound.message);
