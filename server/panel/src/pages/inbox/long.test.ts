import { expect, test } from 'vitest'
import { after, longest, tooLong } from './long'

test('what is selected makes room for what is pasted', () => {
  const field = { value: 'a'.repeat(10), selectionStart: 4, selectionEnd: 4 }
  expect(tooLong(field, 'b'.repeat(longest - 10))).toBe(false)
  expect(tooLong(field, 'b'.repeat(longest - 9))).toBe(true)
  expect(tooLong({ ...field, selectionStart: 0, selectionEnd: 10 }, 'b'.repeat(longest))).toBe(false)
  expect(tooLong(field, 'b'.repeat(1_000_000))).toBe(true)
})

test('what was written while a text was sent stays', () => {
  expect(after('yes', 'yes')).toBe('')
  expect(after(' yes\n', ' yes\n')).toBe('')
  expect(after('yes', ' yes and')).toBe('and')
  expect(after('yes', 'and')).toBe('and')
})
