import { expect, test } from 'vitest'
import { fold, isRefused } from './fold'
import type { Message } from './preview'

const message = (id: string, more: Partial<Message> = {}) => ({ id, type: 'text', text: id, mine: false, status: 'DELIVERED', ...more }) as Message
const ids = (messages: Message[]) => messages.map((one) => one.id)
const member = (name: string) => ({ remoteJid: `${name}::single`, chatId: name, pushName: name })

test('edits, deletions and reactions change the message they are about', () => {
  const { shown, changes, byId } = fold([
    message('a'),
    message('b', { mine: true, requestId: 'own-b' }),
    message('a2', { edited: { messageId: 'a' } }),
    message('r1', { reaction: { messageId: 'own-b', emoji: '👍' } }),
    message('r2', { reaction: { messageId: 'own-b', emoji: '🎉' } }),
    message('r3', { mine: true, reaction: { messageId: 'a', emoji: '👀' } }),
    message('r4', { mine: true, reaction: { messageId: 'a', emoji: '' } }),
    message('b2', { mine: true, revoked: { messageId: 'b' } }),
  ])
  expect(ids(shown)).toEqual(['a', 'b'])
  expect(changes.get('a')).toEqual({ text: 'a2', reactions: [] })
  expect(changes.get('b')).toEqual({ deleted: true, reactions: ['🎉'] })
  expect(byId.get('r1')?.id).toBe('b')
})

test('what is about a message that is not there, of another or in vain, stays a message', () => {
  const all = [
    message('a'),
    message('x', { reaction: { messageId: 'older', emoji: '👍' } }),
    message('y', { mine: true, edited: { messageId: 'a' } }),
    message('z', { status: 'FAIL', revoked: { messageId: 'a' } }),
    message('g', { participant: member('ana') }),
    message('g2', { participant: member('ben'), edited: { messageId: 'g' } }),
    message('g3', { participant: member('ben'), revoked: { messageId: 'g' } }),
  ]
  const { shown, changes } = fold(all)
  expect(shown).toEqual(all)
  expect(changes.size).toBe(0)
})

test('a message that may have been sent is not to be sent again', () => {
  const failed = (code: string) => message('a', { status: 'FAIL', error: { code, message: 'No.' } } as Partial<Message>)
  expect([failed('131026'), failed('unconfirmed'), message('a', { status: 'READ' })].map(isRefused)).toEqual([true, false, false])
})
