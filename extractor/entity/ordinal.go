package entity

import "strconv"

// ordinalAt finds an ordinal: 2nd, second, twenty-first, last.
func (s *numberScan) ordinalAt(i int) (any, int) {
	if v, end := s.language.relative.at(s.tokens, i); end > i {
		n, err := strconv.ParseInt(v, 10, 64)
		if err == nil {
			return n, end
		}
	}
	if s.tokens[i].kind == digits {
		return s.ordinalFigures(i)
	}
	return s.ordinalWords(i)
}

// ordinalFigures reads 2nd and 5ª.
func (s *numberScan) ordinalFigures(i int) (any, int) {
	if !s.joined(i+1) && i+1 < len(s.tokens) || i+1 >= len(s.tokens) || s.touched(i) || s.chained(i) || !s.ended(i+1) {
		return nil, i
	}
	end := i + 1
	if s.is(end, ".") && s.joined(end+1) {
		end++
	}
	n, err := strconv.ParseInt(s.tokens[i].text, 10, 64)
	if err != nil || !s.language.suffixes[s.tokens[end].text] {
		return nil, i
	}
	return n, end + 1
}

// ordinalWords reads a number of which the last word, or each word, is an ordinal.
func (s *numberScan) ordinalWords(i int) (any, int) {
	var total int64
	end := i
	if n := s.numeral(i); n.end > 0 && !n.figures && n.whole && s.tokens[i].kind == word {
		total, end = s.cardinalPart(i)
	}
	found := false
	for end < len(s.tokens) && s.tokens[end].kind == word || found && s.hyphened(end) {
		if s.tokens[end].kind == symbol {
			end++
			continue
		}
		n, ok := s.language.ordinals[s.tokens[end].text]
		if !ok || found && n >= 1000 {
			break
		}
		switch {
		case n >= 100 && total > 0 && (n >= 1000 || total < n):
			part := total
			if n <= 1e6 {
				part = total % (n * n) // in "millionth" after thousands, the thousands multiply what follows
			}
			total += part * (n - 1)
		case total%10 != 0 || total > 0 && n >= 10 && total%100 != 0:
			return s.ordinalResult(total, i, end, found)
		default:
			total += n
		}
		end++
		found = true
	}
	return s.ordinalResult(total, i, end, found)
}

func (s *numberScan) ordinalResult(total int64, i, end int, found bool) (any, int) {
	if !found {
		return nil, i
	}
	return total, end
}

// cardinalPart reads the words before the ordinal and the hyphen.
func (s *numberScan) cardinalPart(i int) (int64, int) {
	v, end := s.sum(i, 0)
	if end == i {
		return 0, i
	}
	for end < len(s.tokens) && (s.hyphened(end) || s.language.and[s.tokens[end].text]) {
		end++
	}
	return int64(v), end
}
