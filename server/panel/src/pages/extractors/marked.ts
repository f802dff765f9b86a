import type { Schemas } from '../../api/client'

export type Match = Schemas['MatchView']

/** Segment is a part of a text, with what was found there. */
export interface Segment {
  text: string
  matches: Match[]
}

/**
 * segmentsOf cuts a text where matches begin and end. Their places count bytes
 * of UTF-8, those of the browser UTF-16; a place within a character counts as
 * that before it.
 */
export function segmentsOf(text: string, matches: Match[]): Segment[] {
  const places = [...new Set(matches.flatMap((match) => [match.start, match.end]))].sort((a, b) => a - b)
  const cuts = [0, ...places.map(indexer(text)), text.length]
  const bytes = [0, ...places, Infinity]
  const out: Segment[] = []
  for (let i = 0; i + 1 < cuts.length; i++) {
    const part = text.slice(cuts[i], cuts[i + 1])
    if (part) out.push({ text: part, matches: matches.filter((match) => match.start < (bytes[i + 1] ?? 0) && match.end > (bytes[i] ?? 0)) })
  }
  return out
}

/** indexer makes places in UTF-16 of places in bytes, which must come in order. */
function indexer(text: string): (byte: number) => number {
  let at = 0
  let bytes = 0
  return (byte) => {
    while (at < text.length) {
      const code = text.codePointAt(at) ?? 0
      const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
      if (bytes + size > byte) break
      bytes += size
      at += code > 0xffff ? 2 : 1
    }
    return at
  }
}
