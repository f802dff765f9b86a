/** Piece is a run of text with one look. */
export interface Piece {
  text: string
  look?: 'bold' | 'italic' | 'strike' | 'mono'
  /** What stands inside, which may have looks of its own. */
  inside?: Piece[]
}

const looks = { '*': 'bold', _: 'italic', '~': 'strike', '```': 'mono', '`': 'mono' } as const

// A sign counts where a word begins and where one ends, as in WhatsApp: 2*3*4 is no bold 3.
const marked = /(?<![\p{L}\p{N}])(```|[*_~`])(?!\s)(.+?)(?<!\s)\1(?![\p{L}\p{N}])/su

/** piecesOf reads WhatsApp's signs for bold, italic, struck and monospaced text. */
export function piecesOf(text: string): Piece[] {
  const out: Piece[] = []
  for (let rest = text; rest; ) {
    const found = marked.exec(rest)
    if (!found) {
      out.push({ text: rest })
      break
    }
    const [whole, sign, inner] = found as unknown as [string, keyof typeof looks, string]
    if (found.index > 0) out.push({ text: rest.slice(0, found.index) })
    const look = looks[sign]
    out.push({ text: inner, look, ...(look === 'mono' ? {} : { inside: piecesOf(inner) }) })
    rest = rest.slice(found.index + whole.length)
  }
  return out
}
