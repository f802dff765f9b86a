package entity

import (
	"math"
	"strings"
)

// MoneyValue is an amount of money.
type MoneyValue struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"` // ISO 4217
}

// QuantityValue is a number of units.
type QuantityValue struct {
	Amount float64 `json:"amount"`
	Unit   string  `json:"unit"` // its symbol: kg, km, °C
}

// amountScan reads numbers of something: percentages, quantities, money.
type amountScan struct{ *numberScan }

// percentageAt finds 12.5 %, and twelve per cent.
func (s *amountScan) percentageAt(i int) (any, int) {
	n, at := s.signed(i)
	if at == i {
		return nil, i
	}
	_, end := s.language.percent.at(s.tokens, at)
	if end == at {
		return nil, i
	}
	return tidy(n), end
}

// quantityAt finds 3 kg.
func (s *amountScan) quantityAt(i int) (any, int) {
	n, at := s.counted(i)
	unit, end := s.language.measures.at(s.tokens, at)
	if end == at && s.attachedUnit(i) {
		n, at = s.figured(i)
		unit, end = s.language.measures.at(s.tokens, at)
	}
	if at == i || end == at {
		return nil, i
	}
	n, end = s.andHalf(n, end)
	return QuantityValue{Amount: n, Unit: unit}, end
}

// attachedUnit says whether a letter that would multiply the figures before it
// may be a unit of them: 8m, 10mm.
func (s *amountScan) attachedUnit(i int) bool {
	if s.sign(i) > i {
		i = s.sign(i)
	}
	return i < len(s.tokens) && s.tokens[i].kind == digits
}

// figured is a number in figures, with its sign, without what multiplies it.
func (s *amountScan) figured(i int) (float64, int) {
	if s.touched(i) {
		return 0, i
	}
	sign, from := 1.0, i
	if j := s.sign(i); j > i {
		sign, from = -1, j
	}
	n := s.figures(from)
	if n.end == 0 {
		return 0, i
	}
	return sign * n.value, n.end
}

// counted is a number, or an article that means one.
func (s *amountScan) counted(i int) (float64, int) {
	if n, at := s.signed(i); at > i {
		return n, at
	}
	_, at := s.language.phrases["one"].at(s.tokens, i)
	return 1, at
}

// andHalf adds the half that some say behind the unit: two kilos and a half.
func (s *amountScan) andHalf(n float64, i int) (float64, int) {
	if n == math.Trunc(n) {
		if _, end := s.language.phrases["andHalf"].at(s.tokens, i); end > i {
			return n + 0.5, end
		}
	}
	return n, i
}

// signed is a number with its sign.
func (s *amountScan) signed(i int) (float64, int) {
	v, end := s.numberAt(i)
	switch n := v.(type) {
	case int64:
		return float64(n), end
	case float64:
		return n, end
	}
	return 0, i
}

// moneyAt finds $ 5, 5 €, five dollars and 20 cents.
func (s *amountScan) moneyAt(i int) (any, int) {
	if currency, at := s.language.signs.at(s.tokens, i); at > i && s.begins(i) && s.meant(i, at) {
		if f := s.numeral(at); f.end > 0 { // also right behind letters: usd50
			n, end := f.value, f.end
			if _, again := s.language.currencies.at(s.tokens, end); again > end && s.tokens[again-1].kind == word {
				end = again // $ 5 dollars
			}
			return s.money(n, currency), end
		}
	}
	n, at := s.counted(i)
	if at == i {
		return nil, i
	}
	at = s.unitAt(at)
	if currency, end := s.language.currencies.at(s.tokens, at); end > at && s.ends(end) && s.meant(at, end) {
		n, end = s.scaled(n, end)
		n, end = s.andHalf(n, end)
		n, end = s.withCents(n, end)
		return s.money(n, currency), end
	}
	if currency, end := s.language.cents.at(s.tokens, at); end > at {
		return s.money(n/100, currency), end
	}
	return nil, i
}

// unitAt is where the unit of an amount is: behind a hyphen, or behind
// what follows a million (de euros).
func (s *amountScan) unitAt(i int) int {
	if s.hyphened(i) {
		return i + 1
	}
	if _, end := s.language.phrases["of"].at(s.tokens, i); end > i && s.language.scales[s.tokens[i-1].text] >= 1e6 {
		return end
	}
	return i
}

// begins and ends say that a currency is no part of a longer word or number:
// tokens of letters are whole words anyway, but R in front of $ is not.
func (s *amountScan) begins(i int) bool {
	return s.tokens[i].kind == word || !s.joined(i) || i == 0 || s.tokens[i-1].kind == symbol
}

func (s *amountScan) ends(end int) bool {
	return s.tokens[end-1].kind == word || !s.joined(end) || s.tokens[end].kind != digits
}

// meant says whether a code is one. Some are words as well (try, pen, cop): in
// small letters only the best known count.
func (s *amountScan) meant(i, end int) bool {
	t := s.tokens[i]
	if end != i+1 || t.kind != word || len(t.text) != 3 || !s.language.codes[t.text] {
		return true
	}
	return s.text[t.start:t.end] == strings.ToUpper(t.text) || t.text == "usd" || t.text == "eur" || t.text == "gbp" || t.text == "brl" || t.text == "mxn"
}

// scaled reads the scale that some put behind the currency: 75 usd millones.
func (s *amountScan) scaled(n float64, i int) (float64, int) {
	if i < len(s.tokens) && s.tokens[i].kind == word {
		if scale, ok := s.language.scales[s.tokens[i].text]; ok && scale >= 1e6 {
			return n * scale, i + 1
		}
	}
	return n, i
}

// withCents reads: and 20 cents, with 50.
func (s *amountScan) withCents(n float64, i int) (float64, int) {
	if n != math.Trunc(n) || i >= len(s.tokens) {
		return n, i
	}
	_, from := s.language.phrases["with"].at(s.tokens, i)
	plain := from > i || s.whole
	if from == i && s.language.and[s.tokens[i].text] {
		from = i + 1
	}
	if from >= len(s.tokens) {
		return n, i
	}
	cents, at := s.signed(from)
	if at == from || cents < 0 || cents >= 100 {
		return n, i
	}
	if _, end := s.language.cents.at(s.tokens, at); end > at {
		return n + cents/100, end
	}
	if plain {
		return n + cents/100, at
	}
	return n, i
}

// money is an amount. A sign or name that several countries have ($, peso) is
// the one of the region; behind the $ of a table stands whose it is elsewhere.
func (s *amountScan) money(n float64, currency string) MoneyValue {
	if elsewhere, ok := strings.CutPrefix(currency, "$"); ok {
		if currency = dollars[s.region]; currency == "" {
			currency = elsewhere
		}
	}
	return MoneyValue{Amount: math.Round(n*1e4) / 1e4, Currency: currency}
}

// dollars is what $ means where it is not the dollar of the United States.
var dollars = map[string]string{
	"MX": "MXN", "AR": "ARS", "CL": "CLP", "CO": "COP", "UY": "UYU", "DO": "DOP", "CU": "CUP", "BR": "BRL",
	"CA": "CAD", "AU": "AUD", "NZ": "NZD", "SG": "SGD", "HK": "HKD", "TW": "TWD",
}
