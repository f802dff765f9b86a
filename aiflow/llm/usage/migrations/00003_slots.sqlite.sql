-- +goose Up
-- The sums of the calls of a quarter of an hour, an hour, and a day in UTC. The clocks of
-- all zones differ by whole quarters, so that their hours and days are whole numbers of
-- quarters, and most of hours.
CREATE TABLE usage_slot (
	account TEXT NOT NULL,
	length_us BIGINT NOT NULL,
	at_us BIGINT NOT NULL, -- when the slot begins
	reference BIGINT NOT NULL,
	feature TEXT NOT NULL,
	flow TEXT NOT NULL,
	caller TEXT NOT NULL,
	provider TEXT NOT NULL,
	model TEXT NOT NULL,
	calls BIGINT NOT NULL,
	errors BIGINT NOT NULL,
	input BIGINT NOT NULL,
	cached BIGINT NOT NULL,
	output BIGINT NOT NULL,
	reasoning BIGINT NOT NULL,
	cost BIGINT NOT NULL,
	unpriced BIGINT NOT NULL,
	PRIMARY KEY (account, length_us, at_us, reference, feature, flow, caller, provider, model)
) WITHOUT ROWID;

-- usage_slot has all calls of the account that began before; who changes one of
-- them changes usage_slot in the same transaction
ALTER TABLE usage_account ADD COLUMN rolled_us BIGINT NOT NULL DEFAULT 0;
