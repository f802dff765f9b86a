package webhook

import (
	"encoding/binary"
	"hash/fnv"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/database"
)

// What a delivery's id is made of, besides its event's time: the event's number
// and a hash of the endpoint, which together fill the 74 free bits of a UUIDv7.
const (
	numberBits = 44
	hashHigh   = 12
	hashLow    = 18
)

// deliveryID names an event on its way to an endpoint. It is not stored: the
// attempts of a delivery are found by the number in it.
func (e *eventRow) deliveryID(endpoint string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(endpoint))
	hash := h.Sum64()
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(max(e.time().UnixMilli(), 0))<<16|0x7000|hash&(1<<hashHigh-1))
	low := uint64(e.Number)&(1<<numberBits-1)<<hashLow | hash>>hashHigh&(1<<hashLow-1)
	binary.BigEndian.PutUint64(id[8:], 1<<63|low)
	return id.String()
}

// numberOf is the number of the event in a delivery's id, false when it can be
// none of ours.
func numberOf(delivery string) (int64, bool) {
	id, err := uuid.Parse(delivery)
	if err != nil || id.Version() != 7 || id.Variant() != uuid.RFC4122 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(id[8:])&(1<<62-1)) >> hashLow, true
}

func (e *eventRow) time() time.Time { return database.Time(e.At) }
