import { expect, test } from 'vitest'
import { piecesOf } from './markup'

const words = (text: string): string =>
  piecesOf(text)
    .map((piece) => (piece.look ? `<${piece.look}>${piece.inside ? words(piece.text) : piece.text}</>` : piece.text))
    .join('')

test.each([
  ['plain', 'plain'],
  ['*bold* and _italic_', '<bold>bold</> and <italic>italic</>'],
  ['~old~ *_both_*', '<strike>old</> <bold><italic>both</></>'],
  ['```a *b* c```', '<mono>a *b* c</>'],
  ['2*3*4 snake_case_name', '2*3*4 snake_case_name'],
  ['* not * bold', '* not * bold'],
  ['*{{1}}* é o seu código', '<bold>{{1}}</> é o seu código'],
  ['<b>*x*</b>', '<b><bold>x</></b>'],
])('%s', (text, wanted) => expect(words(text)).toBe(wanted))

test('a long text of signs is read at once', () => {
  const began = performance.now()
  piecesOf('*'.repeat(20_000))
  piecesOf('*a '.repeat(5_000))
  expect(performance.now() - began).toBeLessThan(1_000)
})
