// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { wordsOf } from './alerts'

const said = (data: Record<string, unknown>) => wordsOf({ kind: 'message', data: { direction: 'in', ...data } } as Parameters<typeof wordsOf>[0])

test('a contact writes with a message, a poll and a vote, but not with the new results of a poll', () => {
  expect(said({ text: 'hello' })).toBe('hello')
  expect(said({ text: 'Lunch?', poll: { options: ['soup', 'salad'] } })).toBe('Lunch?')
  expect(said({ text: 'soup', poll: { options: ['soup', 'salad'], messageId: 'm1', selected: ['soup'] } })).toBe('soup')
  expect(said({ text: 'Lunch?', poll: { options: ['soup'], results: [{ option: 'soup', votes: 1, voters: ['5'] }] } })).toBeUndefined()
  expect(said({ direction: 'out', text: 'hello' })).toBeUndefined()
})
