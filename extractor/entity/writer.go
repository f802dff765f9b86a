package entity

import (
	"time"

	"github.com/nyaruka/phonenumbers"
)

// Writer is what the phone number of a writer (E.164, the + may be missing) says
// of what they write: the region of numbers without a country, such as BR, and
// the zone of their dates. Where a number says nothing of them, they are "" and
// nil; so is the zone where a number has several.
func Writer(phone string) (region string, zone *time.Location) {
	if phone == "" {
		return "", nil
	}
	if phone[0] != '+' {
		phone = "+" + phone
	}
	n, err := phonenumbers.Parse(phone, "")
	if err != nil {
		return "", nil
	}
	region = phonenumbers.GetRegionCodeForNumber(n)
	zones, err := phonenumbers.GetTimezonesForNumber(n)
	if err != nil || len(zones) != 1 {
		return region, nil
	}
	if zone, err = time.LoadLocation(zones[0]); err != nil || zone == time.UTC {
		return region, nil
	}
	return region, zone
}
